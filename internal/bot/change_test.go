package bot_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// TestWhatAnEditDoesNotChange edits messages that stay as they were answered.
func TestWhatAnEditDoesNotChange(t *testing.T) {
	edit := func(id chat.MessageID, by chat.UserID, text string) func(f *front) chat.Message {
		return func(f *front) chat.Message {
			return chat.Message{ID: id, Thread: f.thread, Author: by, Text: text, At: time.Now()}
		}
	}
	for _, test := range []struct {
		name   string
		said   []string
		wait   time.Duration
		change func(f *front) chat.Message
		want   string
	}{
		{"the same text", []string{"echo one"}, 0, edit("m1", "ann", "echo one"), "one"},
		{"another's message", []string{"echo one"}, 0, edit("m1", "eve", "echo two"), "one"},
		{"a message that nobody knows", []string{"echo one"}, 0, edit("m9", "ann", "echo two"), "one"},
		{"one that is not the last", []string{"echo one", "echo more"}, 0, edit("m1", "ann", "echo two"), "one, more"},
		{"one that answered a question", []string{"paint the wall", "red"}, 0, edit("m2", "ann", "blue"), "painted r"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreet(t)
				f := s.front("platform", "1")
				defer s.works(newFate(0, false))()
				for _, text := range test.said {
					f.tell(text)
					f.quiet()
				}
				pass(test.wait)
				before := f.seen()
				if err := f.bot.Edited(t.Context(), test.change(f)); err != nil {
					t.Fatal(err)
				}
				f.quiet()
				if got := f.posted(); got != test.want || f.seen() != before {
					t.Errorf("it is seen:\n%s\nbefore:\n%s", f.seen(), before)
				}
			})
		})
	}
}

// TestALateEditIsToldOfOnce edits a message of long ago again and again: its author, and
// nobody else, is told once that this changes nothing.
func TestALateEditIsToldOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("echo one")
		f.quiet()
		pass(time.Minute + time.Second)
		for _, text := range []string{"echo one", "echo two", "echo three"} {
			f.edit("m1", text)
			f.quiet()
		}
		posted := s.platform.Posted(f.thread)
		if len(posted) != 2 {
			t.Fatalf("it is seen:\n%s", f.seen())
		}
		told := posted[1].Post
		if told.Only != "ann" || !told.Private || !strings.Contains(told.Reply.Text, "your edit came too late") {
			t.Errorf("told is %+v, %+v", told, told.Reply)
		}
	})
}

// TestAStopIsAnnouncedOnce has a word stop a run where the bot posts.
func TestAStopIsAnnouncedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, digs(t))
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("dig")
		synctest.Wait()
		f.tell("stop")
		f.quiet()
		if got := f.posted(); got != "Stopped." {
			t.Errorf("posted is %s", got)
		}
		f.tell("echo more")
		f.quiet()
		if got := f.posted(); got != "Stopped., more" {
			t.Errorf("and then %s", got)
		}
	})
}

// TestAnEditIsMadeInPlace looks at the platform's messages: the answer stays the same one,
// and one that the platform will not edit gives way to another.
func TestAnEditIsMadeInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("echo one")
		f.quiet()
		first := s.platform.Posted(f.thread)[0]
		f.edit("m1", "echo two")
		f.quiet()
		posted := s.platform.Posted(f.thread)
		if len(posted) != 1 || posted[0].ID != first.ID || posted[0].Edits != 1 || posted[0].Post.Reply.Text != "two" {
			t.Errorf("posted %+v", posted)
		}
		if err := s.platform.Retract(t.Context(), f.thread, first.ID); err != nil {
			t.Fatal(err)
		}
		f.edit("m1", "echo three")
		f.quiet()
		if posted := s.platform.Posted(f.thread); len(posted) != 1 || posted[0].ID == first.ID || posted[0].Post.Reply.Text != "three" {
			t.Errorf("after it was removed, posted %+v", posted)
		}
	})
}

// TestFilesThatComeAfterTheirMessage has a message come without its files, and then with
// them, before, while and after it is answered: it is answered once, from the files.
func TestFilesThatComeAfterTheirMessage(t *testing.T) {
	for _, test := range []struct {
		name  string
		after func(f *front)
	}{
		{"before it is taken up", func(*front) {}},
		{"while it is answered", func(*front) { synctest.Wait() }},
		{"after it was answered", func(f *front) { f.quiet() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJob(t)
				j.succeeds()
				s := newStreet(t, j)
				f := s.front("platform", "1")
				message := chat.Message{ID: "m1", Thread: f.thread, Author: "ann", Text: "dig", At: time.Now()}
				if err := f.bot.Handle(t.Context(), message, nil); err != nil {
					t.Fatal(err)
				}
				defer s.works(newFate(0, false))()
				test.after(f)
				message.Files = []chat.File{s.platform.Upload("a.txt", "", []byte("text"))}
				for range 2 {
					if err := f.bot.Edited(t.Context(), message); err != nil {
						t.Fatal(err)
					}
					f.quiet()
				}
				if posted := s.platform.Posted(f.thread); len(posted) != 1 || posted[0].Post.Reply == nil {
					t.Fatalf("posted %+v", posted)
				}
				last := j.requests[len(j.requests)-1]
				if len(j.requests) > 2 || len(last.Attachments) != 1 || last.Attachments[0].Text != "text" {
					t.Errorf("it was asked %+v", j.requests)
				}
			})
		})
	}
}

func TestAChangeNeedsItsIDs(t *testing.T) {
	o := newOffice(t)
	if err := o.bot.Edited(t.Context(), chat.Message{Thread: "test:1"}); err == nil {
		t.Error("an edit of no message is taken")
	}
	if err := o.bot.Deleted(t.Context(), "", "m1"); err == nil {
		t.Error("a deletion in no thread is taken")
	}
}

// TestWhoWaitsForADeletedMessageIsTold deletes what somebody waits for at a page.
func TestWhoWaitsForADeletedMessageIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, j := works(t)
		begun := j.blocks()
		message := o.next("dig")
		h := &handling{done: make(chan struct{})}
		go func() {
			defer close(h.done)
			h.err = o.bot.Handle(t.Context(), message, h)
		}()
		<-begun
		if err := o.bot.Deleted(t.Context(), message.Thread, message.ID); err != nil {
			t.Fatal(err)
		}
		<-h.done
		if h.err == nil || len(h.replies) > 0 {
			t.Errorf("who waited got %v, %+v", h.err, h.replies)
		}
		synctest.Wait()
		if turns := o.transcript(); len(turns) != 0 {
			t.Errorf("the transcript is %+v", turns)
		}
	})
}

// TestAnEditCanBeStopped stops the run that an edit made: what was said before gives way.
func TestAnEditCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, digs(t))
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("fill")
		f.quiet()
		f.edit("m1", "dig")
		synctest.Wait()
		if stopped, err := f.bot.Stop(t.Context(), f.thread, "eve"); stopped || err == nil {
			t.Errorf("somebody else's Stop = %v, %v", stopped, err)
		}
		f.stop()
		f.quiet()
		if got := f.posted(); got != "Stopped." {
			t.Errorf("posted is %s", got)
		}
	})
}

// TestAnEditIsNoRun edits a message that waits behind another: lists of runs hold what
// people asked, and nothing for the edit.
func TestAnEditIsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, digs(t))
		defer s.works(newFate(0, false))()
		f := s.front("platform", "1")
		f.tell("dig")
		f.tell("echo one")
		synctest.Wait()
		f.edit("m2", "echo two")
		listed, err := s.records.List(t.Context(), runs.Filter{}, 10)
		if err != nil || len(listed) != 1 || listed[0].Message != "m1" {
			t.Errorf("the runs are %+v, %v", listed, err)
		}
		if edit, ok, err := s.queue.LoadEdit(t.Context(), f.thread, "m2"); err != nil || !ok || edit.Text != "echo two" {
			t.Errorf("the edit is %+v, %v, %v", edit, ok, err)
		}
		f.stop()
		f.quiet()
		if edit, ok, err := s.queue.LoadEdit(t.Context(), f.thread, "m2"); err != nil || ok {
			t.Errorf("dealt with, the edit is %+v, %v", edit, err)
		}
	})
}
