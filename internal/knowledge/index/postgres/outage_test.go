package postgres

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestStatementsHaveALimit(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	options.Statement = 12345 * time.Millisecond
	x := mustOpen(t, options)
	var limit string
	if err := x.read.QueryRow(t.Context(), "SHOW statement_timeout").Scan(&limit); err != nil || limit != "12345ms" {
		t.Errorf("statements may take %q, %v", limit, err)
	}
}

// TestStatementsThatTakeTooLongAreExplained has the server end a search that waits for a
// lock, as it does when its time is over.
func TestStatementsThatTakeTooLongAreExplained(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	options.Statement = time.Hour
	x := mustOpen(t, options)
	mustWrite(t, x, index.Batch{Put: []index.Entry{indextest.TextEntry("a", "alpha")}})
	blocker, err := pgx.Connect(t.Context(), options.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := blocker.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	tx, err := blocker.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE cairn.page IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	searched := make(chan error, 1)
	go func() {
		_, err := x.Search(t.Context(), indextest.Words("alpha"))
		searched <- err
	}()
	const end = `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
	for ended := 0; ended == 0; {
		if err := tx.QueryRow(t.Context(), end).Scan(&ended); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-searched; err == nil || !strings.Contains(err.Error(), "took too long") {
		t.Errorf("search behind a lock: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if indextest.CountHits(t, x, "alpha") != 1 {
		t.Error("not found after the lock")
	}
}

// copyDatabase gives the address of a copy, removed when the test ends. Nobody may be
// connected to the database.
func copyDatabase(t *testing.T, address string) string {
	t.Helper()
	copied := change(t, address, func(u *url.URL) { u.Path += "_copy" })
	name := func(address string) string {
		return strings.TrimPrefix(change(t, address, func(u *url.URL) { *u = url.URL{Path: u.Path} }), "/")
	}
	execute(t, address, "CREATE DATABASE "+name(copied)+" TEMPLATE "+name(address))
	t.Cleanup(func() { execute(t, address, "DROP DATABASE "+name(copied)+" WITH (FORCE)") })
	return copied
}

// TestReplicaIsSearched has a copy of the database stand in for a replica that is behind.
func TestReplicaIsSearched(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	writer := mustOpen(t, options)
	mustWrite(t, writer, index.Batch{Put: []index.Entry{indextest.TextEntry("a", "alpha")}})
	embedAll(t, writer)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	replica := copyDatabase(t, options.URL)
	writer = mustOpen(t, options)
	mustWrite(t, writer, index.Batch{Put: []index.Entry{indextest.TextEntry("a", "gamma"), indextest.TextEntry("b", "alpha")}})
	embedAll(t, writer)

	options.ReadURL, options.ReadOnly = replica, true
	reader := mustOpen(t, options)
	query := indextest.Words("alpha gamma")
	query.Vector = hashVector("alpha", options.Dimension)
	found := mustSearch(t, reader, query)
	if len(found.Lexical) != 1 || len(found.Dense) != 1 || found.Lexical[0].Passage != "a#0" || found.Dense[0].Passage != "a#0" {
		t.Errorf("found %+v, want what the replica has", found)
	}
	if err := reader.LogQuery(t.Context(), index.QueryRecord{At: time.Now(), Run: "r"}); err != nil {
		t.Errorf("log: %v", err)
	}
	execute(t, replica, "ALTER TABLE cairn.meta DROP COLUMN cleared")
	if _, err := reader.Search(t.Context(), query); !errors.Is(err, index.ErrSchema) {
		t.Errorf("search a replica with an older schema: %v", err)
	}
	options.ReadURL = change(t, replica, func(u *url.URL) { u.Host = closedPort(t) })
	wantOpenError(t, options, nil, "read replica: PostgreSQL can't be reached")
}
