package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
)

// TestStopEndsWhatWorks stops a run in each way there is. It ends within a second on the
// bubble's clock.
func TestStopEndsWhatWorks(t *testing.T) {
	for _, test := range []struct {
		name   string
		stop   func(t *testing.T, o *office, giveUp context.CancelFunc)
		reason string
	}{
		{"by the control", func(t *testing.T, o *office, _ context.CancelFunc) {
			if stopped, err := o.bot.Stop(t.Context(), "test:1", "ann"); !stopped || err != nil {
				t.Errorf("Stop = %v, %v", stopped, err)
			}
		}, "a person stopped it"},
		{"by a word", func(t *testing.T, o *office, _ context.CancelFunc) {
			if said := o.text("Stop!"); len(said.replies) != 0 {
				t.Errorf("the word got %+v", said.replies)
			}
		}, "a person stopped it"},
		{"by its message's context", func(_ *testing.T, _ *office, giveUp context.CancelFunc) { giveUp() }, "a person stopped it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, j := works(t)
				begun := j.blocks()
				ctx, giveUp := context.WithCancel(t.Context())
				defer giveUp()
				working := o.begin(ctx, "dig")
				<-begun
				wished := time.Now()
				test.stop(t, o, giveUp)
				reply := working.reply(t)
				if took := time.Since(wished); took > time.Second {
					t.Errorf("stopping took %s", took)
				}
				if reply.Outcome != chat.Failure || reply.Text != "Stopped." || reply.Run == "" {
					t.Errorf("the stopped message got %+v", reply)
				}
				record, statuses := o.record(reply.Run)
				if statuses != "queued running cancelled" || record.Transitions[2].Reason != test.reason {
					t.Errorf("the run was %s, at last because %q", statuses, record.Transitions[2].Reason)
				}
				if step := record.Trace.Steps[1]; step.Node != "work" || step.Status != chat.Skipped {
					t.Errorf("the stopped step is %+v", step)
				}
				if o.log.String() != "" {
					t.Errorf("a stopped run is logged: %s", o.log)
				}
			})
		})
	}
}

// TestAWordStopsWhatWorksAlone has messages wait behind the one that is stopped.
func TestAWordStopsWhatWorksAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, j := works(t)
		begun := j.blocks()
		working := o.begin(t.Context(), "dig")
		<-begun
		var behind []*handling
		for _, text := range []string{"echo one", "echo two"} {
			behind = append(behind, o.begin(t.Context(), text))
			synctest.Wait()
		}
		o.text("cancel")
		working.reply(t)
		for i, want := range []string{"one", "two"} {
			if got := behind[i].reply(t).Text; got != want {
				t.Errorf("message %d behind got %q, want %q", i, got, want)
			}
		}
		var said []string
		for _, turn := range o.transcript() {
			if turn.Reply != nil {
				said = append(said, turn.Reply.Text)
			} else {
				said = append(said, turn.Text)
			}
		}
		const want = "dig, Stopped., echo one, one, echo two, two, cancel"
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("the transcript is %s", got)
		}
	})
}

func TestStopIsForTheAsker(t *testing.T) {
	o, j := works(t)
	begun, gate := make(chan struct{}), make(chan struct{})
	j.work = func(context.Context, graph.Step[state]) error {
		close(begun)
		<-gate
		return nil
	}
	working := o.begin(t.Context(), "dig")
	<-begun
	if stopped, err := o.bot.Stop(t.Context(), "test:1", "eve"); stopped || !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("somebody else's Stop = %v, %v", stopped, err)
	}
	word := chat.Message{ID: "w", Thread: "test:1", Author: "eve", Text: "stop"}
	said := &heard{}
	if err := o.bot.Handle(t.Context(), word, said); !errors.Is(err, chat.ErrForbidden) || len(said.replies) > 0 {
		t.Errorf("somebody else's word got %v, %+v", err, said.replies)
	}
	close(gate)
	if reply := working.reply(t); reply.Text != "did dig" {
		t.Errorf("replied %+v", reply)
	}
}

func TestNothingToStop(t *testing.T) {
	o, _ := works(t)
	if stopped, err := o.bot.Stop(t.Context(), "test:1", "ann"); stopped || err != nil {
		t.Errorf("Stop = %v, %v where nothing works", stopped, err)
	}
	if said := o.text("stop"); !strings.Contains(said.replies[0].Text, "nothing to stop") {
		t.Errorf("the word got %+v", said.replies)
	}
}

// TestARunThatDoesNotHeedIsStoppedAllTheSame stops a run that does not heed its context: the answer
// that it has all the same is not given.
func TestARunThatDoesNotHeedIsStoppedAllTheSame(t *testing.T) {
	o, j := works(t)
	begun, gate := make(chan struct{}), make(chan struct{})
	j.work = func(context.Context, graph.Step[state]) error {
		close(begun)
		<-gate
		return nil
	}
	working := o.begin(t.Context(), "dig")
	<-begun
	if stopped, err := o.bot.Stop(t.Context(), "test:1", "ann"); !stopped || err != nil {
		t.Fatalf("Stop = %v, %v", stopped, err)
	}
	close(gate)
	if reply := working.reply(t); reply.Text != "Stopped." {
		t.Errorf("replied %+v", reply)
	}
}

func TestStopDropsAQuestion(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint the wall").questions[0]
	if stopped, err := o.bot.Stop(t.Context(), "test:1", "eve"); stopped || !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("somebody else's Stop = %v, %v", stopped, err)
	}
	for i, want := range []bool{true, false} {
		if stopped, err := o.bot.Stop(t.Context(), "test:1", "ann"); stopped != want || err != nil {
			t.Errorf("Stop %d = %v, %v", i, stopped, err)
		}
	}
	if _, statuses := o.record(asked.Run); statuses != "queued running waiting cancelled" {
		t.Errorf("the run was %s", statuses)
	}
	if turn := o.transcript()[1]; turn.Answer != "cancelled" || turn.AnsweredBy != "ann" {
		t.Errorf("the question shows %q by %q", turn.Answer, turn.AnsweredBy)
	}
	// It can be asked again.
	said := &heard{}
	if err := o.bot.Retry(t.Context(), asked.Run, "ann", said); err != nil || len(said.questions) != 1 {
		t.Fatalf("Retry = %v, asked %+v", err, said.questions)
	}
	if said := o.text("red"); said.replies[0].Text != "painted r" {
		t.Errorf("replied %+v", said.replies)
	}
	turns := o.transcript()
	if turns[1].Answer != "cancelled" || turns[2].Answer != "Red" {
		t.Errorf("the questions show %q and %q", turns[1].Answer, turns[2].Answer)
	}
}

// TestAQuestionIsDroppedBesideAnothersRun has ann drop her question while a run of
// bob's works: it is closed once that is over.
func TestAQuestionIsDroppedBesideAnothersRun(t *testing.T) {
	for name, drop := range map[string]func(*testing.T, *office) error{
		"by the control": func(t *testing.T, o *office) error {
			_, err := o.bot.Stop(t.Context(), "test:1", "ann")
			return err
		},
		"by a word": func(_ *testing.T, o *office) error {
			_, err := o.by("ann", chat.Message{Text: "never mind"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				asked := o.text("paint the wall").questions[0]
				message := o.next("echo hello")
				message.Author = "bob"
				gate, bobs := make(chan struct{}), make(chan error, 1)
				go func() { bobs <- o.bot.Handle(t.Context(), message, &gated{gate: gate}) }()
				synctest.Wait()
				dropped := make(chan error, 1)
				go func() { dropped <- drop(t, o) }()
				synctest.Wait()
				close(gate)
				if err := errors.Join(<-bobs, <-dropped); err != nil {
					t.Error(err)
				}
				if _, statuses := o.record(asked.Run); statuses != "queued running waiting cancelled" {
					t.Errorf("the run that asked was %s", statuses)
				}
			})
		})
	}
}

// gated is a chat.Conversation whose run works until the gate is opened.
type gated struct {
	heard
	gate chan struct{}
}

func (g *gated) Progress(context.Context, chat.Progress) error {
	<-g.gate
	return nil
}

// TestStopDropsAQuestionThatIsBeingPosted stops while the run's question is on its way to
// the platform: the run has nothing left to stop, so its question is dropped.
func TestStopDropsAQuestionThatIsBeingPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("platform", "1")
		type ending struct {
			stopped bool
			err     error
		}
		ended := make(chan ending, 1)
		s.platform.Faults = func(call chattest.Call) chattest.Fault {
			if call.Operation == chattest.FinishOperation && len(ended) == 0 {
				s.platform.Faults = nil
				go func() {
					stopped, err := f.bot.Stop(t.Context(), f.thread, "ann")
					ended <- ending{stopped, err}
				}()
				pass(streetTTL / 4)
			}
			return chattest.NoFault
		}
		defer s.works(newFate(0, false))()
		f.tell("paint the wall")
		if got := <-ended; !got.stopped || got.err != nil {
			t.Errorf("Stop = %v, %v", got.stopped, got.err)
		}
		waiting, err := s.records.List(t.Context(), runs.Filter{Status: runs.Waiting}, 10)
		if err != nil || len(waiting) != 0 {
			t.Errorf("waiting runs: %+v, %v", waiting, err)
		}
	})
}
