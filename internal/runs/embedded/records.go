package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// recordVersion is the version of the stored JSON. It is raised when the meaning of
// what is stored changes; what has a newer one is refused.
const recordVersion = 1

const recordSchema = `
CREATE TABLE IF NOT EXISTS record (
	run     TEXT PRIMARY KEY,
	body    TEXT NOT NULL,      -- storedRecord, as JSON
	updated INTEGER NOT NULL    -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS record_updated ON record (updated);
CREATE TABLE IF NOT EXISTS rating (
	run     TEXT NOT NULL,
	person  TEXT NOT NULL,
	verdict TEXT NOT NULL,
	at      INTEGER NOT NULL,   -- Unix nanoseconds
	PRIMARY KEY (run, person)
) WITHOUT ROWID;`

// storedRecord is a record as it stands in the file; ratings have a table of their own.
type storedRecord struct {
	Version     int               `json:"version"`
	Thread      chat.ThreadID     `json:"thread"`
	Flow        string            `json:"flow"`
	Author      chat.UserID       `json:"author"`
	Message     chat.MessageID    `json:"message"`
	Request     string            `json:"request"`
	Depth       chat.Depth        `json:"depth,omitempty"`
	Transitions []runs.Transition `json:"transitions"`
	Trace       chat.Trace        `json:"trace"`
}

// Records is a runs.Records in one file, beside that of the checkpoints: what writes
// the one need not wait for the other.
type Records struct {
	db  *sql.DB
	now func() time.Time
}

var _ runs.Records = (*Records)(nil)

// OpenRecords opens or makes the records of a data directory and forgets those not
// saved for longer than keep; 0 keeps them for ever.
func OpenRecords(ctx context.Context, dir string, keep time.Duration) (*Records, error) {
	file := filepath.Join(dir, "records.db")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)&_pragma=synchronous(normal)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	store := &Records{db: db, now: time.Now}
	if err := store.prepare(ctx, keep); err != nil {
		return nil, errors.Join(fmt.Errorf("open records %s: %w", file, err), db.Close())
	}
	return store, nil
}

func (r *Records) prepare(ctx context.Context, keep time.Duration) error {
	if _, err := r.db.ExecContext(ctx, recordSchema); err != nil {
		return err
	}
	if keep <= 0 {
		return nil
	}
	if _, err := r.db.ExecContext(ctx, `DELETE FROM record WHERE updated < ?`, r.now().Add(-keep).Unix()); err != nil {
		return err
	}
	_, err := r.db.ExecContext(ctx, `DELETE FROM rating WHERE run NOT IN (SELECT run FROM record)`)
	return err
}

// Save implements runs.Records.
func (r *Records) Save(ctx context.Context, record runs.Record) error {
	body, err := json.Marshal(storedRecord{
		Version: recordVersion, Thread: record.Thread, Flow: record.Flow, Author: record.Author, Message: record.Message,
		Request: record.Request, Depth: record.Depth, Transitions: record.Transitions, Trace: record.Trace,
	})
	if err != nil {
		return fmt.Errorf("save record of run %s: %w", record.ID, err)
	}
	_, err = r.db.ExecContext(ctx, `INSERT INTO record (run, body, updated) VALUES (?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET body = excluded.body, updated = excluded.updated`,
		string(record.ID), body, r.now().Unix())
	if err != nil {
		return fmt.Errorf("save record of run %s: %w", record.ID, err)
	}
	return nil
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
	var kept storedRecord
	if err := json.Unmarshal(body, &kept); err != nil {
		return runs.Record{}, fmt.Errorf("load record of run %s: %w", run, err)
	}
	if kept.Version != recordVersion {
		return runs.Record{}, fmt.Errorf("load record of run %s: it has version %d, this program knows %d; upgrade the program", run, kept.Version, recordVersion)
	}
	ratings, err := r.ratings(ctx, run)
	if err != nil {
		return runs.Record{}, fmt.Errorf("load ratings of run %s: %w", run, err)
	}
	return runs.Record{
		ID: run, Thread: kept.Thread, Flow: kept.Flow, Author: kept.Author, Message: kept.Message,
		Request: kept.Request, Depth: kept.Depth, Transitions: kept.Transitions, Trace: kept.Trace, Ratings: ratings,
	}, nil
}

func (r *Records) ratings(ctx context.Context, run chat.RunID) ([]chat.Rating, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT person, verdict, at FROM rating WHERE run = ? ORDER BY person`, string(run))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ratings []chat.Rating
	for rows.Next() {
		var rating chat.Rating
		var at int64
		if err := rows.Scan(&rating.By, &rating.Verdict, &at); err != nil {
			return nil, err
		}
		rating.At = time.Unix(0, at).UTC()
		ratings = append(ratings, rating)
	}
	return ratings, rows.Err()
}

// Rate implements runs.Records.
func (r *Records) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	if err := r.rate(ctx, run, rating); err != nil {
		return fmt.Errorf("rate run %s: %w", run, err)
	}
	return nil
}

func (r *Records) rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
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
	_, err = r.db.ExecContext(ctx, `INSERT INTO rating (run, person, verdict, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (run, person) DO UPDATE SET verdict = excluded.verdict, at = excluded.at`,
		string(run), string(rating.By), string(rating.Verdict), rating.At.UnixNano())
	return err
}

// Close releases the file.
func (r *Records) Close() error { return r.db.Close() }
