package quota_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/quota/quotatest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	quotatest.Run(t, func(t *testing.T) quotatest.Place {
		dir := t.TempDir()
		var passed atomic.Int64
		return quotatest.Place{
			Open: func(t *testing.T) quota.Counts {
				t.Helper()
				store := quota.OpenSQLite(sqlitetest.Open(t, dir))
				store.SetClock(func() time.Time { return time.Now().Add(time.Duration(passed.Load())) })
				return store
			},
			Pass: func(_ *testing.T, by time.Duration) { passed.Add(int64(by)) },
		}
	})
}
