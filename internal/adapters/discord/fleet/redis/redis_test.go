package redis_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"cairn/internal/adapters/discord/fleet/fleettest"
	"cairn/internal/adapters/discord/fleet/redis"
	"cairn/internal/redis/conn"
	"cairn/internal/servertest"
)

func connect(t *testing.T, address string) *conn.Client {
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
	return client
}

// run has each test use a bot of its own.
func run(t *testing.T, address string) {
	fleettest.Run(t, func(t *testing.T) (fleettest.Store, fleettest.Store) {
		application := rand.Text()
		return redis.Open(connect(t, address), application), redis.Open(connect(t, address), application)
	})
}

func TestStore(t *testing.T) { run(t, servertest.Redis(t)) }

func TestStoreInACluster(t *testing.T) {
	run(t, "redis+cluster://"+strings.Join(servertest.Cluster(t), ","))
}
