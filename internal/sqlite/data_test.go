package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// TestProcessesOpenANewDirectoryAtOnce has several make the tables at the same time.
func TestProcessesOpenANewDirectoryAtOnce(t *testing.T) {
	dir := t.TempDir()
	var group errgroup.Group
	for range 6 {
		group.Go(func() error {
			db, err := sqlite.OpenData(t.Context(), dir)
			if err != nil {
				return err
			}
			_, err = db.ExecContext(t.Context(), `UPDATE groups_version SET version = version + 1`)
			return errors.Join(err, db.Close())
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var version int
	if err := sqlitetest.Open(t, dir).QueryRowContext(t.Context(), `SELECT version FROM groups_version`).Scan(&version); err != nil || version != 7 {
		t.Errorf("version %d, %v; want 7", version, err)
	}
}

func TestADatabaseOfANewerProgramIsRefused(t *testing.T) {
	dir := t.TempDir()
	db, err := sqlite.OpenData(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.OpenData(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "upgrade cairn") {
		t.Errorf("got %v", err)
	}
}

func TestADirectoryThatIsNotThere(t *testing.T) {
	if _, err := sqlite.OpenData(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error")
	}
}

// TestAFailedUpdateChangesNothing also sees that readers can't write.
func TestAFailedUpdateChangesNothing(t *testing.T) {
	db := sqlitetest.Open(t, t.TempDir())
	wanted := errors.New("no")
	err := db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO ticket VALUES ('a', 'b', 1)`)
		return errors.Join(err, wanted)
	})
	if !errors.Is(err, wanted) {
		t.Errorf("Update gives %v", err)
	}
	var count int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM ticket`).Scan(&count); err != nil || count != 0 {
		t.Errorf("%d tickets, %v", count, err)
	}
	if err := db.QueryRowContext(t.Context(), `INSERT INTO ticket VALUES ('a', 'b', 1) RETURNING until`).Scan(&count); err == nil {
		t.Error("a reader wrote")
	}
}
