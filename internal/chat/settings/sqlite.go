package settings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/sqlite"
)

// SQLite is a Store in the database of a data directory.
type SQLite struct {
	db  *sqlite.DB
	now func() time.Time
}

var _ Store = (*SQLite)(nil)

// OpenSQLite returns the settings in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db: db, now: time.Now} }

// Get implements Store.
func (s *SQLite) Get(ctx context.Context, space Space, channel string) (Setting, error) {
	var stored []byte
	err := s.db.QueryRowContext(ctx, `SELECT setting FROM setting WHERE space = ? AND channel = ?`, space, channel).Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) {
		return Setting{}, nil
	}
	if err != nil {
		return Setting{}, fmt.Errorf("read the setting of %s: %w", space, err)
	}
	return decodeSetting(stored)
}

// Put implements Store.
func (s *SQLite) Put(ctx context.Context, space Space, channel string, setting Setting) error {
	stored, err := encodeSetting(space, setting)
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO setting (space, channel, setting) VALUES (?, ?, ?)
		ON CONFLICT (space, channel) DO UPDATE SET setting = excluded.setting`, space, channel, stored)
	if err != nil {
		return fmt.Errorf("write the setting of %s: %w", space, err)
	}
	return nil
}

// List implements Store.
func (s *SQLite) List(ctx context.Context) (list []Placed, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT space, channel, setting FROM setting`)
	if err != nil {
		return nil, fmt.Errorf("list settings: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var placed Placed
		var stored []byte
		if err := rows.Scan(&placed.Space, &placed.Channel, &stored); err != nil {
			return nil, fmt.Errorf("list settings: %w", err)
		}
		if placed.Setting, err = decodeSetting(stored); err != nil {
			return nil, err
		}
		list = append(list, placed)
	}
	sortPlaced(list)
	return list, rows.Err()
}

// RememberSpaces implements Store.
func (s *SQLite) RememberSpaces(ctx context.Context, app string, spaces []Space) ([]Space, error) {
	if len(spaces) > 0 {
		stored, err := encodeSpaces(app, spaces)
		if err != nil {
			return nil, err
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
	return decodeSpaces(app, stored)
}

// MarkTold implements Store. It also forgets marks that have run out.
func (s *SQLite) MarkTold(ctx context.Context, key string, keep time.Duration) (first bool, err error) {
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
