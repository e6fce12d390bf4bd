package access

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/sqlite"
)

// SQLite is an Store in the database of a data directory.
type SQLite struct{ db *sqlite.DB }

var _ Store = (*SQLite)(nil)

// OpenSQLite returns the table in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db: db} }

// SaveGroups implements Store.
func (s *SQLite) SaveGroups(ctx context.Context, source string, table Table) error {
	body, err := EncodeTable(table)
	if err != nil {
		return fmt.Errorf("save the groups of %s: %w", source, err)
	}
	if err := s.replace(ctx, source, body, len(table) == 0); err != nil {
		return fmt.Errorf("save the groups of %s: %w", source, err)
	}
	return nil
}

func (s *SQLite) replace(ctx context.Context, source string, body []byte, remove bool) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		var before []byte
		err := tx.QueryRowContext(ctx, "SELECT body FROM groups WHERE source = ?", source).Scan(&before)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if known := err == nil; known && bytes.Equal(before, body) || !known && remove {
			return nil
		}
		change, arguments := "INSERT OR REPLACE INTO groups VALUES (?, ?)", []any{source, body}
		if remove {
			change, arguments = "DELETE FROM groups WHERE source = ?", arguments[:1]
		}
		if _, err := tx.ExecContext(ctx, change, arguments...); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE groups_version SET version = version + 1")
		return err
	})
}

// LoadGroups implements Store.
func (s *SQLite) LoadGroups(ctx context.Context, known int64) (map[string]Table, int64, error) {
	tables, version, err := s.load(ctx, known)
	if err != nil {
		return nil, 0, fmt.Errorf("load groups: %w", err)
	}
	return tables, version, nil
}

// load reads the version first: groups that change in between are read again by whoever finds
// the version changed.
func (s *SQLite) load(ctx context.Context, known int64) (map[string]Table, int64, error) {
	var version int64
	err := s.db.QueryRowContext(ctx, "SELECT version FROM groups_version").Scan(&version)
	if err != nil || version == known {
		return nil, version, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT source, body FROM groups")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	tables := make(map[string]Table)
	for rows.Next() {
		var source string
		var body []byte
		if err := rows.Scan(&source, &body); err != nil {
			return nil, 0, err
		}
		if tables[source], err = DecodeTable(body); err != nil {
			return nil, 0, fmt.Errorf("of %s: %w", source, err)
		}
	}
	return tables, version, rows.Err()
}
