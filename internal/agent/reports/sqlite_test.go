package reports_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	testStore(t, func(t *testing.T) Place {
		dir := t.TempDir()
		var passed atomic.Int64
		return Place{
			Open: func(t *testing.T) reports.Store {
				t.Helper()
				store := reports.OpenSQLite(sqlitetest.Open(t, dir))
				store.SetClock(func() time.Time { return time.Now().Add(time.Duration(passed.Load())) })
				return store
			},
			Expire: func(*testing.T, string) { passed.Add(int64(reports.Keep)) },
		}
	})
}
