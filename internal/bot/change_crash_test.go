package bot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// edit gives a message another text.
func (f *front) edit(id chat.MessageID, text string) {
	f.t.Helper()
	message := chat.Message{ID: id, Thread: f.thread, Author: "ann", Text: text, At: time.Now()}
	for range 2 { // platforms deliver twice
		if err := f.bot.Edited(f.t.Context(), message); err != nil {
			f.t.Errorf("the edit to %q got %v", text, err)
		}
	}
}

func (f *front) delete(id chat.MessageID) {
	f.t.Helper()
	for range 2 {
		if err := f.bot.Deleted(f.t.Context(), f.thread, id); err != nil {
			f.t.Errorf("the deletion of %s got %v", id, err)
		}
	}
}

// digs is a flow that works for ever at "dig", and is done with everything else at once.
func digs(t *testing.T) flows.Flow {
	j := newJob(t)
	j.work = func(ctx context.Context, step graph.Step[state]) error {
		if step.State.Text != "dig" {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	return j
}

// changeStories are of messages that change, before, while and after they are dealt with.
var changeStories = []story{
	{name: "an edit of what was answered", before: []string{"echo one"}, then: func(f *front) { f.edit("m1", "echo two") }},
	{name: "an edit that asks", before: []string{"echo one"}, then: func(f *front) { f.edit("m1", "paint the wall") }},
	{name: "an edit of what made a document", flow: writes, before: []string{"write this"}, then: func(f *front) { f.edit("m1", "write that") }},
	{name: "an edit of what was asked about", before: []string{"paint the wall"}, then: func(f *front) { f.edit("m1", "echo two") }},
	{name: "two edits", maybe: []string{"run two is done", "run two is cancelled"}, before: []string{"echo one"}, then: func(f *front) {
		f.edit("m1", "echo two")
		f.edit("m1", "echo three")
	}},
	{name: "an edit of what is worked at", maybe: []string{"run dig is cancelled"}, flow: digs, then: func(f *front) {
		f.tell("dig")
		synctest.Wait()
		f.edit("m1", "fill")
	}},
	{name: "an edit of what waits", flow: digs, then: func(f *front) {
		f.tell("dig")
		f.tell("echo one")
		synctest.Wait()
		f.edit("m2", "echo two")
		f.stop()
	}},
	{name: "what was answered is deleted", before: []string{"echo one", "echo two"}, then: func(f *front) { f.delete("m1") }},
	{name: "what was asked about is deleted", before: []string{"paint the wall"}, then: func(f *front) { f.delete("m1") }},
	{name: "what an answer rests on is deleted", before: []string{"paint the wall", "red"}, then: func(f *front) { f.delete("m1") }},
	{name: "what is worked at is deleted", maybe: []string{"run dig is cancelled"}, flow: digs, then: func(f *front) {
		f.tell("dig")
		f.tell("echo one")
		synctest.Wait()
		f.delete("m1")
	}},
	{name: "what waits is deleted", flow: digs, then: func(f *front) {
		f.tell("dig")
		f.tell("echo one")
		synctest.Wait()
		f.delete("m2")
		f.stop()
	}},
}

func (f *front) stop() {
	if stopped, err := f.bot.Stop(f.t.Context(), f.thread, "ann"); !stopped || err != nil {
		f.t.Errorf("Stop = %v, %v", stopped, err)
	}
}

// TestChangesAreSeen tells each story without a crash, and looks at what people see: on a
// platform, and in the transcript of an adapter that posts nothing.
func TestChangesAreSeen(t *testing.T) {
	for _, test := range []struct {
		story string
		want  []string
	}{
		{"an edit of what was answered", []string{
			"m1: said echo two", "m1: reply two", "posted two", "one",
			"run one is done", "run two is done",
		}},
		{"an edit that asks", []string{
			"m1: said paint the wall", "m1: question Which color? ()", "posted Which color? ()", "one",
			"run one is done", "run paint the wall is waiting",
		}},
		{"an edit of what was asked about", []string{
			"m1: said echo two", "m1: question Which color? (its message was edited)", "m1: reply two",
			"posted Which color? (its message was edited)", "posted two", "Which color?",
			"run paint the wall is cancelled", "run two is done",
		}},
		{"two edits", []string{
			"m1: said echo three", "m1: reply three", "posted three", "one",
			"run one is done", "run three is done", "run two is done",
		}},
		{"an edit of what is worked at", []string{
			"m1: said fill", "m1: reply did fill", "posted did fill",
			"run dig is cancelled", "run fill is done",
		}},
		{"an edit of what waits", []string{
			"m1: said dig", "m1: reply Stopped.", "m2: said echo two", "m2: reply two", "posted Stopped.", "posted two",
			"run dig is cancelled", "run two is done",
		}},
		{"what was answered is deleted", []string{
			"m2: said echo two", "m2: reply two", "posted two", "one", "two",
			"run one is cancelled", "run two is done",
		}},
		{"what was asked about is deleted", []string{"Which color?", "run paint the wall is cancelled"}},
		{"what an answer rests on is deleted", []string{"m2: said red", "Which color?", "painted r", "run paint the wall is cancelled"}},
		{"what is worked at is deleted", []string{
			"m2: said echo one", "m2: reply one", "posted one", "run dig is cancelled", "run one is done",
		}},
		{"what waits is deleted", []string{
			"m1: said dig", "m1: reply Stopped.", "posted Stopped.", "run dig is cancelled",
		}},
	} {
		t.Run(test.story, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, story := range changeStories {
					if story.name != test.story {
						continue
					}
					s := newStreet(t, story.flowsOf(t)...)
					if got, want := s.live(story, "platform:1", newFate(0, false)), strings.Join(test.want, "\n"); story.surely(got) != story.surely(want) {
						t.Errorf("it is seen:\n%s\n\nwant:\n%s", got, want)
					}
					read := slices.DeleteFunc(test.want, func(line string) bool { return strings.HasPrefix(line, "posted ") })
					if got, want := s.live(story, "test:1", newFate(0, false)), strings.Join(read, "\n"); story.surely(got) != story.surely(want) {
						t.Errorf("where nothing is posted it is seen:\n%s\n\nwant:\n%s", got, want)
					}
				}
			})
		})
	}
}

// TestIntakeOfChangesCrashes kills an intake at each of its calls about a change; the
// platform, which got no answer, delivers again to another one.
func TestIntakeOfChangesCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		defer s.works(newFate(0, false))()
		for name, change := range map[string]func(*bot.Bot, *front) error{
			"edited": func(intake *bot.Bot, f *front) error {
				return intake.Edited(t.Context(), chat.Message{ID: "m1", Thread: f.thread, Author: "ann", Text: "echo two", At: time.Unix(1, 0)})
			},
			"deleted": func(intake *bot.Bot, f *front) error { return intake.Deleted(t.Context(), f.thread, "m1") },
		} {
			want := map[string]string{"edited": "two", "deleted": ""}[name]
			for at, struck := 1, true; struck; at += racetest.Stride {
				struck = false
				for _, after := range []bool{false, true} {
					f := s.front("platform", fmt.Sprint(name, at, after))
					f.tell("echo one")
					f.quiet()
					of := newFate(at, after)
					for _, intake := range []*bot.Bot{s.process(of), f.bot} {
						if err := change(intake, f); (of.dead() && intake != f.bot) != errors.Is(err, errDead) {
							t.Errorf("%s got %v", name, err)
						}
					}
					f.quiet()
					if got := f.posted(); got != want || strings.Contains(f.seen(), "queued") {
						t.Errorf("intake dead at call %d (%s, done: %v) of %s:\n%s", at, of.last, after, name, f.seen())
					}
					struck = struck || of.dead()
				}
			}
		}
	})
}

// TestWorkIsLeftForAMarkAlone kills an intake at each of its calls about an edit of what is
// worked at: the worker may see the edit while there is no job of the edit yet.
func TestWorkIsLeftForAMarkAlone(t *testing.T) {
	for at, struck := 1, true; struck; at++ {
		synctest.Test(t, func(t *testing.T) {
			s := newStreet(t, digs(t))
			defer s.works(newFate(0, false))()
			f := s.front("platform", "1")
			f.tell("dig")
			synctest.Wait()
			of := newFate(at, false)
			edit := chat.Message{ID: "m1", Thread: f.thread, Author: "ann", Text: "fill", At: time.Now()}
			err := s.process(of).Edited(t.Context(), edit)
			if struck = of.dead(); struck != errors.Is(err, errDead) {
				t.Errorf("the edit got %v", err)
			}
			pass(2 * time.Second) // for the worker to look
			if got := f.posted(); got != "" && got != "did fill" {
				t.Errorf("intake dead at call %d (%s), there is posted: %s", at, of.last, got)
			}
			if err := f.bot.Edited(t.Context(), edit); err != nil {
				t.Errorf("delivered again the edit got %v", err)
			}
			f.quiet()
			if got := f.posted(); got != "did fill" {
				t.Errorf("intake dead at call %d (%s), at last there is posted: %s", at, of.last, got)
			}
		})
	}
}
