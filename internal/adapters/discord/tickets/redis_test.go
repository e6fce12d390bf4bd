package tickets_test

import (
	"testing"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/discord/tickets"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) discord.Tickets { return tickets.OpenRedis(conntest.Connect(t, address)) })
	})
}
