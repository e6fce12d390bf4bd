package redis_test

import (
	"strings"
	"testing"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/discord/tickets/redis"
	"cairn/internal/adapters/discord/tickets/ticketstest"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestStore(t *testing.T) {
	address := servertest.Redis(t)
	ticketstest.Run(t, func(t *testing.T) discord.Tickets { return redis.Open(conntest.Connect(t, address)) })
}

func TestStoreInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	ticketstest.Run(t, func(t *testing.T) discord.Tickets { return redis.Open(conntest.Connect(t, address)) })
}
