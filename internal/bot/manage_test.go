package bot_test

import (
	"errors"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// askDiggers asks two questions in a thread of one person.
func askDiggers(t *testing.T) (*office, chat.Message) {
	t.Helper()
	o, j := works(t)
	j.succeeds()
	first := o.next("dig")
	for _, message := range []chat.Message{first, o.next("dig deeper")} {
		if err := o.bot.Handle(t.Context(), message, &heard{}); err != nil {
			t.Fatal(err)
		}
	}
	return o, first
}

func TestAThreadIsManagedByWhoWroteInItAlone(t *testing.T) {
	o, asked := askDiggers(t)
	thread, owner := asked.Thread, asked.Author
	for name, change := range map[string]func(by chat.UserID) error{
		"rename": func(by chat.UserID) error {
			return bot.NewManager(o.bot).RenameThread(t.Context(), thread, by, " Digging  in \n the yard ")
		},
		"share": func(by chat.UserID) error { return bot.NewManager(o.bot).ShareThread(t.Context(), thread, by, true) },
	} {
		if err := change("eve"); !errors.Is(err, chat.ErrForbidden) {
			t.Errorf("%s by somebody else: %v", name, err)
		}
		if err := change(owner); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if state, err := bot.NewManager(o.bot).ThreadState(t.Context(), thread); err != nil || state != (chat.ThreadState{Title: "Digging in the yard", Shared: true}) {
		t.Errorf("the thread is %+v, %v", state, err)
	}
	if listed, err := o.bot.Threads(t.Context(), "test", owner, 5); err != nil || len(listed) != 1 || listed[0].Title != "Digging in the yard" {
		t.Errorf("listed are %+v, %v", listed, err)
	}
	if err := bot.NewManager(o.bot).RenameThread(t.Context(), thread, owner, ""); err != nil {
		t.Fatal(err)
	}
	if err := bot.NewManager(o.bot).ShareThread(t.Context(), thread, owner, false); err != nil {
		t.Fatal(err)
	}
	if state, err := bot.NewManager(o.bot).ThreadState(t.Context(), thread); err != nil || state != (chat.ThreadState{Title: "dig"}) {
		t.Errorf("then it is %+v, %v", state, err)
	}
	if err := bot.NewManager(o.bot).DeleteThread(t.Context(), thread, "eve"); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("delete by somebody else: %v", err)
	}
	if err := bot.NewManager(o.bot).DeleteThread(t.Context(), thread, owner); err != nil {
		t.Fatal(err)
	}
	turns, err := o.bot.Transcript(t.Context(), thread)
	listed, listErr := o.bot.Threads(t.Context(), "test", owner, 5)
	if err != nil || listErr != nil || len(turns)+len(listed) > 0 {
		t.Errorf("what was deleted leaves %+v, %+v, %v, %v", turns, listed, err, listErr)
	}
}

func TestAnAnswerIsMadeAnewInItsPlace(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	asked := o.next("dig")
	asked.Depth, asked.Collections = chat.Brief, []string{"handbook"}
	if err := o.bot.Handle(t.Context(), asked, &heard{}); err != nil {
		t.Fatal(err)
	}
	rewrite := func(by chat.UserID, text string) (*heard, error) {
		var anew heard
		return &anew, bot.NewManager(o.bot).Rewrite(t.Context(), chat.Message{ID: asked.ID, Thread: asked.Thread, Author: by, Text: text, At: asked.At}, &anew)
	}
	if _, err := rewrite("eve", "dig"); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("by somebody else: %v", err)
	}
	for _, text := range []string{"dig", "dig elsewhere"} {
		anew, err := rewrite(asked.Author, text)
		if err != nil || len(anew.replies) != 1 {
			t.Fatalf("%q gave %+v, %v", text, anew.replies, err)
		}
		last := j.requests[len(j.requests)-1]
		if last.Text != text || string(last.Depth) != string(chat.Brief) || len(last.Filter.Sources) != 1 || last.Filter.Sources[0] != knowledge.SourceID("handbook") {
			t.Errorf("the flow was asked %+v", last)
		}
	}
	turns, err := o.bot.Transcript(t.Context(), asked.Thread)
	if err != nil || len(turns) != 2 || turns[0].Text != "dig elsewhere" {
		t.Errorf("the thread holds %+v, %v", turns, err)
	}
	o.text("dig again")
	if _, err := rewrite(asked.Author, "dig"); !errors.Is(err, chat.ErrRunOver) {
		t.Errorf("of a message that another one followed: %v", err)
	}
}
