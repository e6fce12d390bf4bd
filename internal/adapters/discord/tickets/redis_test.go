package tickets_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/discord/tickets"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) discord.Tickets { return tickets.OpenRedis(conntest.Connect(t, address)) })
	})
}
