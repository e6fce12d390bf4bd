package discord

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// counting is a bot that only takes messages down.
type counting struct {
	chattest.Bot
	taken atomic.Int64
}

func (c *counting) Handle(context.Context, chat.Message, chat.Conversation) error {
	c.taken.Add(1)
	return nil
}

// BenchmarkIntake takes mentions as they come by the gateway, without what the store takes.
func BenchmarkIntake(b *testing.B) {
	store := newKept(b)
	adapter, err := New(Options{Token: "t", Settings: store, Tickets: store, Gateway: &feed{}, Logger: slog.New(slog.DiscardHandler), Servers: map[string][]string{"8": nil}})
	if err != nil {
		b.Fatal(err)
	}
	adapter.self.Store(&self{user: recordedBot, application: recordedBot})
	bot := &counting{}
	adapter.running.Fill(&interact.Handler{Bot: bot})
	n := 0
	for b.Loop() {
		n++
		data := fmt.Appendf(nil, `{"type":0,"id":"%d","channel_id":"7","channel_type":0,"guild_id":"8","content":"<@%s> how do I roll back?","author":{"id":"9"},
			"timestamp":"2026-01-05T00:49:53.676000+00:00","mentions":[{"id":"%s"}],"member":{"roles":[]},"attachments":[],"embeds":[],"components":[]}`, 1000+n, recordedBot, recordedBot)
		if err := adapter.dispatcher.takeDispatch(b.Context(), gateway.Dispatch{Type: "MESSAGE_CREATE", Data: data}); err != nil {
			b.Fatal(err)
		}
	}
	if bot.taken.Load() != int64(n) {
		b.Errorf("%d of %d were taken", bot.taken.Load(), n)
	}
}

// BenchmarkRender renders an answer with all that an answer may hold.
func BenchmarkRender(b *testing.B) {
	answer := chattest.Answer()
	for b.Loop() {
		if _, err := renderPost(chat.Post{Reply: &answer}, look{human: true}); err != nil {
			b.Fatal(err)
		}
	}
}
