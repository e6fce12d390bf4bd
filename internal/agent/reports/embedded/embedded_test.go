package embedded_test

import (
	"sync/atomic"
	"testing"
	"time"

	"cairn/internal/agent/reports"
	"cairn/internal/agent/reports/embedded"
	"cairn/internal/agent/reports/reportstest"
	"cairn/internal/sqlite/sqlitetest"
)

func TestStore(t *testing.T) {
	reportstest.Run(t, func(t *testing.T) reportstest.Place {
		dir := t.TempDir()
		var passed atomic.Int64
		return reportstest.Place{
			Open: func(t *testing.T) reports.Store {
				t.Helper()
				store := embedded.Open(sqlitetest.Open(t, dir))
				store.SetClock(func() time.Time { return time.Now().Add(time.Duration(passed.Load())) })
				return store
			},
			Expire: func(*testing.T, string) { passed.Add(int64(reports.Keep)) },
		}
	})
}
