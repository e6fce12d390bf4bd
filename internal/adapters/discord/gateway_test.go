package discord

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// TestWithoutMessageContent has the app hear by a real connection, without the privileged
// intent: what does not mention the bot comes without a word.
func TestWithoutMessageContent(t *testing.T) {
	var client *gateway.Client
	w := newTeam(t, func(options *Options) {
		shards := fleet.NewMemory()
		var err error
		client, err = gateway.New(gateway.Options{
			Token: options.Token, Intents: Intents(false), Discover: Discover(options.Client, options.Token),
			Shards: shards, Starts: shards, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		options.Gateway, options.HearsAll = client, false
	})
	w.bot.On("how do I roll back?", chattest.Asks(chattest.Question()))
	heard := func(n int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := w.Await(ctx, func() bool { return len(w.bot.Messages()) >= n && w.answered() >= n }); err != nil {
			t.Fatalf("%d messages reached the bot, want %d", len(w.bot.Messages()), n)
		}
		w.clock.Advance(20 * time.Second)
	}
	w.Gateway().Await("a connection", func(s gatewaytest.State) bool { return len(s.Connected) > 0 })
	asked := w.Say(w.ann, w.general, bot+"hello")
	heard(1)
	w.Say(w.ann, asked.ID, "what is not heard?")
	w.Say(w.ann, asked.ID, bot+"how do I roll back?")
	heard(2)
	question, _ := w.Last(asked.ID)
	w.Say(w.ann, asked.ID, "The database, unheard")
	w.Reply(w.ann, question.ID, "The database")
	heard(3)
	golden(t, "unheard", w.Show(w.general))
}

// answered counts what the bot said.
func (w *team) answered() int {
	n := 0
	for _, channel := range append(w.Threads(w.general), w.general) {
		for _, message := range w.Messages(channel) {
			if message.Author == discordtest.Bot {
				n++
			}
		}
	}
	return n
}
