package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// TestAStatementIsReadWhileItRunsAgain reads the rows of a statement while the same one gives
// others to the same connection.
func TestAStatementIsReadWhileItRunsAgain(t *testing.T) {
	db := sqlitetest.Open(t, t.TempDir())
	const query = "WITH RECURSIVE n(i) AS (VALUES(?) UNION ALL SELECT i+1 FROM n WHERE i < 5) SELECT i FROM n"
	var got []int
	err := db.Update(t.Context(), func(tx *sql.Tx) error {
		for round := range 3 {
			outer, err := tx.QueryContext(t.Context(), query, 1+round)
			if err != nil {
				return err
			}
			for outer.Next() {
				var from, last int
				if err := outer.Scan(&from); err != nil {
					return err
				}
				inner, err := tx.QueryContext(t.Context(), query, from)
				if err != nil {
					return err
				}
				for inner.Next() {
					if err := inner.Scan(&last); err != nil {
						return err
					}
				}
				if err := errors.Join(inner.Err(), inner.Close()); err != nil {
					return err
				}
				got = append(got, from*10+last)
			}
			if err := errors.Join(outer.Err(), outer.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if want := []int{15, 25, 35, 45, 55, 25, 35, 45, 55, 35, 45, 55}; err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v; want %v", got, err, want)
	}
}

// TestStatementsFollowTheirTables has more statements than are kept, and a table that changes
// between two uses of one.
func TestStatementsFollowTheirTables(t *testing.T) {
	db := sqlitetest.Open(t, t.TempDir())
	execute := func(statement string, arguments ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	execute("CREATE TABLE x (a INTEGER)")
	const insert = "INSERT INTO x (a) VALUES (?)"
	for i := range 600 {
		execute(insert, i)
		execute(fmt.Sprintf("UPDATE x SET a = a + 1 WHERE a = %d", i))
	}
	execute("ALTER TABLE x ADD COLUMN b INTEGER NOT NULL DEFAULT 7")
	execute(insert, 1000)
	var rows, sum int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*), sum(b) FROM x").Scan(&rows, &sum); err != nil || rows != 601 || sum != 7*601 {
		t.Errorf("%d rows, sum %d, %v", rows, sum, err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO nothing VALUES (1)"); err == nil {
		t.Error("a table that is not there takes rows")
	}
}
