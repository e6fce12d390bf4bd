package embedded_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/runs/runstest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
	"github.com/cairn-bot/cairn/internal/store"
)

// folder is a runstest.Place.
type folder string

func (f folder) Open(t testing.TB, options runs.Options) store.Store {
	t.Helper()
	opened, err := embedded.Open(t.Context(), sqlitetest.Open(t, string(f)), options)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func (f folder) Enqueue(t testing.TB, thread chat.ThreadID, body []byte) {
	t.Helper()
	db := sqlitetest.Open(t, string(f))
	for _, statement := range []string{
		`INSERT INTO job (thread, body, enqueued) VALUES (?1, ?2, 1)`,
		`INSERT INTO thread (thread, claimable) VALUES (?1, ?2 IS NULL) ON CONFLICT DO NOTHING`,
	} {
		if _, err := db.ExecContext(t.Context(), statement, string(thread), body); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStores(t *testing.T) {
	runstest.Stores(t, func(t testing.TB) runstest.Place { return folder(t.TempDir()) })
}

func BenchmarkStores(b *testing.B) {
	runstest.Benchmarks(b, func(t testing.TB) runstest.Place { return folder(t.TempDir()) })
}
