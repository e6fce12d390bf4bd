package interact_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

func TestReadReaction(t *testing.T) {
	for emoji, want := range map[string]chat.Verdict{
		"👍": chat.Up, "👍🏽": chat.Up, "+1": chat.Up, "+1::skin-tone-3": chat.Up, "thumbsup": chat.Up, "❤️": chat.Up, "❤": chat.Up, "✔️": chat.Up, "100": chat.Up,
		"👎": chat.Down, "👎🏿": chat.Down, "-1": chat.Down, "thumbsdown::skin-tone-2": chat.Down, "❌": chat.Down, "x": chat.Down,
		"": chat.Unrated, "👀": chat.Unrated, "🏽": chat.Unrated, "eyes": chat.Unrated, "pushpin": chat.Unrated, "up": chat.Unrated,
	} {
		if got := interact.ReadReaction(emoji); got != want {
			t.Errorf("%q says %q, want %q", emoji, got, want)
		}
	}
}

// heard is a Surface that remembers what it was told to do.
type heard struct {
	interact.Surface
	lines []string
	asked []chat.RunID
}

func (h *heard) Tell(_ context.Context, line string) error {
	h.lines = append(h.lines, line)
	return nil
}

func (h *heard) AskReason(_ context.Context, run chat.RunID) error {
	h.asked = append(h.asked, run)
	return nil
}

// rated is a bot that knows one run, which Ann rated down.
type rated struct {
	*drawing
	kept []chat.Rating
}

func (r *rated) ThreadOf(_ context.Context, run chat.RunID) (chat.ThreadID, error) {
	if run != "run-1" {
		return "", chat.ErrUnknownRun
	}
	return "slack:1", nil
}

func (r *rated) RatingsOf(_ context.Context, run chat.RunID) ([]chat.Rating, error) {
	if run != "run-1" {
		return nil, chat.ErrUnknownRun
	}
	return r.kept, nil
}

func (r *rated) Rate(_ context.Context, _ chat.RunID, rating chat.Rating) error {
	r.kept = []chat.Rating{rating}
	return nil
}

// TestWhoMaySayWhyElsewhere has people asked why in another place than the answer's: who rated it
// there may say so, and nobody else.
func TestWhoMaySayWhyElsewhere(t *testing.T) {
	control := interact.NewController(interact.Options{
		Platform: "slack", Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	for _, test := range []struct {
		by    chat.UserID
		about string
		asked int
	}{{"ann", "run-1", 1}, {"ben", "run-1", 0}, {"ann", "run-2", 0}} {
		bot := &rated{drawing: &drawing{}, kept: []chat.Rating{{By: "ann", Verdict: chat.Down, ByReaction: true}}}
		handler, err := interact.NewHandler("Slack", bot)
		if err != nil {
			t.Fatal(err)
		}
		to := &heard{}
		press := interact.Press{
			Verb: interact.SayWhy, About: test.about, By: test.by, To: to, IsHere: func(chat.ThreadID) bool { return false },
			Message: chat.Message{Thread: "slack:direct"},
		}
		if err := control.Press(t.Context(), handler, press); err != nil || len(to.asked) != test.asked || len(to.lines) != 1-test.asked {
			t.Errorf("%s about %s: asked %q, told %q, %v", test.by, test.about, to.asked, to.lines, err)
		}
	}
}
