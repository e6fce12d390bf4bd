package redis_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"cairn/internal/chat"
	"cairn/internal/redis/conn"
	"cairn/internal/runs"
	"cairn/internal/runs/redis"
	"cairn/internal/runs/runstest"
	"cairn/internal/servertest"
)

// server is a runstest.Place: the part of a Redis with one prefix of keys.
type server struct{ address, prefix string }

func connect(t testing.TB, address string) *conn.Client {
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

func (s server) options(t testing.TB, options runs.Options) redis.Options {
	return redis.Options{Options: options, Prefix: s.prefix, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

func (s server) Open(t testing.TB, options runs.Options) runstest.Store {
	t.Helper()
	return s.open(t, options)
}

func (s server) open(t testing.TB, options runs.Options) *redis.Store {
	t.Helper()
	store, err := redis.Open(t.Context(), connect(t, s.address), s.options(t, options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func (s server) Enqueue(t testing.TB, thread chat.ThreadID, body []byte) {
	t.Helper()
	// A worker that claims next finds it by looking through all queues.
	err := connect(t, s.address).RPush(t.Context(), s.prefix+":{"+string(thread)+"}:jobs", fmt.Appendf(nil, "%d %s", time.Now().UnixMilli(), body)).Err()
	if err != nil {
		t.Fatal(err)
	}
}

// places gives places at one address, each with a prefix of its own.
func places(address string) func(t testing.TB) runstest.Place {
	return func(t testing.TB) runstest.Place {
		return server{address, strings.NewReplacer("'", "", " ", "-").Replace(t.Name())}
	}
}

func TestStores(t *testing.T) {
	runstest.Stores(t, places(servertest.Redis(t)))
}

func TestStoresInACluster(t *testing.T) {
	runstest.Stores(t, places("redis+cluster://"+strings.Join(servertest.Cluster(t), ",")))
}

func openRecords(t *testing.T, address string) *redis.Records {
	t.Helper()
	records, err := redis.OpenRecords(connect(t, address), server{address, "records"}.options(t, runs.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestRecords(t *testing.T) {
	address := servertest.Redis(t)
	runstest.Records(t, func(t *testing.T) runs.Records { return openRecords(t, address) })
}

func TestRecordsInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	runstest.Records(t, func(t *testing.T) runs.Records { return openRecords(t, address) })
}
