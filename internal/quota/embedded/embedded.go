// Package embedded keeps what was asked and spent in one SQLite file, with no server.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cairn/internal/quota"
	"cairn/internal/sqlite"
)

const schema = `
CREATE TABLE IF NOT EXISTS asked (     -- the questions of the last hour
	meter TEXT NOT NULL,
	id    TEXT NOT NULL,
	at    INTEGER NOT NULL,         -- Unix milliseconds
	PRIMARY KEY (meter, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS asked_at ON asked (at);
CREATE TABLE IF NOT EXISTS spent (     -- of this day
	meter      TEXT NOT NULL,
	day        INTEGER NOT NULL,    -- since 1970, of UTC
	millionths INTEGER NOT NULL,
	PRIMARY KEY (meter, day)
) WITHOUT ROWID;`

const (
	hour = int64(time.Hour / time.Millisecond)
	day  = 24 * hour
)

// Store is a quota.Counts in one file.
type Store struct {
	db  *sql.DB
	now func() time.Time
}

var _ quota.Counts = (*Store)(nil)

// Open opens or makes the store of a data directory.
func Open(ctx context.Context, dir string) (*Store, error) {
	file := filepath.Join(dir, "quota.db")
	db, err := sqlite.OpenStore(file, "_pragma=synchronous(normal)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open what was asked and spent %s: %w", file, err), db.Close())
	}
	return &Store{db: db, now: time.Now}, nil
}

// Take implements quota.Counts.
func (s *Store) Take(ctx context.Context, id string, meters []quota.Meter) (*quota.Full, error) {
	var full *quota.Full
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
	meters []quota.Meter
	now    int64
}

func takeQuestion(ctx context.Context, tx *sql.Tx, a asking) (*quota.Full, error) {
	if _, err := tx.ExecContext(ctx, `DELETE FROM asked WHERE at <= ?`, a.now-hour); err != nil {
		return nil, err
	}
	var full *quota.Full
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
	return nil, nil //nolint:nilnil // as quota.Counts has it: no meter is full
}

// readMeter reports whether a meter knows a question, and else, by a wait, whether it is full.
func readMeter(ctx context.Context, tx *sql.Tx, meter quota.Meter, a asking) (known bool, full quota.Full, err error) {
	if meter.Questions > 0 {
		err = tx.QueryRowContext(ctx, `SELECT count(*) > 0 FROM asked WHERE meter = ? AND id = ?`, meter.Name, a.id).Scan(&known)
		if known || err != nil {
			return known, full, err
		}
		var frees int64
		err = tx.QueryRowContext(ctx, `SELECT at FROM asked WHERE meter = ? ORDER BY at DESC LIMIT 1 OFFSET ?`, meter.Name, meter.Questions-1).Scan(&frees)
		switch {
		case err == nil:
			full = quota.Full{By: quota.Questions, Wait: durationOf(frees + hour - a.now)}
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
			full = quota.Full{By: quota.Cost, Wait: wait}
		}
	}
	return false, full, nil
}

func durationOf(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Spend implements quota.Counts.
func (s *Store) Spend(ctx context.Context, names []string, millionths int64) error {
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
func (s *Store) inTransaction(ctx context.Context, do func(tx *sql.Tx, now int64) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx, s.now().UnixMilli()); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }
