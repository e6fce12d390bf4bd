package servertest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/servertest"
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

func TestOwnRedisKeepsItsDataOverItsEnds(t *testing.T) {
	server := servertest.OwnRedis(t)
	c := client(t, server.URL)
	if err := c.ConfigSet(t.Context(), "appendfsync", "always").Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if err := c.Set(t.Context(), "key", want, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if want == "one" {
			server.Kill()
		} else {
			server.ShutDown()
		}
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

func TestValkey(t *testing.T) {
	c := client(t, servertest.Valkey(t, "--maxmemory", "100mb").URL)
	info, err := c.InfoMap(t.Context(), "server", "memory").Result()
	if err != nil || info["Server"]["server_name"] != "valkey" || info["Memory"]["maxmemory"] != "104857600" {
		t.Errorf("it says %v, %v", info, err)
	}
}

func TestEncryptedRedisTakesTLSAlone(t *testing.T) {
	server, _ := servertest.EncryptedRedis(t)
	plain, _, _ := strings.Cut(strings.Replace(server.URL, "rediss", "redis", 1), "?")
	if err := client(t, plain).Ping(t.Context()).Err(); err == nil {
		t.Error("it answers without TLS")
	}
}

func TestSentinelsFailOver(t *testing.T) {
	watched := servertest.Sentinels(t, "")
	addresses, _, _ := strings.Cut(strings.TrimPrefix(watched.URL, "redis+sentinel://"), "/")
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: servertest.MasterName, SentinelAddrs: strings.Split(addresses, ",")})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if copies, err := c.Wait(t.Context(), 1, time.Minute).Result(); err != nil || copies != 1 {
		t.Fatalf("%d replicas have it, %v", copies, err)
	}
	watched.Data[0].Kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for c.Set(ctx, "other", "value", 0).Err() != nil && ctx.Err() == nil {
	}
	if got, err := c.Get(ctx, "key").Result(); err != nil || got != "value" {
		t.Errorf("after the failover: %q, %v", got, err)
	}
}
