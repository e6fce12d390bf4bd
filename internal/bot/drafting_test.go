package bot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph"
)

// TestARunIsShownWhileItWorks looks at the draft of a run in the middle of its work, and at
// what becomes of it.
func TestARunIsShownWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		gate := make(chan struct{})
		j.work = func(_ context.Context, step graph.Step[state]) error {
			for _, piece := range []string{"It ", "is ", "so."} {
				step.Emit(piece)
			}
			<-gate
			return nil
		}
		s := newStreet(t, j)
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("dig")
		synctest.Wait()
		drafts := s.platform.Drafts(f.thread)
		if len(drafts) != 1 || drafts[0].Work.Run == "" || drafts[0].Text != "It is so." || drafts[0].Work.To != "m1" || drafts[0].Work.Asker != "ann" || drafts[0].Work.Again {
			t.Errorf("seen are %+v", drafts)
		}
		var steps []string
		for _, draft := range drafts {
			for _, step := range draft.Steps {
				steps = append(steps, step.Step+" "+string(step.Status))
			}
		}
		if got := strings.Join(steps, ", "); got != "prepare completed, work running" {
			t.Errorf("the steps are %s", got)
		}
		close(gate)
		f.quiet()
		posted := s.platform.Posted(f.thread)
		if len(posted) != 1 || posted[0].Post.Reply.Text != "did dig" {
			t.Errorf("posted %+v", posted)
		}
		if left := s.platform.Drafts(""); len(left) > 0 {
			t.Errorf("left over: %+v", left)
		}
	})
}

// slow is a platform whose drafts take long to show anything.
type slow struct {
	*chattest.Platform
	each  time.Duration
	calls []string
}

type slowDraft struct {
	chat.Draft
	of *slow
}

func (s *slow) Draft(ctx context.Context, work chat.Work) (chat.Draft, error) {
	made, err := s.Platform.Draft(ctx, work)
	return slowDraft{made, s}, err
}

func (d slowDraft) Stream(ctx context.Context, token chat.Token) error {
	pass(d.of.each)
	d.of.calls = append(d.of.calls, token.Text)
	return d.Draft.Stream(ctx, token)
}

// TestASlowPlatformDoesNotHoldUpACheckpoint kills the worker of a run that is done while the
// platform still takes what it is told: no step is done again, the last neither.
func TestASlowPlatformDoesNotHoldUpACheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		j.work = func(_ context.Context, step graph.Step[state]) error {
			step.Emit("It is so.")
			pass(time.Millisecond) // for the platform to be told
			return nil
		}
		s := newStreet(t, j)
		s.poster = &slow{Platform: s.platform, each: 5 * time.Second}
		f := s.front("platform", "1")
		of := newFate(0, false)
		stop := s.works(of)
		f.tell("dig")
		pass(time.Second)
		close(of.died)
		stop()
		defer s.works(newFate(0, false))()
		f.quiet()
		if got := f.posted(); got != "did dig" {
			t.Errorf("posted is %s", got)
		}
		if got := j.times(); got != [3]int{1, 1, 1} {
			t.Errorf("the nodes ran %v times", got)
		}
	})
}

// TestASlowPlatformDoesNotHoldUpARun streams faster than the platform takes it.
func TestASlowPlatformDoesNotHoldUpARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pieces = 1000
		j := newJob(t)
		worked := time.Duration(0)
		j.work = func(_ context.Context, step graph.Step[state]) error {
			begun := time.Now()
			for i := range pieces {
				step.Emit(fmt.Sprint(i, " "))
				pass(time.Millisecond)
			}
			worked = time.Since(begun)
			return nil
		}
		s := newStreet(t, j)
		platform := &slow{Platform: s.platform, each: 300 * time.Millisecond}
		s.poster = platform
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("dig")
		f.quiet()
		if worked > pieces*time.Millisecond+100*time.Millisecond {
			t.Errorf("the run took %s", worked)
		}
		if n := len(platform.calls); n == 0 || n > 6 {
			t.Errorf("%d pieces were shown one by one", n)
		}
		var want strings.Builder
		for i := range pieces {
			fmt.Fprint(&want, i, " ")
		}
		if shown := strings.Join(platform.calls, ""); !strings.HasPrefix(want.String(), shown) {
			t.Errorf("shown is %q", shown)
		}
		if got := f.posted(); got != "did dig" {
			t.Errorf("posted is %s", got)
		}
	})
}

// TestDraftsThatFailLoseNothing has two of five calls go wrong: each reply is posted once,
// in order, and no draft is left over.
func TestDraftsThatFailLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		random := rand.New(rand.NewPCG(11, 11))
		s.platform.Faults = func(chattest.Call) chattest.Fault {
			faults := []chattest.Fault{chattest.RateLimited, chattest.Broken, chattest.BrokenAfter, chattest.SilentAfter}
			if roll := random.IntN(10); roll < len(faults) {
				return faults[roll]
			}
			return chattest.NoFault
		}
		stops := []func(){s.works(newFate(0, false)), s.works(newFate(0, false))}
		var fronts []*front
		var want []string
		for i := range 4 {
			fronts = append(fronts, s.front("platform", fmt.Sprint(i)))
		}
		for i := range 6 {
			want = append(want, fmt.Sprint(i))
			for _, f := range fronts {
				f.tell(fmt.Sprint("echo ", i))
			}
		}
		for _, f := range fronts {
			f.quiet()
			if got := f.posted(); got != strings.Join(want, ", ") {
				t.Errorf("thread %s sees %s", f.thread, got)
			}
		}
		if left := s.platform.Drafts(""); len(left) > 0 {
			t.Errorf("left over: %+v", left)
		}
		for _, stop := range stops {
			stop()
		}
	})
}

// TestADrainedRunIsNotShownAnyMore ends a worker in the middle of a run.
func TestADrainedRunIsNotShownAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		begun := j.blocks()
		s := newStreet(t, j)
		f := s.front("platform", "1")
		stop := s.works(newFate(0, false))
		f.tell("dig")
		<-begun
		synctest.Wait()
		if len(s.platform.Drafts(f.thread)) != 1 {
			t.Error("the run is not shown")
		}
		stop()
		if left := s.platform.Drafts(f.thread); len(left) > 0 || len(s.platform.Posted(f.thread)) > 0 {
			t.Errorf("left over: %+v", left)
		}
		j.succeeds()
		defer s.works(newFate(0, false))()
		f.quiet()
		if got := f.posted(); got != "did dig" {
			t.Errorf("posted is %s", got)
		}
	})
}

// TestADraftThatCanNotBeFinishedGivesWayToAPost has each way to finish fail once.
func TestADraftThatCanNotBeFinishedGivesWayToAPost(t *testing.T) {
	for _, fault := range []chattest.Fault{
		chattest.RateLimited, chattest.Broken, chattest.Refused, chattest.BrokenAfter, chattest.SilentAfter,
	} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreet(t)
				var operations []chattest.Operation
				s.platform.Faults = func(call chattest.Call) chattest.Fault {
					operations = append(operations, call.Operation)
					if call.Operation == chattest.FinishOperation {
						return fault
					}
					return chattest.NoFault
				}
				f := s.front("platform", "1")
				defer s.works(newFate(0, false))()
				f.tell("echo one")
				f.quiet()
				if got := f.posted(); got != "one" {
					t.Errorf("posted is %q", got)
				}
				if left := s.platform.Drafts(""); len(left) > 0 {
					t.Errorf("left over: %+v", left)
				}
				// A platform that limits does nothing: so there is nothing to look for.
				if asked := slices.Contains(operations, chattest.FindOperation); asked == (fault == chattest.RateLimited) {
					t.Errorf("the platform was asked what was posted: %v; its calls are %v", asked, operations)
				}
			})
		})
	}
}
