package quota

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/sqlite"
)

const (
	hour = int64(time.Hour / time.Millisecond)
	day  = 24 * hour
)

// SQLite is a Counts in the database of a data directory.
type SQLite struct {
	db  *sqlite.DB
	now func() time.Time
}

var _ Counts = (*SQLite)(nil)

// OpenSQLite returns what was asked and spent in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db: db, now: time.Now} }

// Take implements Counts.
func (s *SQLite) Take(ctx context.Context, id string, meters []Meter) (*Full, error) {
	var full *Full
	err := s.inTransaction(ctx, func(tx *sql.Tx, now int64) (err error) {
		full, err = takeQuestion(ctx, tx, asking{id, meters, now})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count question %s: %w", id, err)
	}
	return full, nil
}

// asking is a question that is to be counted, at a time in Unix milliseconds.
type asking struct {
	id     string
	meters []Meter
	now    int64
}

func takeQuestion(ctx context.Context, tx *sql.Tx, a asking) (*Full, error) {
	if _, err := tx.ExecContext(ctx, `DELETE FROM asked WHERE at <= ?`, a.now-hour); err != nil {
		return nil, err
	}
	var full *Full
	for i, meter := range a.meters {
		known, found, err := readMeter(ctx, tx, meter, a)
		if known || err != nil {
			return nil, err
		}
		if found.Wait > 0 && (full == nil || found.Wait > full.Wait) {
			found.Meter = i
			full = &found
		}
	}
	if full != nil {
		return full, nil
	}
	for _, meter := range a.meters {
		if meter.Questions > 0 {
			if _, err := tx.ExecContext(ctx, `INSERT INTO asked (meter, id, at) VALUES (?, ?, ?)`, meter.Name, a.id, a.now); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil //nolint:nilnil // as Counts has it: no meter is full
}

// readMeter reports whether a meter knows a question, and else, by a wait, whether it is full.
func readMeter(ctx context.Context, tx *sql.Tx, meter Meter, a asking) (known bool, full Full, err error) {
	if meter.Questions > 0 {
		err = tx.QueryRowContext(ctx, `SELECT count(*) > 0 FROM asked WHERE meter = ? AND id = ?`, meter.Name, a.id).Scan(&known)
		if known || err != nil {
			return known, full, err
		}
		var frees int64
		err = tx.QueryRowContext(ctx, `SELECT at FROM asked WHERE meter = ? ORDER BY at DESC LIMIT 1 OFFSET ?`, meter.Name, meter.Questions-1).Scan(&frees)
		switch {
		case err == nil:
			full = Full{By: Questions, Wait: durationOf(frees + hour - a.now)}
		case !errors.Is(err, sql.ErrNoRows):
			return false, full, err
		}
	}
	if meter.Cost > 0 {
		var spent int64
		err = tx.QueryRowContext(ctx, `SELECT coalesce(sum(millionths), 0) FROM spent WHERE meter = ? AND day = ?`, meter.Name, a.now/day).Scan(&spent)
		if err != nil {
			return false, full, err
		}
		if wait := durationOf(day - a.now%day); spent >= meter.Cost && wait > full.Wait {
			full = Full{By: Cost, Wait: wait}
		}
	}
	return false, full, nil
}

func durationOf(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Spend implements Counts.
func (s *SQLite) Spend(ctx context.Context, names []string, millionths int64) error {
	err := s.inTransaction(ctx, func(tx *sql.Tx, now int64) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM spent WHERE day < ?`, now/day); err != nil {
			return err
		}
		for _, name := range names {
			_, err := tx.ExecContext(ctx, `INSERT INTO spent (meter, day, millionths) VALUES (?, ?, ?)
				ON CONFLICT (meter, day) DO UPDATE SET millionths = millionths + excluded.millionths`, name, now/day, millionths)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count what was spent: %w", err)
	}
	return nil
}

// inTransaction does something in a transaction of its own, at a time in Unix milliseconds.
func (s *SQLite) inTransaction(ctx context.Context, do func(tx *sql.Tx, now int64) error) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error { return do(tx, s.now().UnixMilli()) })
}
