package redis_test

import (
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// TestListsOfRecordsAreCut has a worker come upon runs that nobody remembers any more.
func TestListsOfRecordsAreCut(t *testing.T) {
	own := servertest.OwnRedis(t)
	here := redistest.Place{Address: own.URL, Prefix: "cairn"}
	store, client := here.OpenStore(t, soon), conntest.Connect(t, own.URL)
	kept := runs.Record{ID: "kept", Thread: "t"}
	kept.Move(runs.Done, time.Now(), "it was answered")
	must(t, store.Records().Save(t.Context(), kept))
	lists := []string{"cairn:{*}:runs", "cairn:{*}:runs:done"}
	for _, list := range lists {
		must(t, client.ZAdd(t.Context(), list, goredis.Z{Score: 1, Member: "old"}).Err())
	}
	enqueue(t, store, job("t", "e1"))
	claim(t, store)
	for _, list := range lists {
		if listed, err := client.ZRange(t.Context(), list, 0, -1).Result(); err != nil || !slices.Equal(listed, []string{"kept"}) {
			t.Errorf("in %s are %q, %v", list, listed, err)
		}
		if left, err := client.PTTL(t.Context(), list).Result(); err != nil || left <= 0 {
			t.Errorf("%s lasts for %s, %v", list, left, err)
		}
	}
}
