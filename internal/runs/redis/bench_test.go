package redis_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/runs/runstest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func BenchmarkStores(b *testing.B) {
	address := servertest.Redis(b)
	runstest.Benchmarks(b, redistest.Places(address))
}

func BenchmarkCluster(b *testing.B) {
	runstest.Benchmarks(b, redistest.Places(cluster(b)))
}

// BenchmarkStepOnServer measures what one step costs the server, as the server counts it.
func BenchmarkStepOnServer(b *testing.B) {
	own := servertest.OwnRedis(b)
	store, client := redistest.Place{Address: own.URL, Prefix: "p"}.OpenStore(b, runs.Options{}), conntest.Connect(b, own.URL)
	enqueue(b, store, job("t", "e"))
	journal := store.Journal(claim(b, store))
	must(b, journal.Save(b.Context(), "run", nil)) // the server knows the script
	must(b, client.ConfigResetStat(b.Context()).Err())
	checkpoint := make([]byte, 2048)
	for b.Loop() {
		journal.Append(runs.Event{Run: "run", Kind: "step", Body: []byte(`{"node":"search"}`)})
		must(b, journal.Save(b.Context(), "run", checkpoint))
	}
	must(b, client.EachServer(b.Context(), func(ctx context.Context, server *redis.Client) error {
		stats, err := server.Info(ctx, "commandstats").Result()
		_, line, _ := strings.Cut(stats, "cmdstat_evalsha:")
		_, line, _ = strings.Cut(line, "usec_per_call=")
		perCall, _, _ := strings.Cut(line, ",")
		if micros, parseErr := strconv.ParseFloat(perCall, 64); parseErr == nil {
			b.ReportMetric(micros, "server-µs/step")
		}
		return err
	}))
}
