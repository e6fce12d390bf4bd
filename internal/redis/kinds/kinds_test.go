package kinds_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"cairn/internal/chat"
	"cairn/internal/redis/conn"
	"cairn/internal/runs"
	redisruns "cairn/internal/runs/redis"
	"cairn/internal/runs/runstest"
	"cairn/internal/servertest"
	"cairn/internal/session"
	redissessions "cairn/internal/session/redis"
	"cairn/internal/session/sessiontest"
)

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

// place is a runstest.Place: the part of a Redis with one prefix of keys.
type place struct{ address, prefix string }

func (p place) options(t testing.TB, options runs.Options) redisruns.Options {
	return redisruns.Options{Options: options, Prefix: p.prefix, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

func (p place) Open(t testing.TB, options runs.Options) runstest.Store {
	t.Helper()
	store, err := redisruns.Open(t.Context(), connect(t, p.address), p.options(t, options))
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

func (p place) Enqueue(t testing.TB, thread chat.ThreadID, body []byte) {
	t.Helper()
	key := p.prefix + ":{" + string(thread) + "}:jobs"
	if err := connect(t, p.address).RPush(t.Context(), key, fmt.Appendf(nil, "%d %s", time.Now().UnixMilli(), body)).Err(); err != nil {
		t.Fatal(err)
	}
}

// suites runs all suites of what is kept in Redis. All keys begin with "cairn".
func suites(t *testing.T, address string) {
	t.Run("runs", func(t *testing.T) {
		runstest.Stores(t, func(t testing.TB) runstest.Place {
			return place{address, "cairn-" + strings.NewReplacer("'", "", " ", "-").Replace(t.Name())}
		})
	})
	t.Run("records", func(t *testing.T) {
		runstest.Records(t, func(t *testing.T) runs.Records {
			records, err := redisruns.OpenRecords(connect(t, address), place{address, "cairn-records"}.options(t, runs.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			return records
		})
	})
	t.Run("sessions", func(t *testing.T) {
		sessiontest.Run(t, func(t *testing.T) session.Store {
			return redissessions.Open(connect(t, address), redissessions.Options{})
		})
	})
}

func TestSentinels(t *testing.T) {
	t.Parallel()
	suites(t, servertest.Sentinels(t, "").URL)
}

func TestValkey(t *testing.T) {
	t.Parallel()
	suites(t, servertest.Valkey(t).URL)
}

// rights are those that docs/redis.md gives the bot's user.
const rights = "on >hush ~cairn* &cairn* +@read +@write +@pubsub +@scripting +@connection +@transaction +info +time"

func TestEncryptedWithAUser(t *testing.T) {
	t.Parallel()
	settings := append([]string{"--user", "default", "off", "--user", "cairn"}, strings.Fields(rights)...)
	server, _ := servertest.EncryptedRedis(t, settings...)
	suites(t, strings.Replace(server.URL, "rediss://", "rediss://cairn:hush@", 1))
}
