package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// records is a runs.Records in the database of a data directory.
type records struct{ store *Store }

var (
	_ runs.Records  = (*records)(nil)
	_ runs.Registry = (*records)(nil)
)

// Save implements runs.Records.
func (r *records) Save(ctx context.Context, record runs.Record) error {
	err := r.store.db.Update(ctx, func(tx *sql.Tx) error {
		return writer{tx, r.store.now(), runs.QueueID{Thread: record.Thread}}.writeRecord(ctx, record)
	})
	if err != nil {
		return fmt.Errorf("save record of run %s: %w", record.ID, err)
	}
	return nil
}

func (w writer) writeRecord(ctx context.Context, record runs.Record) error {
	body, err := runs.EncodeRecord(record)
	if err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, `INSERT INTO record_list (run, thread, author, status, saved) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET thread = excluded.thread, author = excluded.author, status = excluded.status, saved = excluded.saved`,
		string(record.ID), string(record.Thread), string(record.Author), string(record.Status()), w.now.UnixNano())
	if err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, `INSERT INTO record (run, body, updated) VALUES (?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET body = excluded.body, updated = excluded.updated`,
		string(record.ID), body, w.now.Unix())
	return err
}

// Load implements runs.Records.
func (r *records) Load(ctx context.Context, run chat.RunID) (runs.Record, error) {
	var body []byte
	err := r.store.db.QueryRowContext(ctx, `SELECT body FROM record WHERE run = ?`, string(run)).Scan(&body)
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

func (r *records) loadRatings(ctx context.Context, run chat.RunID) ([]chat.Rating, error) {
	rows, err := r.store.db.QueryContext(ctx, `SELECT person, verdict, reason, by_reaction, at FROM rating WHERE run = ? ORDER BY person`, string(run))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ratings []chat.Rating
	for rows.Next() {
		var rating chat.Rating
		var at int64
		if err := rows.Scan(&rating.By, &rating.Verdict, &rating.Reason, &rating.ByReaction, &at); err != nil {
			return nil, err
		}
		rating.At = time.Unix(0, at).UTC()
		ratings = append(ratings, rating)
	}
	return ratings, rows.Err()
}

// Rate implements runs.Records.
func (r *records) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	if err := r.saveRating(ctx, run, rating); err != nil {
		return fmt.Errorf("rate run %s: %w", run, err)
	}
	return nil
}

func (r *records) saveRating(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	var known bool
	err := r.store.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM record WHERE run = ?)`, string(run)).Scan(&known)
	if err != nil {
		return err
	}
	if !known {
		return chat.ErrUnknownRun
	}
	if rating.Verdict == chat.Unrated {
		_, err := r.store.db.ExecContext(ctx, `DELETE FROM rating WHERE run = ? AND person = ?`, string(run), string(rating.By))
		return err
	}
	_, err = r.store.db.ExecContext(ctx, `INSERT INTO rating (run, person, verdict, reason, by_reaction, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (run, person) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason, by_reaction = excluded.by_reaction, at = excluded.at`,
		string(run), string(rating.By), string(rating.Verdict), rating.Reason, rating.ByReaction, rating.At.UnixNano())
	return err
}

// List implements runs.Registry. Records that were saved before they were listed come
// in with their next save.
func (r *records) List(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	found, err := r.listRecords(ctx, filter, limit)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	return found, nil
}

func (r *records) listRecords(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	rows, err := r.store.db.QueryContext(ctx, `SELECT run, body FROM record_list JOIN record USING (run)
		WHERE (?1 = '' OR status = ?1) AND (?2 = '' OR thread = ?2) AND (?3 = '' OR author = ?3) ORDER BY saved DESC`,
		string(filter.Status), string(filter.Thread), string(filter.Author))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []runs.Record
	for len(found) < limit && rows.Next() {
		var run chat.RunID
		var body []byte
		if err := rows.Scan(&run, &body); err != nil {
			return nil, err
		}
		record, err := runs.DecodeRecord(run, body)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run, err)
		}
		if filter.Match == nil || filter.Match(record) {
			found = append(found, record)
		}
	}
	return found, rows.Err()
}

// Erase implements runs.Registry.
func (r *records) Erase(ctx context.Context, run chat.RunID) error {
	for _, statement := range []string{
		`DELETE FROM record WHERE run = ?`, `DELETE FROM rating WHERE run = ?`, `DELETE FROM record_list WHERE run = ?`,
	} {
		if _, err := r.store.db.ExecContext(ctx, statement, string(run)); err != nil {
			return fmt.Errorf("erase record of run %s: %w", run, err)
		}
	}
	return nil
}
