// Package redistest lets tests of any package keep runs in a Redis.
package redistest

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/runs/runstest"
	"github.com/cairn-bot/cairn/internal/store"
)

// Place is a runstest.Place: the part of a Redis with one prefix of keys.
type Place struct{ Address, Prefix string }

var _ runstest.Place = Place{}

// Places gives places at one address, each with a prefix of its own that begins with
// "cairn-".
func Places(address string) func(t testing.TB) runstest.Place {
	return func(t testing.TB) runstest.Place {
		return Place{address, "cairn-" + strings.NewReplacer("'", "", " ", "-").Replace(t.Name())}
	}
}

// Options are those of the place's stores, which log to the test.
func (p Place) Options(t testing.TB, options runs.Options) redis.Options {
	return redis.Options{Options: options, Prefix: p.Prefix, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

// Open implements runstest.Place.
func (p Place) Open(t testing.TB, options runs.Options) store.Store {
	t.Helper()
	return p.OpenStore(t, options)
}

// OpenStore gives a store that is closed when the test ends.
func (p Place) OpenStore(t testing.TB, options runs.Options) *redis.Store {
	t.Helper()
	opened, err := redis.Open(t.Context(), conntest.Connect(t, p.Address), p.Options(t, options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// Enqueue implements runstest.Place. A worker that claims next finds what it puts there by
// looking through all queues.
func (p Place) Enqueue(t testing.TB, thread chat.ThreadID, body []byte) {
	t.Helper()
	key := p.Prefix + ":{" + string(thread) + "}:jobs"
	if err := conntest.Connect(t, p.Address).RPush(t.Context(), key, fmt.Appendf(nil, "%d %s", time.Now().UnixMilli(), body)).Err(); err != nil {
		t.Fatal(err)
	}
}
