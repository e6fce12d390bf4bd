package interact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// mute is a handler that can do nothing else.
type mute struct{}

func (mute) Handle(context.Context, chat.Message, chat.Conversation) error { return nil }

// drawing is a bot with threads and graphs, that hears of no changes.
type drawing struct{ chattest.Bot }

func (*drawing) Graph(string) (string, bool) { return "", false }

func TestWhatAHandlerCanDo(t *testing.T) {
	if _, err := interact.NewHandler("Slack", mute{}); err == nil || !strings.Contains(err.Error(), "run the Slack adapter: a interact_test.mute can't stop") {
		t.Errorf("%v", err)
	}
	found, err := interact.NewHandler("Slack", &drawing{})
	if err != nil || found.Graphs == nil || found.Changes != nil || found.Threads == nil {
		t.Errorf("%+v, %v", found, err)
	}
}

// told is a thread of turns.
type told []chat.Turn

func (t told) Transcript(_ context.Context, thread chat.ThreadID) ([]chat.Turn, error) {
	if thread == "broken" {
		return nil, errors.New("no store")
	}
	return t, nil
}

func TestFindReply(t *testing.T) {
	turns := told{{Text: "how?"}, {Reply: &chat.Reply{Run: "run-1", Text: "so"}}}
	if reply, err := interact.FindReply(t.Context(), turns, "thread", "run-1"); err != nil || reply.Text != "so" {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := interact.FindReply(t.Context(), turns, "thread", "run-2"); !errors.Is(err, chat.ErrUnknownRun) {
		t.Errorf("%v", err)
	}
	if _, err := interact.FindReply(t.Context(), turns, "broken", "run-1"); err == nil || errors.Is(err, chat.ErrUnknownRun) {
		t.Errorf("%v", err)
	}
}

func TestRefusal(t *testing.T) {
	if words, ok := interact.Refusal(fmt.Errorf("stop: %w", chat.ErrForbidden)); !ok || words != chat.ErrForbidden.Error() {
		t.Errorf("%q, %v", words, ok)
	}
	for _, err := range []error{nil, errors.New("no store")} {
		if words, ok := interact.Refusal(err); ok || words != "" {
			t.Errorf("%v: %q", err, words)
		}
	}
}

func TestSlot(t *testing.T) {
	slot := interact.NewSlot()
	if slot.Handler() != nil {
		t.Error("a handler is in a new slot")
	}
	handler := &interact.Handler{}
	for range 2 { // an adapter may run again
		slot.Fill(handler)
		<-slot.Ready()
		if slot.Handler() != handler {
			t.Error("the handler is not in")
		}
		slot.Empty()
		if slot.Handler() != nil {
			t.Error("the handler is still in")
		}
	}
}
