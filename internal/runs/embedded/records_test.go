package embedded_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/runstest"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
	"github.com/cairn-bot/cairn/internal/store"
)

func openRecords(t *testing.T, db *sqlite.DB, keep time.Duration) store.Records {
	t.Helper()
	return open(t, db, keep).Records()
}

func changeRecords(t *testing.T, db *sqlite.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestRecords(t *testing.T) {
	dir := t.TempDir()
	runstest.Records(t, func(t *testing.T) runs.Records { return openRecords(t, sqlitetest.Open(t, dir), 0) })
}

func TestRecordsAreForgottenWithTheirRatings(t *testing.T) {
	db := sqlitetest.Open(t, t.TempDir())
	first := openRecords(t, db, 0)
	for _, err := range []error{
		first.Save(t.Context(), runs.Record{ID: "run"}),
		first.Rate(t.Context(), "run", chat.Rating{By: "ann", Verdict: chat.Up}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	changeRecords(t, db, `UPDATE record SET updated = updated - 3600`)
	store := openRecords(t, db, time.Minute)
	if _, err := store.Load(t.Context(), "run"); !errors.Is(err, chat.ErrUnknownRun) {
		t.Errorf("after its time Load gives %v", err)
	}
	if err := store.Save(t.Context(), runs.Record{ID: "run"}); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Load(t.Context(), "run"); err != nil || len(got.Ratings) != 0 {
		t.Errorf("got %+v, %v: want a record with no ratings", got, err)
	}
}

func TestARecordOfAnUnknownVersionIsRefused(t *testing.T) {
	db := sqlitetest.Open(t, t.TempDir())
	store := openRecords(t, db, 0)
	if err := store.Save(t.Context(), runs.Record{ID: "run"}); err != nil {
		t.Fatal(err)
	}
	changeRecords(t, db, `UPDATE record SET body = '{"version":99}'`)
	if _, err := store.Load(t.Context(), "run"); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("got %v, want an error that names version 99", err)
	}
}
