package bot_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/runs"
)

// front gives a person in a thread, at a process that works at nothing.
func (s *street) front(adapter, thread string) *front {
	return &front{street: s, bot: s.process(newFate(0, false)), thread: chat.NewThreadID(adapter, thread)}
}

// tell hands a message over as a platform does.
func (f *front) tell(text string) {
	f.t.Helper()
	f.said++
	message := chat.Message{ID: chat.MessageID(fmt.Sprint("m", f.said)), Thread: f.thread, Author: "ann", Text: text, At: time.Now()}
	if err := f.bot.Handle(f.t.Context(), message, nil); err != nil {
		f.t.Errorf("%q got %v", text, err)
	}
}

func (f *front) posted() string {
	var texts []string
	for _, posted := range f.platform.Posted(f.thread) {
		if posted.Post.Reply != nil {
			texts = append(texts, posted.Post.Reply.Text)
		}
	}
	return strings.Join(texts, ", ")
}

// TestFaultsOfThePlatformLoseNothing has several threads talk over a platform that shows no
// drafts and on which most calls go wrong, with two workers: each reply is posted once, in
// order.
func TestFaultsOfThePlatformLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		random := rand.New(rand.NewPCG(7, 7))
		s.platform.Faults = func(call chattest.Call) chattest.Fault {
			if call.Operation == chattest.DraftOperation {
				return chattest.Refused
			}
			return []chattest.Fault{
				chattest.NoFault, chattest.RateLimited, chattest.Broken, chattest.BrokenAfter, chattest.SilentAfter,
			}[random.IntN(5)]
		}
		var fronts []*front
		for i := range 4 {
			fronts = append(fronts, s.front("platform", fmt.Sprint(i)))
		}
		stops := []func(){s.works(newFate(0, false)), s.works(newFate(0, false))}
		const messages = 6
		var want []string
		for i := range messages {
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
		for _, stop := range stops {
			stop()
		}
	})
}

func TestAThreadThatIsGoneIsPutAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f, other := s.front("platform", "gone"), s.front("platform", "open")
		s.platform.Close(f.thread)
		defer s.works(newFate(0, false))()
		f.tell("echo one")
		other.tell("echo two")
		f.quiet()
		other.quiet()
		letters, err := s.queue.DeadLetters(t.Context(), 10)
		if err != nil || len(letters) != 1 || letters[0].Job.Thread() != f.thread || !strings.Contains(letters[0].Reason, "gone") {
			t.Errorf("put aside: %+v, %v", letters, err)
		}
		record, err := s.records.Load(t.Context(), letters[0].Job.Run)
		if err != nil || record.Status() != runs.Failed {
			t.Errorf("the run is %s, %v", record.Status(), err)
		}
		if got := other.posted(); got != "two" {
			t.Errorf("the other thread sees %s", got)
		}
	})
}

func TestAQuestionIsPostedAndEditedOnceItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("paint the wall")
		f.quiet()
		asked := s.platform.Posted(f.thread)
		if len(asked) != 1 || asked[0].Post.Question == nil || asked[0].Post.Answer != "" || len(asked[0].Key) != 24 {
			t.Fatalf("posted %+v", asked)
		}
		f.tell("red")
		f.quiet()
		posted := s.platform.Posted(f.thread)
		if len(posted) != 2 || posted[0].Post.Answer != "Red" || posted[0].Post.AnsweredBy != "ann" || posted[0].Edits != 1 {
			t.Errorf("posted %+v", posted)
		}
		if posted[1].Post.Reply.Text != "painted r" || posted[1].Post.To != "m2" {
			t.Errorf("replied %+v", posted[1].Post)
		}
	})
}

func TestWhatIsForAnotherIsHintedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("paint the wall")
		f.quiet()
		message := chat.Message{ID: "e1", Thread: f.thread, Author: "eve", Text: "red"}
		if err := f.bot.Handle(t.Context(), message, nil); err != nil {
			t.Fatal(err)
		}
		f.quiet()
		hint := s.platform.Posted(f.thread)[1].Post
		if hint.Only != "eve" || !strings.Contains(hint.Reply.Text, "person who asked") {
			t.Errorf("the hint is %+v", hint)
		}
	})
}

// TestAQuestionIsRepeatedAndExpires lets a day go by on the bubble's clock.
func TestAQuestionIsRepeatedAndExpires(t *testing.T) {
	for _, adapter := range []string{"test", "platform"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStreet(t)
			f := s.front(adapter, "1")
			stop := s.works(newFate(0, false))
			f.tell("paint the wall")
			f.quiet()
			question := f.turns()[1].Question
			stop()
			pass(59 * time.Minute)
			stop = s.works(newFate(0, false))
			pass(30 * time.Second)
			if turns := f.turns(); len(turns) != 2 {
				t.Errorf("after 59 minutes: %+v", turns)
			}
			pass(time.Minute)
			stop()
			if turns := f.turns(); len(turns) != 3 || !strings.Contains(turns[2].Reply.Text, "Which color?") {
				t.Errorf("after an hour: %+v", turns)
			}
			pass(23 * time.Hour)
			stop = s.works(newFate(0, false))
			pass(time.Minute)
			turns := f.turns()
			if len(turns) != 4 || turns[1].Answer != "expired" || !strings.Contains(turns[3].Reply.Text, "Nobody answered") {
				t.Errorf("after a day: %+v", turns)
			}
			record, err := s.records.Load(t.Context(), question.Run)
			if err != nil || record.Status() != runs.Expired {
				t.Errorf("the run is %s, %v", record.Status(), err)
			}
			message := chat.Message{ID: "late", Thread: f.thread, Author: "ann", Answers: &chat.Press{Question: question.ID, Choice: "r"}}
			if err := f.bot.Handle(t.Context(), message, nil); err != nil {
				t.Fatal(err)
			}
			f.quiet()
			last := f.turns()
			said, only := *last[len(last)-1].Reply, chat.UserID("")
			if adapter == "platform" { // it is told to who pressed, and no part of the thread
				posted := s.platform.Posted(f.thread)
				said, only = *posted[len(posted)-1].Post.Reply, posted[len(posted)-1].Post.Only
			}
			if !strings.Contains(said.Text, "expired") || (only == "ann") != (adapter == "platform") {
				t.Errorf("a late press got %+v, for %q alone", said, only)
			}
			stop()
		})
	}
}

func (f *front) turns() []chat.Turn {
	f.t.Helper()
	turns, err := f.bot.Transcript(f.t.Context(), f.thread)
	if err != nil {
		f.t.Fatal(err)
	}
	return turns
}

func TestAnAnsweredQuestionIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("test", "1")
		stop := s.works(newFate(0, false))
		f.say("paint the wall")
		f.say("red")
		stop()
		pass(25 * time.Hour)
		defer s.works(newFate(0, false))()
		pass(time.Minute)
		f.quiet()
		if turns := f.turns(); len(turns) != 4 {
			t.Errorf("a day later: %+v", turns)
		}
	})
}

// TestDuplicatesAreHarmless hands a message over many times, at once and later: it is
// worked at once, and each time told what was said.
func TestDuplicatesAreHarmless(t *testing.T) {
	o := newOffice(t)
	message := o.next("echo hello")
	var sending sync.WaitGroup
	for range 8 {
		sending.Go(func() {
			said := &heard{}
			if err := o.bot.Handle(t.Context(), message, said); err != nil || len(said.replies) != 1 || said.replies[0].Text != "hello" {
				t.Errorf("%v, %+v", err, said)
			}
		})
	}
	sending.Wait()
	said := &heard{}
	if err := o.bot.Handle(t.Context(), message, said); err != nil || len(said.replies) != 1 {
		t.Errorf("later: %v, %+v", err, said)
	}
	if turns := o.transcript(); len(turns) != 2 {
		t.Errorf("%d turns", len(turns))
	}
}

// TestADuplicateThatIsNotKnownForOneIsHarmless works at messages again, as where their
// events were forgotten before they came again.
func TestADuplicateThatIsNotKnownForOneIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		texts := []string{"echo hello", "paint the wall", "stop", "help?"}
		for _, text := range texts {
			f.tell(text)
			f.quiet()
		}
		before := f.seen()
		for i, text := range texts {
			message := chat.Message{ID: chat.MessageID(fmt.Sprint("m", i+1)), Thread: f.thread, Author: "ann", Text: text}
			job := runs.Job{Event: runs.EventID(fmt.Sprint("again", i)), Kind: runs.Said, Message: message, Run: "run-other"}
			if _, err := s.queue.Enqueue(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		}
		f.quiet()
		if after := f.seen(); after != before {
			t.Errorf("it is seen:\n%s\n\nbefore:\n%s", after, before)
		}
	})
}

func TestALongMessageIsCutAndSaidSo(t *testing.T) {
	o := newOffice(t)
	said := o.text("echo " + strings.Repeat("é", 100_000))
	if reply := said.replies[0]; len([]rune(reply.Text)) > 40_000 || !strings.Contains(reply.Note, "too long") {
		t.Errorf("%d letters, note %q", len([]rune(reply.Text)), reply.Note)
	}
}

// poisoned is a flow whose checkpoint can't be read while it is ill.
type poisoned struct {
	*job
	mu  sync.Mutex
	ill bool
}

func (p *poisoned) sick() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ill {
		return &graph.UnknownNodeError{Run: "r", Graph: "job", Node: "gone"}
	}
	return nil
}

func (p *poisoned) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	if err := p.sick(); err != nil {
		return flows.Outcome{}, err
	}
	return p.job.Start(ctx, request, runtime)
}

func (p *poisoned) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	if err := p.sick(); err != nil {
		return flows.Outcome{}, err
	}
	return p.job.Resume(ctx, run, answers, runtime)
}

// TestAPoisonedRunIsPutAside parks a run that can't go on, lets others, and goes on with
// it once it is repaired: by replaying the letter, or by the person's retry.
func TestAPoisonedRunIsPutAside(t *testing.T) {
	for name, repair := range map[string]func(f *front, run chat.RunID) error{
		"replay": func(f *front, run chat.RunID) error { return f.bot.Replay(f.t.Context(), run) },
		"retry":  func(f *front, run chat.RunID) error { return f.bot.Retry(f.t.Context(), run, "ann", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flow := &poisoned{job: newJob(t), ill: true}
				flow.succeeds()
				s := newStreet(t, flow)
				f := s.front("platform", "1")
				defer s.works(newFate(0, false))()
				f.tell("dig")
				f.tell("echo next")
				f.quiet()
				letters, err := s.queue.DeadLetters(t.Context(), 10)
				if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, `node "gone"`) {
					t.Fatalf("put aside: %+v, %v", letters, err)
				}
				run := letters[0].Job.Run
				if got := f.posted(); !strings.Contains(got, string(run)) || !strings.HasSuffix(got, ", next") {
					t.Errorf("people see %s", got)
				}
				flow.mu.Lock()
				flow.ill = false
				flow.mu.Unlock()
				if err := repair(f, run); err != nil {
					t.Fatal(err)
				}
				f.quiet()
				if got := f.posted(); !strings.HasSuffix(got, ", next, did dig") {
					t.Errorf("people see %s", got)
				}
				if turns := f.turns(); len(turns) != 4 {
					t.Errorf("transcript %+v", turns)
				}
			})
		})
	}
}

// TestADrainedWorkerLosesNothing ends a worker in the middle of a step: the step ends and
// is kept, and another worker goes on behind it.
func TestADrainedWorkerLosesNothing(t *testing.T) {
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprintf("the step heeds its grace: %v", heeds), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJob(t)
				begun := make(chan struct{}, 2)
				j.work = func(ctx context.Context, _ graph.Step[state]) error {
					begun <- struct{}{}
					if len(begun) == 2 {
						return nil
					}
					if heeds {
						pass(10 * time.Second)
						return nil
					}
					<-ctx.Done() // until the grace is over
					return ctx.Err()
				}
				s := newStreet(t, j)
				f := s.front("test", "1")
				stop := s.works(newFate(0, false))
				f.tell("dig")
				synctest.Wait()
				pass(time.Second)
				asked := time.Now()
				stop()
				took := time.Since(asked)
				state, err := s.queue.State(t.Context(), f.thread)
				if err != nil || state.Busy() || state.Queued != 1 {
					t.Errorf("after the drain: %+v, %v", state, err)
				}
				defer s.works(newFate(0, false))()
				f.quiet()
				want, most := [3]int{1, 1, 1}, 10*time.Second
				if !heeds {
					want, most = [3]int{1, 2, 1}, 26*time.Second
				}
				if ran := j.times(); ran != want || took > most {
					t.Errorf("the nodes ran %v times, the drain took %s", ran, took)
				}
				if turns := f.turns(); len(turns) != 2 || turns[1].Reply.Text != "did dig" {
					t.Errorf("transcript %+v", turns)
				}
			})
		})
	}
}

// TestEndingGivesUpNothing ends a process whose page waits for an answer.
func TestEndingGivesUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		ctx, end := context.WithCancel(t.Context())
		page, err := bot.New(bot.Options{
			Store: s.queue, Flows: s.flows, Logger: quietLogger, Ending: ctx.Done(),
		})
		if err != nil {
			t.Fatal(err)
		}
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		handled := make(chan error, 1)
		go func() {
			handled <- page.Handle(waiting, chat.Message{ID: "m1", Thread: "test:1", Author: "ann", Text: "echo hello"}, &heard{})
		}()
		synctest.Wait()
		end()
		if err := <-handled; !errors.Is(err, context.Canceled) {
			t.Errorf("Handle = %v", err)
		}
		f := s.front("test", "1")
		defer s.works(newFate(0, false))()
		f.quiet()
		if turns := f.turns(); len(turns) != 2 || turns[1].Reply.Text != "hello" {
			t.Errorf("transcript %+v", turns)
		}
	})
}

func TestAPersonIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("test", "1")
		defer s.works(newFate(0, false))()
		f.say("echo secret")
		message := chat.Message{ID: "b1", Thread: f.thread, Author: "bob", Text: "echo hello"}
		if err := f.bot.Handle(t.Context(), message, &heard{}); err != nil {
			t.Fatal(err)
		}
		if threads, err := f.bot.Forget(t.Context(), "ann", "test"); threads != 1 || err != nil {
			t.Fatalf("forgot %d threads, %v", threads, err)
		}
		f.quiet()
		turns := f.turns()
		if len(turns) != 2 || turns[0].Author != "bob" || turns[1].Reply.Text != "hello" {
			t.Errorf("transcript %+v", turns)
		}
		if listed, err := f.bot.Threads(t.Context(), "test", "ann", 10); err != nil || len(listed) != 0 {
			t.Errorf("ann's threads: %+v, %v", listed, err)
		}
		kept, err := s.records.List(t.Context(), runs.Filter{Thread: f.thread}, 10)
		if err != nil || len(kept) != 1 || kept[0].Author != "bob" {
			t.Errorf("records %+v, %v", kept, err)
		}
		for event, err := range s.queue.Follow(ended(t), f.thread, runs.Beginning) {
			if strings.Contains(string(event.Body), "secret") || err != nil {
				t.Errorf("event %s, %v", event.Body, err)
			}
		}
	})
}

// ended is a context that lasts for a second.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}
