package redis_test

import (
	"strings"
	"testing"
	"time"

	"cairn/internal/agent/reports"
	"cairn/internal/agent/reports/redis"
	"cairn/internal/agent/reports/reportstest"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestStore(t *testing.T) { runSuite(t, servertest.Redis(t)) }

func TestStoreInACluster(t *testing.T) {
	runSuite(t, "redis+cluster://"+strings.Join(servertest.Cluster(t), ","))
}

func runSuite(t *testing.T, address string) {
	t.Helper()
	client := conntest.Connect(t, address)
	reportstest.Run(t, func(t *testing.T) reportstest.Place {
		forget := func() {
			store := redis.Open(client)
			all, err := store.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, report := range all {
				if err := store.Remove(t.Context(), report.Process); err != nil {
					t.Fatal(err)
				}
			}
		}
		forget()
		return reportstest.Place{
			Open: func(*testing.T) reports.Store { return redis.Open(client) },
			Expire: func(t *testing.T, process string) {
				t.Helper()
				key := "cairn:{agents}:report:" + process
				if left, err := client.PTTL(t.Context(), key).Result(); err != nil || left <= 0 || left > reports.Keep {
					t.Errorf("the report is kept for %s, %v", left, err)
				}
				if err := client.PExpireAt(t.Context(), key, time.Now().Add(-time.Second)).Err(); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
