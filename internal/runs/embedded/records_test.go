package embedded_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/runs/embedded"
	"cairn/internal/runs/runstest"
)

func openRecords(t *testing.T, dir string, keep time.Duration) *embedded.Records {
	t.Helper()
	store, err := embedded.OpenRecords(t.Context(), dir, keep)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestRecords(t *testing.T) {
	dir := t.TempDir()
	runstest.Records(t, func(t *testing.T) runs.Records { return openRecords(t, dir, 0) })
}

func changeRecords(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "records.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsAreForgottenWithTheirRatings(t *testing.T) {
	dir := t.TempDir()
	first := openRecords(t, dir, 0)
	for _, err := range []error{
		first.Save(t.Context(), runs.Record{ID: "run"}),
		first.Rate(t.Context(), "run", chat.Rating{By: "ann", Verdict: chat.Up}),
		first.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	changeRecords(t, dir, `UPDATE record SET updated = updated - 3600`)
	store := openRecords(t, dir, time.Minute)
	defer store.Close()
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
	dir := t.TempDir()
	store := openRecords(t, dir, 0)
	defer store.Close()
	if err := store.Save(t.Context(), runs.Record{ID: "run"}); err != nil {
		t.Fatal(err)
	}
	changeRecords(t, dir, `UPDATE record SET body = '{"version":99}'`)
	if _, err := store.Load(t.Context(), "run"); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("got %v, want an error that names version 99", err)
	}
}
