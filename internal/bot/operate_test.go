package bot_test

import (
	"errors"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// TestWhatIsPutAsideIsNamed replays and discards jobs by their runs, and by their events where
// they have none.
func TestWhatIsPutAsideIsNamed(t *testing.T) {
	s := newStreet(t)
	f := s.front("platform", "1")
	putAside := func(event runs.EventID, run chat.RunID) {
		t.Helper()
		_, err := s.queue.Enqueue(t.Context(), runs.Job{Event: event, Run: run, Message: chat.Message{Thread: f.thread, Author: "ann"}})
		if err == nil {
			var lease runs.Lease
			if lease, err = s.queue.Claim(t.Context(), "w"); err == nil {
				err = s.queue.Finish(t.Context(), lease, runs.Result{Next: runs.Dead, Reason: "nobody could"})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	putAside("event-1", "run-1")
	putAside("event-2", "")
	for _, name := range []chat.RunID{"event-1", "event-3", ""} {
		if err := f.bot.Discard(t.Context(), name); !errors.Is(err, bot.ErrNotAside) {
			t.Errorf("to discard %q gives %v", name, err)
		}
	}
	for _, name := range []chat.RunID{"run-1", "event-2"} {
		if err := f.bot.Discard(t.Context(), name); err != nil {
			t.Errorf("to discard %q gives %v", name, err)
		}
		if err := f.bot.Replay(t.Context(), name); !errors.Is(err, chat.ErrUnknownRun) {
			t.Errorf("to replay %q once it is discarded gives %v", name, err)
		}
	}
	putAside("event-4", "")
	if err := f.bot.Replay(t.Context(), "event-4"); err != nil {
		t.Error(err)
	}
	if state, err := s.queue.State(t.Context(), f.thread); err != nil || state.Queued != 1 || state.Head.Event != "event-4" {
		t.Errorf("the thread is %+v, %v", state, err)
	}
}
