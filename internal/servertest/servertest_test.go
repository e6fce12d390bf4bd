package servertest_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"cairn/internal/servertest"
)

func TestPostgresDatabasesAreEmptyAndHavePgvector(t *testing.T) {
	for range 2 {
		connection, err := pgx.Connect(t.Context(), servertest.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"CREATE TABLE mine (a int)", "CREATE EXTENSION vector", "SELECT '[1,2]'::halfvec"} {
			if _, err := connection.Exec(t.Context(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if err := connection.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func client(t *testing.T, address string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(options)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestRedisDatabasesAreApart(t *testing.T) {
	one, other := client(t, servertest.Redis(t)), client(t, servertest.Redis(t))
	if err := one.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if size, err := other.DBSize(t.Context()).Result(); err != nil || size != 0 {
		t.Errorf("the other database holds %d keys, %v", size, err)
	}
}

func TestOwnRedisKeepsItsDataOverAKill(t *testing.T) {
	server := servertest.OwnRedis(t)
	c := client(t, server.URL)
	if err := c.ConfigSet(t.Context(), "appendfsync", "always").Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if err := c.Set(t.Context(), "key", want, 0).Err(); err != nil {
			t.Fatal(err)
		}
		server.Kill()
		if err := c.Ping(t.Context()).Err(); err == nil {
			t.Error("the server answers after its death")
		}
		server.Start()
		if got, err := c.Get(t.Context(), "key").Result(); err != nil || got != want {
			t.Errorf("after the kill: %q, %v, want %q", got, err, want)
		}
	}
}

func TestClusterSpreadsKeys(t *testing.T) {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: servertest.Cluster(t)})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := c.Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var nodes atomic.Int32
	err := c.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		nodes.Add(1)
		return node.Ping(ctx).Err()
	})
	if err != nil || nodes.Load() != 3 {
		t.Errorf("%d nodes, %v", nodes.Load(), err)
	}
}
