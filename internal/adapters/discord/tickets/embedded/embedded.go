// Package embedded keeps the tickets of the Discord app in one SQLite file,
// with no server.
package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cairn/internal/adapters/discord"
	"cairn/internal/sqlite"
)

const schema = `
CREATE TABLE IF NOT EXISTS ticket (    -- the right to answer an interaction
	interaction TEXT PRIMARY KEY,
	ticket      BLOB NOT NULL,
	until       INTEGER NOT NULL       -- Unix milliseconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ticket_until ON ticket (until);`

// Store is a discord.Tickets in one file.
type Store struct {
	db  *sql.DB
	now func() time.Time
}

var _ discord.Tickets = (*Store)(nil)

// Open opens or makes the store of a data directory.
func Open(ctx context.Context, dir string) (*Store, error) {
	file := filepath.Join(dir, "discord.db")
	db, err := sqlite.OpenStore(file, "_pragma=synchronous(normal)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open Discord's tickets %s: %w", file, err), db.Close())
	}
	return &Store{db: db, now: time.Now}, nil
}

// Keep implements discord.Tickets. It also forgets those that have run out.
func (s *Store) Keep(ctx context.Context, interaction string, ticket discord.Ticket) error {
	stored, err := json.Marshal(ticket)
	if err != nil {
		return fmt.Errorf("encode ticket %s: %w", interaction, err)
	}
	_, err = s.db.ExecContext(ctx, `DELETE FROM ticket WHERE until <= ?`, s.now().UnixMilli())
	if err == nil {
		_, err = s.db.ExecContext(ctx, `INSERT INTO ticket (interaction, ticket, until) VALUES (?, ?, ?)
			ON CONFLICT (interaction) DO UPDATE SET ticket = excluded.ticket, until = excluded.until`,
			interaction, stored, ticket.Until.UnixMilli())
	}
	if err != nil {
		return fmt.Errorf("write ticket %s: %w", interaction, err)
	}
	return nil
}

// Ticket implements discord.Tickets.
func (s *Store) Ticket(ctx context.Context, interaction string) (discord.Ticket, error) {
	var stored []byte
	err := s.db.QueryRowContext(ctx, `SELECT ticket FROM ticket WHERE interaction = ? AND until > ?`, interaction, s.now().UnixMilli()).Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) {
		return discord.Ticket{}, nil
	}
	if err != nil {
		return discord.Ticket{}, fmt.Errorf("read ticket %s: %w", interaction, err)
	}
	var ticket discord.Ticket
	if err := json.Unmarshal(stored, &ticket); err != nil {
		return discord.Ticket{}, fmt.Errorf("read ticket %s: %w", interaction, err)
	}
	return ticket, nil
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }
