package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/sqlite"
)

const recordSchema = `
CREATE TABLE IF NOT EXISTS record (
	run     TEXT PRIMARY KEY,
	body    TEXT NOT NULL,      -- runs.EncodeRecord
	updated INTEGER NOT NULL    -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS record_updated ON record (updated);
CREATE TABLE IF NOT EXISTS rating (
	run     TEXT NOT NULL,
	person  TEXT NOT NULL,
	verdict TEXT NOT NULL,
	at      INTEGER NOT NULL,   -- Unix nanoseconds
	reason  TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (run, person)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS listed (    -- what records are found by
	run    TEXT PRIMARY KEY,
	thread TEXT NOT NULL,
	author TEXT NOT NULL,
	status TEXT NOT NULL,
	fence  INTEGER NOT NULL,    -- the greatest it was saved with
	saved  INTEGER NOT NULL     -- Unix nanoseconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS listed_saved ON listed (saved);
CREATE INDEX IF NOT EXISTS listed_status ON listed (status, saved);
CREATE INDEX IF NOT EXISTS listed_thread ON listed (thread, saved);`

// Records is a runs.Records in one file, beside that of the checkpoints: what writes
// the one need not wait for the other.
type Records struct {
	db  *sql.DB
	now func() time.Time
}

var (
	_ runs.Records  = (*Records)(nil)
	_ runs.Registry = (*Records)(nil)
)

// OpenRecords opens or makes the records of a data directory and forgets those not
// saved for longer than keep; 0 keeps them for ever.
func OpenRecords(ctx context.Context, dir string, keep time.Duration) (*Records, error) {
	file := filepath.Join(dir, "records.db")
	db, err := sqlite.OpenStore(file, "_pragma=synchronous(normal)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	store := &Records{db: db, now: time.Now}
	if err := store.prepareTables(ctx, keep); err != nil {
		return nil, errors.Join(fmt.Errorf("open records %s: %w", file, err), db.Close())
	}
	return store, nil
}

func (r *Records) prepareTables(ctx context.Context, keep time.Duration) error {
	if _, err := r.db.ExecContext(ctx, recordSchema); err != nil {
		return err
	}
	if err := r.addReason(ctx); err != nil {
		return err
	}
	if keep <= 0 {
		return nil
	}
	if _, err := r.db.ExecContext(ctx, `DELETE FROM record WHERE updated < ?`, r.now().Add(-keep).Unix()); err != nil {
		return err
	}
	for _, orphans := range []string{
		`DELETE FROM rating WHERE run NOT IN (SELECT run FROM record)`,
		`DELETE FROM listed WHERE run NOT IN (SELECT run FROM record)`,
	} {
		if _, err := r.db.ExecContext(ctx, orphans); err != nil {
			return err
		}
	}
	return nil
}

// addReason adds the column that the first form of the table did not have.
func (r *Records) addReason(ctx context.Context) error {
	var there bool
	err := r.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pragma_table_info('rating') WHERE name = 'reason')`).Scan(&there)
	if err != nil || there {
		return err
	}
	_, err = r.db.ExecContext(ctx, `ALTER TABLE rating ADD COLUMN reason TEXT NOT NULL DEFAULT ''`)
	return err
}

// Save implements runs.Records.
func (r *Records) Save(ctx context.Context, record runs.Record) error {
	if err := r.saveRecord(ctx, record); err != nil {
		return fmt.Errorf("save record of run %s: %w", record.ID, err)
	}
	return nil
}

func (r *Records) saveRecord(ctx context.Context, record runs.Record) error {
	body, err := runs.EncodeRecord(record)
	if err != nil {
		return err
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	now := r.now()
	listed, err := tx.ExecContext(ctx, `INSERT INTO listed (run, thread, author, status, fence, saved) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET thread = excluded.thread, author = excluded.author, status = excluded.status,
			fence = max(fence, excluded.fence), saved = excluded.saved
		WHERE excluded.fence = 0 OR excluded.fence >= fence`,
		string(record.ID), string(record.Thread), string(record.Author), string(record.Status()), int64(record.Fence), now.UnixNano())
	if err != nil {
		return err
	}
	if changed, err := listed.RowsAffected(); err != nil {
		return err
	} else if changed == 0 {
		return runs.ErrLost
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO record (run, body, updated) VALUES (?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET body = excluded.body, updated = excluded.updated`,
		string(record.ID), body, now.Unix())
	if err != nil {
		return err
	}
	return tx.Commit()
}

// Load implements runs.Records.
func (r *Records) Load(ctx context.Context, run chat.RunID) (runs.Record, error) {
	var body []byte
	err := r.db.QueryRowContext(ctx, `SELECT body FROM record WHERE run = ?`, string(run)).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		err = chat.ErrUnknownRun
	}
	if err != nil {
		return runs.Record{}, fmt.Errorf("load record of run %s: %w", run, err)
	}
	record, err := runs.DecodeRecord(run, body)
	if err != nil {
		return runs.Record{}, fmt.Errorf("load record of run %s: %w", run, err)
	}
	if record.Ratings, err = r.loadRatings(ctx, run); err != nil {
		return runs.Record{}, fmt.Errorf("load ratings of run %s: %w", run, err)
	}
	return record, nil
}

func (r *Records) loadRatings(ctx context.Context, run chat.RunID) ([]chat.Rating, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT person, verdict, reason, at FROM rating WHERE run = ? ORDER BY person`, string(run))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ratings []chat.Rating
	for rows.Next() {
		var rating chat.Rating
		var at int64
		if err := rows.Scan(&rating.By, &rating.Verdict, &rating.Reason, &at); err != nil {
			return nil, err
		}
		rating.At = time.Unix(0, at).UTC()
		ratings = append(ratings, rating)
	}
	return ratings, rows.Err()
}

// Rate implements runs.Records.
func (r *Records) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	if err := r.saveRating(ctx, run, rating); err != nil {
		return fmt.Errorf("rate run %s: %w", run, err)
	}
	return nil
}

func (r *Records) saveRating(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	var known bool
	err := r.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM record WHERE run = ?)`, string(run)).Scan(&known)
	if err != nil {
		return err
	}
	if !known {
		return chat.ErrUnknownRun
	}
	if rating.Verdict == chat.Unrated {
		_, err := r.db.ExecContext(ctx, `DELETE FROM rating WHERE run = ? AND person = ?`, string(run), string(rating.By))
		return err
	}
	_, err = r.db.ExecContext(ctx, `INSERT INTO rating (run, person, verdict, reason, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (run, person) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason, at = excluded.at`,
		string(run), string(rating.By), string(rating.Verdict), rating.Reason, rating.At.UnixNano())
	return err
}

// List implements runs.Registry. Records that were saved before they were listed come
// in with their next save.
func (r *Records) List(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	records, err := r.listRecords(ctx, filter, limit)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	return records, nil
}

func (r *Records) listRecords(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT run, body FROM listed JOIN record USING (run)
		WHERE (?1 = '' OR status = ?1) AND (?2 = '' OR thread = ?2) AND (?3 = '' OR author = ?3) ORDER BY saved DESC LIMIT ?4`,
		string(filter.Status), string(filter.Thread), string(filter.Author), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var records []runs.Record
	for rows.Next() {
		var run chat.RunID
		var body []byte
		if err := rows.Scan(&run, &body); err != nil {
			return nil, err
		}
		record, err := runs.DecodeRecord(run, body)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run, err)
		}
		records = append(records, record)
	}
	return records, rows.Err()
}

// Erase implements runs.Registry.
func (r *Records) Erase(ctx context.Context, run chat.RunID) error {
	for _, statement := range []string{
		`DELETE FROM record WHERE run = ?`, `DELETE FROM rating WHERE run = ?`, `DELETE FROM listed WHERE run = ?`,
	} {
		if _, err := r.db.ExecContext(ctx, statement, string(run)); err != nil {
			return fmt.Errorf("erase record of run %s: %w", run, err)
		}
	}
	return nil
}

// Close releases the file.
func (r *Records) Close() error { return r.db.Close() }

// PurgeDeleted removes what is left of deleted records from the store's files.
func (r *Records) PurgeDeleted(ctx context.Context) error {
	if err := sqlite.PurgeDeleted(ctx, r.db); err != nil {
		return fmt.Errorf("purge deleted records: %w", err)
	}
	return nil
}
