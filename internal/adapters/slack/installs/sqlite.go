// Package installs keeps the installs of the Slack app, in SQLite or in Redis.
package installs

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// SQLite is a slack.Installs in the database of a data directory.
type SQLite struct {
	db  *sqlite.DB
	now func() time.Time
}

var _ slack.Installs = (*SQLite)(nil)

// OpenSQLite returns the installs in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db: db, now: time.Now} }

// Load implements slack.Installs.
func (s *SQLite) Load(ctx context.Context, id slack.InstallID) ([]byte, error) {
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
func (s *SQLite) Save(ctx context.Context, id slack.InstallID, sealed []byte) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO install (id, sealed) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed`, string(id), sealed)
	if err != nil {
		return fmt.Errorf("write install %s: %w", id, err)
	}
	return s.db.Sync(ctx) // Slack gives a token that it replaces only once
}

// Delete implements slack.Installs.
func (s *SQLite) Delete(ctx context.Context, id slack.InstallID) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM install WHERE id = ?`, string(id)); err != nil {
		return fmt.Errorf("delete install %s: %w", id, err)
	}
	return nil
}

// Lock implements slack.Installs, by this machine's clock.
func (s *SQLite) Lock(ctx context.Context, id slack.InstallID, limit time.Duration) (held bool, unlock func(context.Context) error, err error) {
	owner, now := rand.Text(), s.now()
	result, err := s.db.ExecContext(ctx, `INSERT INTO install_hold (id, owner, until) VALUES (?1, ?2, ?3)
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
		if _, err := s.db.ExecContext(ctx, `DELETE FROM install_hold WHERE id = ? AND owner = ?`, string(id), owner); err != nil {
			return fmt.Errorf("let go of install %s: %w", id, err)
		}
		return nil
	}, nil
}
