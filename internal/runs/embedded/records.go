package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/sqlite"
)

// Records is a runs.Records in the database of a data directory.
type Records struct {
	db  *sqlite.DB
	now func() time.Time
}

var (
	_ runs.Records  = (*Records)(nil)
	_ runs.Registry = (*Records)(nil)
)

// OpenRecords returns the records in a database, which stays the caller's, and forgets those
// not saved for longer than keep; 0 keeps them for ever.
func OpenRecords(ctx context.Context, db *sqlite.DB, keep time.Duration) (*Records, error) {
	records := &Records{db: db, now: time.Now}
	if keep > 0 {
		if err := records.forgetBefore(ctx, records.now().Add(-keep)); err != nil {
			return nil, fmt.Errorf("forget old records: %w", err)
		}
	}
	return records, nil
}

func (r *Records) forgetBefore(ctx context.Context, oldest time.Time) error {
	return r.db.Update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM record WHERE updated < ?`, oldest.Unix()); err != nil {
			return err
		}
		for _, orphans := range []string{
			`DELETE FROM rating WHERE run NOT IN (SELECT run FROM record)`,
			`DELETE FROM record_list WHERE run NOT IN (SELECT run FROM record)`,
		} {
			if _, err := tx.ExecContext(ctx, orphans); err != nil {
				return err
			}
		}
		return nil
	})
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
	return r.db.Update(ctx, func(tx *sql.Tx) error { return r.writeRecord(ctx, tx, record, body) })
}

func (r *Records) writeRecord(ctx context.Context, tx *sql.Tx, record runs.Record, body []byte) error {
	now := r.now()
	listed, err := tx.ExecContext(ctx, `INSERT INTO record_list (run, thread, author, status, fence, saved) VALUES (?, ?, ?, ?, ?, ?)
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
	return err
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
	rows, err := r.db.QueryContext(ctx, `SELECT run, body FROM record_list JOIN record USING (run)
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
		`DELETE FROM record WHERE run = ?`, `DELETE FROM rating WHERE run = ?`, `DELETE FROM record_list WHERE run = ?`,
	} {
		if _, err := r.db.ExecContext(ctx, statement, string(run)); err != nil {
			return fmt.Errorf("erase record of run %s: %w", run, err)
		}
	}
	return nil
}
