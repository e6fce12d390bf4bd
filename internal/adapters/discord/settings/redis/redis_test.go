package redis_test

import (
	"strings"
	"testing"

	"cairn/internal/adapters/discord/settings/redis"
	"cairn/internal/adapters/discord/settings/settingstest"
	"cairn/internal/redis/conn"
	"cairn/internal/servertest"
)

func connect(t *testing.T, address string) *redis.Store {
	t.Helper()
	client, err := conn.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return redis.Open(client)
}

func TestStore(t *testing.T) {
	address := servertest.Redis(t)
	settingstest.Run(t, func(t *testing.T) settingstest.Store { return connect(t, address) })
}

func TestStoreInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	settingstest.Run(t, func(t *testing.T) settingstest.Store { return connect(t, address) })
}
