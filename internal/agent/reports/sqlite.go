package reports

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

// OpenSQLite returns the reports in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db: db, now: time.Now} }

// Save implements Store.
func (s *SQLite) Save(ctx context.Context, report Report) error {
	body, err := Encode(report)
	if err != nil {
		return fmt.Errorf("encode the report of %s: %w", report.Process, err)
	}
	now := s.now()
	err = s.db.Update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM agent_report WHERE saved <= ?`, now.Add(-Keep).UnixMilli()); err != nil {
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

// List implements Store.
func (s *SQLite) List(ctx context.Context) (all []Report, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT body FROM agent_report WHERE saved > ? ORDER BY process`, s.now().Add(-Keep).UnixMilli())
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
	return DecodeAll(bodies)
}

// Remove implements Store.
func (s *SQLite) Remove(ctx context.Context, process string) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM agent_report WHERE process = ?`, process); err != nil {
		return fmt.Errorf("remove the report of %s: %w", process, err)
	}
	return nil
}
