package discord

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

func TestADraftIsSeenAsItGrows(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInThread)
	draft, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-1", Thread: room.Thread, To: room.To, Asker: chat.UserID(w.ann)})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	shows := func(what string) {
		t.Helper()
		out.WriteString("--- " + what + "\n" + w.Show(w.general))
	}
	for _, step := range chattest.Steps() {
		if err := draft.Progress(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Second)
	}
	shows("a status")
	for _, text := range []string{"A release is ", "rolled back by <@" + w.ben + "> with `one", " command` @everyone"} {
		if err := draft.Stream(t.Context(), chat.Token{Run: "run-1", Text: text}); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(4 * time.Second)
	}
	shows("the beginning of the answer")
	if edits := len(w.Requests("PATCH /channels/{channel}/messages/{message}")); edits > 5 {
		t.Errorf("%d edits in 19 s", edits)
	}
	answer := chattest.Answer()
	if _, err := draft.Finish(t.Context(), "KEY000000000000000000001", chat.Post{To: room.To, Reply: &answer}); err != nil {
		t.Fatal(err)
	}
	shows("the answer")
	w.clean(t)
	golden(t, "draft", out.String())
}

// TestADraftInTheAnswerToACommand shows the run where "Cairn is thinking" was.
func TestADraftInTheAnswerToACommand(t *testing.T) {
	w := newTeam(t, nil)
	var asked chat.Message
	w.bot.On("/cairn ask slowly", func(_ context.Context, message chat.Message, _ chat.Conversation) error {
		asked = message
		return nil
	})
	command := w.Slash(w.ann, w.general, "cairn ask", discordtest.Option{Name: "question", Value: "slowly"})
	w.settle(t)
	other := w.process(t, w.adapter.options)
	left, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-1", Thread: asked.Thread, To: asked.ID, Asker: asked.Author})
	if err != nil {
		t.Fatal(err)
	}
	step := chat.Progress{Run: "run-1", Step: "search", Description: "Searching", Status: chat.Running}
	if err := left.Progress(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	if shown, _ := command.Original(); !strings.Contains(shown.Content, "Searching") {
		t.Errorf("the draft shows %q", shown.Content)
	}
	draft, err := other.Draft(t.Context(), chat.Work{Run: "run-1", Thread: asked.Thread, To: asked.ID, Asker: asked.Author, Again: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := draft.Progress(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	id, err := draft.Finish(t.Context(), "KEY000000000000000000001", chat.Post{To: asked.ID, Reply: &chat.Reply{Outcome: chat.Answered, Text: "Done."}})
	if err != nil {
		t.Fatal(err)
	}
	if got, found, err := w.adapter.Find(t.Context(), asked.Thread, "KEY000000000000000000001"); got != id || !found || err != nil {
		t.Errorf("found %s, %v, %v", got, found, err)
	}
	w.clean(t)
	if got := strings.Count(w.Show(w.general), "Done."); got != 1 || w.Left(t, asked.Thread) != 0 {
		t.Errorf("people see\n%s", w.Show(w.general))
	}
}
