package embedded_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/internal/session"
	"cairn/internal/session/embedded"
	"cairn/internal/session/sessiontest"
)

func open(t *testing.T, dir string, keep time.Duration) *embedded.Store {
	t.Helper()
	store, err := embedded.Open(context.Background(), dir, keep)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	sessiontest.Run(t, func(t *testing.T) session.Store { return open(t, dir, 0) })
}

func change(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "sessions.db"))
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

func saveOne(t *testing.T, dir string) {
	t.Helper()
	store := open(t, dir, 0)
	if err := store.Save(t.Context(), session.Session{Thread: "t", Flow: "answer"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUnusedSessionsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	saveOne(t, dir)
	change(t, dir, `UPDATE session SET updated = updated - 3600`)
	store := open(t, dir, time.Minute)
	defer store.Close()
	got, err := store.Load(t.Context(), "t")
	if err != nil || got.Flow != "" {
		t.Errorf("got %+v, %v after its time", got, err)
	}
}

func TestAnUnknownVersionIsRefused(t *testing.T) {
	dir := t.TempDir()
	saveOne(t, dir)
	change(t, dir, `UPDATE session SET body = '{"version":99}'`)
	store := open(t, dir, 0)
	defer store.Close()
	if _, err := store.Load(t.Context(), "t"); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("got %v, want an error that names version 99", err)
	}
}
