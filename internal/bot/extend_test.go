package bot_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// answerShort answers a question in a thread with an answer of which there is more.
func answerShort(t *testing.T) (*clerk, *front) {
	t.Helper()
	answers := newClerk(t, "answer")
	answers.trace = flows.Trace{Evidence: []flows.Candidate{{Passage: "a", Score: 1, Kept: true}, {Passage: "b", Score: 0.8}}}
	s := newStreet(t, answers)
	t.Cleanup(s.works(newFate(0, false)))
	f := s.front("platform", "1")
	f.hand(chat.Message{ID: "m1", Text: "how?"})
	return answers, f
}

// TestAnAnswerIsExtendedInItsPlace shows more of an answer: once, for who asked, also when
// other questions were asked since.
func TestAnAnswerIsExtendedInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, f := answerShort(t)
		f.hand(chat.Message{ID: "m2", Text: "why?"})
		first := f.platform.Posted(f.thread)[0]
		if !first.Post.Reply.More {
			t.Fatalf("the answer offers no more: %+v", first.Post.Reply)
		}
		pass(2 * time.Hour)
		if err := f.bot.Extend(t.Context(), first.Post.Reply.Run, "eve"); !errors.Is(err, chat.ErrForbidden) {
			t.Errorf("somebody else's wish got %v", err)
		}
		for range 2 { // the second wish may come before or after the first was dealt with
			if err := f.bot.Extend(t.Context(), first.Post.Reply.Run, "ann"); err != nil && !errors.Is(err, chat.ErrUnknownRun) {
				t.Fatal(err)
			}
		}
		f.quiet()
		posted := f.platform.Posted(f.thread)
		if got := f.posted(); got != "answer: comprehensive how?, answer: why?" || len(posted) != 2 || posted[0].ID != first.ID || posted[0].Post.Reply.More {
			t.Errorf("posted is %s", got)
		}
		if got := len(answers.requests); got != 3 {
			t.Errorf("the flow ran %d times", got)
		}
		if err := f.bot.Extend(t.Context(), first.Post.Reply.Run, "ann"); !errors.Is(err, chat.ErrUnknownRun) {
			t.Errorf("to extend what is not shown any more got %v", err)
		}
	})
}

// TestNothingIsExtendedWhileAQuestionWaits keeps the question open.
func TestNothingIsExtendedWhileAQuestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, f := answerShort(t)
		run := f.platform.Posted(f.thread)[0].Post.Reply.Run
		f.hand(chat.Message{ID: "m2", Files: []chat.File{f.platform.Upload("a.txt", "", []byte("text"))}})
		if err := f.bot.Extend(t.Context(), run, "ann"); !errors.Is(err, chat.ErrOpenQuestion) {
			t.Errorf("extending got %v", err)
		}
		f.quiet()
		if post := f.platform.Posted(f.thread)[1].Post; post.Question == nil || post.Answer != "" {
			t.Errorf("the question shows %+v", post)
		}
	})
}
