package embedded_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/internal/chat"
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

func TestTies(t *testing.T) {
	store := open(t, t.TempDir(), 0)
	defer store.Close()
	now := time.Now()
	store.SetClock(func() time.Time { return now })
	sessiontest.Ties(t, store)
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

// TestAStoreForgetsWhileItIsOpen leaves a store open for longer than sessions are kept.
func TestAStoreForgetsWhileItIsOpen(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir, 24*time.Hour)
	defer store.Close()
	now := time.Now()
	store.SetClock(func() time.Time { return now })
	for _, thread := range []chat.ThreadID{"web:used", "web:unused"} {
		saved := session.Session{Thread: thread}
		saved.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: "x"})
		if err := store.Save(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		now = now.Add(12 * time.Hour)
		if got, err := store.Load(t.Context(), "web:used"); err != nil || len(got.Turns) != 1 {
			t.Fatalf("what is used gives %+v, %v", got, err)
		}
	}
	if got, err := store.Load(t.Context(), "web:unused"); err != nil || len(got.Turns) != 0 {
		t.Errorf("after its time it gives %+v, %v", got, err)
	}
	if err := store.Save(t.Context(), session.Session{Thread: "web:other"}); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Threads(t.Context(), "web", "ann", 10); err != nil || len(got) != 1 || got[0].Thread != "web:used" {
		t.Errorf("threads %+v, %v", got, err)
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
