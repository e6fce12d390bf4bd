package tickets_test

import (
	"strings"
	"testing"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/discord/tickets"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	address := servertest.Redis(t)
	testStore(t, func(t *testing.T) discord.Tickets { return tickets.OpenRedis(conntest.Connect(t, address)) })
}

func TestRedisInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	testStore(t, func(t *testing.T) discord.Tickets { return tickets.OpenRedis(conntest.Connect(t, address)) })
}
