// Package embedded keeps sessions in one SQLite file, with no server.
package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver, pure Go

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/session"
)

const schema = `
CREATE TABLE IF NOT EXISTS session (
	thread  TEXT PRIMARY KEY,
	body    TEXT NOT NULL,      -- session.Encode
	updated INTEGER NOT NULL,   -- Unix seconds
	fence   INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS session_updated ON session (updated);
CREATE TABLE IF NOT EXISTS listed (    -- what a list shows of a session
	thread  TEXT PRIMARY KEY,
	title   TEXT NOT NULL,
	waiting INTEGER NOT NULL,   -- 0 or 1
	saved   INTEGER NOT NULL    -- Unix nanoseconds
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS person (    -- who wrote where
	adapter TEXT NOT NULL,
	person  TEXT NOT NULL,
	thread  TEXT NOT NULL,
	PRIMARY KEY (adapter, person, thread)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS person_thread ON person (thread);`

// Store is a session.Store in one file.
type Store struct {
	db  *sql.DB
	now func() time.Time
}

var _ session.Store = (*Store)(nil)

// Open opens or makes the sessions of a data directory and forgets those not used
// for longer than keep; 0 keeps them for ever.
func Open(ctx context.Context, dir string, keep time.Duration) (*Store, error) {
	file := filepath.Join(dir, "sessions.db")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)&_pragma=synchronous(normal)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	store := &Store{db: db, now: time.Now}
	if err := store.prepare(ctx, keep); err != nil {
		return nil, errors.Join(fmt.Errorf("open sessions %s: %w", file, err), db.Close())
	}
	return store, nil
}

func (s *Store) prepare(ctx context.Context, keep time.Duration) error {
	if _, err := s.db.ExecContext(ctx, schema); err != nil {
		return err
	}
	if err := s.addFence(ctx); err != nil {
		return err
	}
	if keep <= 0 {
		return nil
	}
	if _, err := s.db.ExecContext(ctx, `DELETE FROM session WHERE updated < ?`, s.now().Add(-keep).Unix()); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM listed WHERE thread NOT IN (SELECT thread FROM session)`,
		`DELETE FROM person WHERE thread NOT IN (SELECT thread FROM session)`,
	} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// addFence gives a file of an earlier program the column that it lacks.
func (s *Store) addFence(ctx context.Context) error {
	var has int
	err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info('session') WHERE name = 'fence'`).Scan(&has)
	if err != nil || has > 0 {
		return err
	}
	_, err = s.db.ExecContext(ctx, `ALTER TABLE session ADD COLUMN fence INTEGER NOT NULL DEFAULT 0`)
	return err
}

// Load implements session.Store.
func (s *Store) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	loaded := session.Session{Thread: thread}
	var body []byte
	var updated int64
	err := s.db.QueryRowContext(ctx, `SELECT body, updated FROM session WHERE thread = ?`, string(thread)).Scan(&body, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return loaded, nil
	}
	if err != nil {
		return loaded, fmt.Errorf("load session %s: %w", thread, err)
	}
	if loaded, err = session.Decode(thread, body); err != nil {
		return loaded, fmt.Errorf("load session %s: %w", thread, err)
	}
	loaded.Updated = time.Unix(updated, 0)
	return loaded, nil
}

// Save implements session.Store.
func (s *Store) Save(ctx context.Context, saved session.Session) error {
	if err := s.save(ctx, saved); err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, err)
	}
	return nil
}

func (s *Store) save(ctx context.Context, saved session.Session) error {
	body, err := session.Encode(saved)
	if err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	now := s.now()
	result, err := tx.ExecContext(ctx, `INSERT INTO session (thread, body, updated, fence) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (thread) DO UPDATE SET body = excluded.body, updated = excluded.updated, fence = max(fence, ?4)
		WHERE ?4 = 0 OR fence <= ?4`, string(saved.Thread), body, now.Unix(), int64(saved.Fence))
	if err != nil {
		return err
	}
	if changed, err := result.RowsAffected(); err != nil || changed == 0 {
		return errors.Join(err, runs.ErrLost)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO listed (thread, title, waiting, saved) VALUES (?, ?, ?, ?)
		ON CONFLICT (thread) DO UPDATE SET title = excluded.title, waiting = excluded.waiting, saved = excluded.saved`,
		string(saved.Thread), saved.Title, saved.Waiting != nil, now.UnixNano())
	if err != nil {
		return err
	}
	if err := list(ctx, tx, saved); err != nil {
		return err
	}
	return tx.Commit()
}

// list lists the thread for its people.
func list(ctx context.Context, tx *sql.Tx, saved session.Session) error {
	people, err := json.Marshal(saved.People)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM person WHERE adapter = ? AND thread = ? AND person NOT IN (SELECT value FROM json_each(?))`,
		saved.Thread.Adapter(), string(saved.Thread), string(people))
	if err != nil {
		return err
	}
	for _, person := range saved.People {
		_, err = tx.ExecContext(ctx, `INSERT INTO person (adapter, person, thread) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			saved.Thread.Adapter(), string(person), string(saved.Thread))
		if err != nil {
			return err
		}
	}
	return nil
}

// Threads implements session.Store.
func (s *Store) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	listed, err := s.threads(ctx, adapter, by, limit)
	if err != nil {
		return nil, fmt.Errorf("list the threads of %s: %w", adapter, err)
	}
	return listed, nil
}

func (s *Store) threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT listed.thread, title, waiting, saved FROM person JOIN listed USING (thread)
		WHERE adapter = ? AND person = ? ORDER BY saved DESC LIMIT ?`, adapter, string(by), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var listed []chat.ThreadSummary
	for rows.Next() {
		var summary chat.ThreadSummary
		var saved int64
		if err := rows.Scan(&summary.Thread, &summary.Title, &summary.Waiting, &saved); err != nil {
			return nil, err
		}
		summary.Updated = time.Unix(0, saved)
		listed = append(listed, summary)
	}
	return listed, rows.Err()
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }
