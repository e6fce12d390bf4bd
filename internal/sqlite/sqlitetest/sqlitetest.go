// Package sqlitetest opens databases of data directories for tests.
package sqlitetest

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/sqlite"
)

// Open opens the database of a directory, and closes it when the test ends.
func Open(t testing.TB, dir string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.OpenData(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
