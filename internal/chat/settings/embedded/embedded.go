// Package embedded keeps the settings of places in SQLite, with no server.
package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cairn/internal/chat/settings"
	"cairn/internal/sqlite"
)

// Store is a settings.Store in the database of a data directory.
type Store struct {
	db  *sqlite.DB
	now func() time.Time
}

var _ settings.Store = (*Store)(nil)

// Open returns the settings in a database, which stays the caller's.
func Open(db *sqlite.DB) *Store { return &Store{db: db, now: time.Now} }

// Get implements settings.Store.
func (s *Store) Get(ctx context.Context, space settings.Space, channel string) (settings.Setting, error) {
	var stored []byte
	err := s.db.QueryRowContext(ctx, `SELECT setting FROM setting WHERE space = ? AND channel = ?`, space, channel).Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) {
		return settings.Setting{}, nil
	}
	if err != nil {
		return settings.Setting{}, fmt.Errorf("read the setting of %s: %w", space, err)
	}
	return settings.Decode(stored)
}

// Put implements settings.Store.
func (s *Store) Put(ctx context.Context, space settings.Space, channel string, setting settings.Setting) error {
	stored, err := settings.Encode(setting)
	if err != nil {
		return fmt.Errorf("encode the setting of %s: %w", space, err)
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO setting (space, channel, setting) VALUES (?, ?, ?)
		ON CONFLICT (space, channel) DO UPDATE SET setting = excluded.setting`, space, channel, stored)
	if err != nil {
		return fmt.Errorf("write the setting of %s: %w", space, err)
	}
	return nil
}

// RememberSpaces implements settings.Store.
func (s *Store) RememberSpaces(ctx context.Context, app string, spaces []settings.Space) ([]settings.Space, error) {
	if len(spaces) > 0 {
		stored, err := json.Marshal(spaces)
		if err != nil {
			return nil, fmt.Errorf("encode the spaces of %s: %w", app, err)
		}
		if _, err := s.db.ExecContext(ctx, `INSERT INTO spaces (app, spaces) VALUES (?, ?) ON CONFLICT (app) DO NOTHING`, app, stored); err != nil {
			return nil, fmt.Errorf("write the spaces of %s: %w", app, err)
		}
	}
	var stored []byte
	err := s.db.QueryRowContext(ctx, `SELECT spaces FROM spaces WHERE app = ?`, app).Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the spaces of %s: %w", app, err)
	}
	var kept []settings.Space
	if err := json.Unmarshal(stored, &kept); err != nil {
		return nil, fmt.Errorf("read the spaces of %s: %w", app, err)
	}
	return kept, nil
}

// MarkTold implements settings.Store. It also forgets marks that have run out.
func (s *Store) MarkTold(ctx context.Context, key string, keep time.Duration) (first bool, err error) {
	now := s.now()
	_, err = s.db.ExecContext(ctx, `DELETE FROM notice WHERE until <= ?`, now.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("forget notices: %w", err)
	}
	done, err := s.db.ExecContext(ctx, `INSERT INTO notice (notice, until) VALUES (?, ?) ON CONFLICT (notice) DO NOTHING`, key, now.Add(keep).UnixMilli())
	if err != nil {
		return false, fmt.Errorf("note the notice %s: %w", key, err)
	}
	added, err := done.RowsAffected()
	return added > 0, err
}
