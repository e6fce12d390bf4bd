package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-bot/cairn/internal/sqlite"
)

// TestQueriesAreLoggedWithoutAServer asks over an index in the data directory: a row is kept of
// each answer, with the question's text only where that is asked for.
func TestQueriesAreLoggedWithoutAServer(t *testing.T) {
	pages, data := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(pages, "leave.md"), []byte("# Leave\n\nEverybody has 28 days of leave a year.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	execute := func(args ...string) {
		t.Helper()
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if code := run(t.Context(), append(args, "--data", data), stdio{In: os.Stdin, Out: out, Err: out}); code != exitOK {
			said, err := os.ReadFile(out.Name())
			t.Fatalf("%q ended with %d: %s, %v", args, code, said, err)
		}
	}
	execute("ingest", pages)
	execute("ask", "how many days of leave do I have?")
	t.Setenv("CAIRN_SEARCH_QUERY_LOG", "plain")
	execute("ask", "how many days of leave do we have?")
	t.Setenv("CAIRN_SEARCH_QUERY_LOG", "off")
	execute("ask", "how many days of leave do they have?")
	db, err := sqlite.OpenData(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows, texts, hashes, shown int
	err = db.QueryRowContext(t.Context(), "SELECT count(*), count(question), count(DISTINCT question_hash), sum(shown) FROM query_log").Scan(&rows, &texts, &hashes, &shown)
	if err != nil || rows != 2 || texts != 1 || hashes != 2 || shown != 2 {
		t.Errorf("%d rows, %d with their text, %d hashes, %d documents shown, %v", rows, texts, hashes, shown, err)
	}
}
