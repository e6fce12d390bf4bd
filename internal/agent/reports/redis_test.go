package reports_test

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestRedis(t *testing.T) { servertest.EachRedis(t, runSuite) }

func runSuite(t *testing.T, address string) {
	t.Helper()
	client := conntest.Connect(t, address)
	testStore(t, func(t *testing.T) Place {
		forget := func() {
			store := reports.OpenRedis(client)
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
		return Place{
			Open: func(*testing.T) reports.Store { return reports.OpenRedis(client) },
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
