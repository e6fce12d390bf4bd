// Package embedded keeps the table of groups in one SQLite file, with no server.
package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"cairn/internal/access"
	"cairn/internal/sqlite"
)

const schema = `
CREATE TABLE IF NOT EXISTS groups (
	source TEXT PRIMARY KEY,
	body   BLOB NOT NULL    -- see access.EncodeTable
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS version (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL -- counts the changes
);
INSERT OR IGNORE INTO version VALUES (1, 1);`

// Store is an access.Store in one file.
type Store struct{ db *sql.DB }

var _ access.Store = (*Store)(nil)

// Open opens or makes the table of a data directory.
func Open(ctx context.Context, dir string) (*Store, error) {
	file := filepath.Join(dir, "access.db")
	db, err := sqlite.OpenStore(file, "_pragma=synchronous(full)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open the table of groups %s: %w", file, err), db.Close())
	}
	return &Store{db: db}, nil
}

// SaveGroups implements access.Store.
func (s *Store) SaveGroups(ctx context.Context, source string, table access.Table) error {
	body, err := access.EncodeTable(table)
	if err != nil {
		return fmt.Errorf("save the groups of %s: %w", source, err)
	}
	if err := s.replace(ctx, source, body, len(table) == 0); err != nil {
		return fmt.Errorf("save the groups of %s: %w", source, err)
	}
	return nil
}

func (s *Store) replace(ctx context.Context, source string, body []byte, remove bool) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit there is nothing to roll back
	var before []byte
	err = tx.QueryRowContext(ctx, "SELECT body FROM groups WHERE source = ?", source).Scan(&before)
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
	if _, err := tx.ExecContext(ctx, "UPDATE version SET version = version + 1"); err != nil {
		return err
	}
	return tx.Commit()
}

// LoadGroups implements access.Store.
func (s *Store) LoadGroups(ctx context.Context, known int64) (map[string]access.Table, int64, error) {
	tables, version, err := s.load(ctx, known)
	if err != nil {
		return nil, 0, fmt.Errorf("load groups: %w", err)
	}
	return tables, version, nil
}

func (s *Store) load(ctx context.Context, known int64) (map[string]access.Table, int64, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, err
	}
	defer tx.Rollback() // ends the read
	var version int64
	if err := tx.QueryRowContext(ctx, "SELECT version FROM version").Scan(&version); err != nil || version == known {
		return nil, version, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT source, body FROM groups")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	tables := make(map[string]access.Table)
	for rows.Next() {
		var source string
		var body []byte
		if err := rows.Scan(&source, &body); err != nil {
			return nil, 0, err
		}
		if tables[source], err = access.DecodeTable(body); err != nil {
			return nil, 0, fmt.Errorf("of %s: %w", source, err)
		}
	}
	return tables, version, rows.Err()
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }
