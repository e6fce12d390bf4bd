// Package tickets keeps the tickets of the Discord app, in SQLite or in Redis.
package tickets

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// SQLite is a discord.Tickets in the database of a data directory.
type SQLite struct {
	db  *sqlite.DB
	now func() time.Time
}

var _ discord.Tickets = (*SQLite)(nil)

// OpenSQLite returns the tickets in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db: db, now: time.Now} }

// Keep implements discord.Tickets. It also forgets those that have run out.
func (s *SQLite) Keep(ctx context.Context, interaction string, ticket discord.Ticket) error {
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
func (s *SQLite) Ticket(ctx context.Context, interaction string) (discord.Ticket, error) {
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
