package slack

import (
	"context"
	"testing"
	"time"

	"cairn/internal/adapters/slack/slacktest"
	"cairn/internal/chat"
	"cairn/internal/chat/chattest"
)

// Seen gives what notifications show of the bot's messages: all of a short one.
func (w *team) Seen(_ *testing.T, thread chat.ThreadID) []string {
	var texts []string
	for _, message := range w.Messages(w.general) {
		at := place{team: slacktest.Team, channel: w.general, root: message.ThreadTS}
		if message.User == slacktest.Bot && !message.Deleted && at.thread() == thread {
			texts = append(texts, message.Text)
		}
	}
	return texts
}

func TestPoster(t *testing.T) {
	chattest.TestPoster(t, func(t *testing.T) (chattest.PosterRoom, chat.Poster) {
		w := newTeam(t, false)
		root := w.ann.Says(w.general, "", "hello")
		thread := place{team: slacktest.Team, channel: w.general, root: root}.thread()
		again, err := New(w.adapter.options)
		if err != nil {
			t.Fatal(err)
		}
		again.clock.now = w.clock.Now
		again.clock.wait = func(_ context.Context, d time.Duration) error { w.clock.Advance(d); return nil }
		return chattest.PosterRoom{Poster: w.adapter, Reader: w, Thread: thread, To: chat.MessageID(root)}, again
	})
}
