// Package embedded keeps reports on agents in SQLite, with no server.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"cairn/internal/agent/reports"
	"cairn/internal/sqlite"
)

// Store is a reports.Store in the database of a data directory.
type Store struct {
	db  *sqlite.DB
	now func() time.Time
}

var _ reports.Store = (*Store)(nil)

// Open returns the reports in a database, which stays the caller's.
func Open(db *sqlite.DB) *Store { return &Store{db: db, now: time.Now} }

// Save implements reports.Store.
func (s *Store) Save(ctx context.Context, report reports.Report) error {
	body, err := reports.Encode(report)
	if err != nil {
		return fmt.Errorf("encode the report of %s: %w", report.Process, err)
	}
	now := s.now()
	err = s.db.Update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM agent_report WHERE saved <= ?`, now.Add(-reports.Keep).UnixMilli()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO agent_report (process, saved, body) VALUES (?, ?, ?)
			ON CONFLICT (process) DO UPDATE SET saved = excluded.saved, body = excluded.body`, report.Process, now.UnixMilli(), body)
		return err
	})
	if err != nil {
		return fmt.Errorf("save the report of %s: %w", report.Process, err)
	}
	return nil
}

// List implements reports.Store.
func (s *Store) List(ctx context.Context) (all []reports.Report, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT body FROM agent_report WHERE saved > ? ORDER BY process`, s.now().Add(-reports.Keep).UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("list reports on agents: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var bodies [][]byte
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("list reports on agents: %w", err)
		}
		bodies = append(bodies, body)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list reports on agents: %w", err)
	}
	return reports.DecodeAll(bodies)
}

// Remove implements reports.Store.
func (s *Store) Remove(ctx context.Context, process string) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM agent_report WHERE process = ?`, process); err != nil {
		return fmt.Errorf("remove the report of %s: %w", process, err)
	}
	return nil
}
