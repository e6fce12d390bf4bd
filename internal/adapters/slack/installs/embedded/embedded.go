// Package embedded keeps the installs of the Slack app in one SQLite file, with no server.
package embedded

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cairn/internal/adapters/slack"
	"cairn/internal/sqlite"
)

const schema = `
CREATE TABLE IF NOT EXISTS install (
	id     TEXT PRIMARY KEY,
	sealed BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (      -- who refreshes an install
	id    TEXT PRIMARY KEY,
	owner TEXT NOT NULL,
	until INTEGER NOT NULL             -- Unix milliseconds
) WITHOUT ROWID;`

// Store is a slack.Installs in one file.
type Store struct {
	db  *sql.DB
	now func() time.Time
}

var _ slack.Installs = (*Store)(nil)

// Open opens or makes the installs of a data directory.
func Open(ctx context.Context, dir string) (*Store, error) {
	file := filepath.Join(dir, "slack.db")
	db, err := sqlite.OpenStore(file, "_pragma=synchronous(full)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open Slack's installs %s: %w", file, err), db.Close())
	}
	return &Store{db: db, now: time.Now}, nil
}

// Load implements slack.Installs.
func (s *Store) Load(ctx context.Context, id slack.InstallID) ([]byte, error) {
	var sealed []byte
	err := s.db.QueryRowContext(ctx, `SELECT sealed FROM install WHERE id = ?`, string(id)).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, slack.ErrNotInstalled
	}
	if err != nil {
		return nil, fmt.Errorf("read install %s: %w", id, err)
	}
	return sealed, nil
}

// Save implements slack.Installs.
func (s *Store) Save(ctx context.Context, id slack.InstallID, sealed []byte) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO install (id, sealed) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed`, string(id), sealed)
	if err != nil {
		return fmt.Errorf("write install %s: %w", id, err)
	}
	return nil
}

// Delete implements slack.Installs.
func (s *Store) Delete(ctx context.Context, id slack.InstallID) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM install WHERE id = ?`, string(id)); err != nil {
		return fmt.Errorf("delete install %s: %w", id, err)
	}
	return nil
}

// Lock implements slack.Installs, by this machine's clock.
func (s *Store) Lock(ctx context.Context, id slack.InstallID, limit time.Duration) (held bool, unlock func(context.Context) error, err error) {
	owner, now := rand.Text(), s.now()
	result, err := s.db.ExecContext(ctx, `INSERT INTO held (id, owner, until) VALUES (?1, ?2, ?3)
		ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, until = excluded.until WHERE until <= ?4`,
		string(id), owner, now.Add(limit).UnixMilli(), now.UnixMilli())
	if err != nil {
		return false, nil, fmt.Errorf("hold install %s: %w", id, err)
	}
	changed, err := result.RowsAffected()
	if err != nil || changed == 0 {
		return false, nil, err
	}
	return true, func(ctx context.Context) error {
		if _, err := s.db.ExecContext(ctx, `DELETE FROM held WHERE id = ? AND owner = ?`, string(id), owner); err != nil {
			return fmt.Errorf("let go of install %s: %w", id, err)
		}
		return nil
	}, nil
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }
