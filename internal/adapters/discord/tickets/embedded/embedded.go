// Package embedded keeps the tickets of the Discord app in SQLite, with no server.
package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cairn/internal/adapters/discord"
	"cairn/internal/sqlite"
)

// Store is a discord.Tickets in the database of a data directory.
type Store struct {
	db  *sqlite.DB
	now func() time.Time
}

var _ discord.Tickets = (*Store)(nil)

// Open returns the tickets in a database, which stays the caller's.
func Open(db *sqlite.DB) *Store { return &Store{db: db, now: time.Now} }

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
