package embedded_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/session/sessiontest"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func open(t testing.TB, db *sqlite.DB, keep time.Duration) *embedded.Store {
	t.Helper()
	store, err := embedded.Open(t.Context(), db, runs.Options{Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestSessions(t *testing.T) {
	dir := t.TempDir()
	sessiontest.Run(t, func(t *testing.T) session.Store { return open(t, sqlitetest.Open(t, dir), 0).Sessions() })
}

func TestTies(t *testing.T) {
	store := open(t, sqlitetest.Open(t, t.TempDir()), 0)
	now := time.Now()
	store.SetClock(func() time.Time { return now })
	sessiontest.Ties(t, store.Sessions())
}

// saveOne gives a database with one session, which the statement changes.
func saveOne(t *testing.T, change string) *sqlite.DB {
	t.Helper()
	db := sqlitetest.Open(t, t.TempDir())
	if err := open(t, db, 0).Sessions().Save(t.Context(), session.Session{Thread: "t", Flow: "answer"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestUnusedSessionsAreForgotten(t *testing.T) {
	store := open(t, saveOne(t, `UPDATE session SET updated = updated - 3600`), time.Minute)
	got, err := store.Sessions().Load(t.Context(), "t")
	if err != nil || got.Flow != "" {
		t.Errorf("got %+v, %v after its time", got, err)
	}
}

// TestAStoreForgetsWhileItIsOpen leaves a store open for longer than sessions are kept.
func TestAStoreForgetsWhileItIsOpen(t *testing.T) {
	store := open(t, sqlitetest.Open(t, t.TempDir()), 24*time.Hour)
	now := time.Now()
	store.SetClock(func() time.Time { return now })
	for _, thread := range []chat.ThreadID{"web:used", "web:unused"} {
		saved := session.Session{Thread: thread}
		saved.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: "x"})
		if err := store.Sessions().Save(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		now = now.Add(12 * time.Hour)
		if got, err := store.Sessions().Load(t.Context(), "web:used"); err != nil || len(got.Turns) != 1 {
			t.Fatalf("what is used gives %+v, %v", got, err)
		}
	}
	if got, err := store.Sessions().Load(t.Context(), "web:unused"); err != nil || len(got.Turns) != 0 {
		t.Errorf("after its time it gives %+v, %v", got, err)
	}
	if err := store.Sessions().Save(t.Context(), session.Session{Thread: "web:other"}); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Sessions().Threads(t.Context(), "web", "ann", 10); err != nil || len(got) != 1 || got[0].Thread != "web:used" {
		t.Errorf("threads %+v, %v", got, err)
	}
}

func TestASessionOfAnUnknownVersionIsRefused(t *testing.T) {
	store := open(t, saveOne(t, `UPDATE session SET body = '{"version":99}'`), 0)
	if _, err := store.Sessions().Load(t.Context(), "t"); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("got %v, want an error that names version 99", err)
	}
}
