// Package embedded keeps sessions in SQLite, with no server.
package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/session"
	"cairn/internal/sqlite"
)

const (
	// useStep is how much later a use must be than the one before to be written down:
	// most of what is only read stays a read.
	useStep = time.Hour
	// forgetEvery is how often sessions are forgotten that nobody uses any more.
	forgetEvery = time.Hour
)

// Store is a session.Store in the database of a data directory.
type Store struct {
	db   *sqlite.DB
	keep time.Duration
	now  func() time.Time

	mu     sync.Mutex
	forget time.Time // when unused sessions are to be forgotten again
}

var _ session.Store = (*Store)(nil)

// Open returns the sessions in a database, which stays the caller's. Those not used for longer
// than keep are forgotten, now and from time to time; 0 keeps them for ever.
func Open(ctx context.Context, db *sqlite.DB, keep time.Duration) (*Store, error) {
	store := &Store{db: db, keep: keep, now: time.Now}
	if err := store.forgetUnused(ctx); err != nil {
		return nil, fmt.Errorf("forget unused sessions: %w", err)
	}
	return store, nil
}

// forgetUnused deletes the sessions that were not used for longer than keep, from time to time.
func (s *Store) forgetUnused(ctx context.Context) error {
	now := s.now()
	if s.keep <= 0 || !s.takeForgetDue(now) {
		return nil
	}
	if _, err := s.db.ExecContext(ctx, `DELETE FROM session WHERE updated < ?`, now.Add(-s.keep).Unix()); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM session_list WHERE thread NOT IN (SELECT thread FROM session)`,
		`DELETE FROM session_person WHERE thread NOT IN (SELECT thread FROM session)`,
	} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) takeForgetDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.forget) {
		return false
	}
	s.forget = now.Add(forgetEvery)
	return true
}

// Load implements session.Store.
func (s *Store) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	loaded, err := s.loadSession(ctx, thread)
	if err != nil {
		return session.Session{Thread: thread}, fmt.Errorf("load session %s: %w", thread, err)
	}
	return loaded, nil
}

func (s *Store) loadSession(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	var body []byte
	var used, saved int64
	err := s.db.QueryRowContext(ctx, `SELECT body, updated, coalesce(saved, updated * 1000000000)
		FROM session LEFT JOIN session_list USING (thread) WHERE thread = ?`, string(thread)).Scan(&body, &used, &saved)
	if errors.Is(err, sql.ErrNoRows) {
		return session.Session{Thread: thread}, nil
	}
	if err != nil {
		return session.Session{}, err
	}
	now := s.now()
	if s.keep > 0 && now.Sub(time.Unix(used, 0)) > s.keep {
		return session.Session{Thread: thread}, nil
	}
	if now.Sub(time.Unix(used, 0)) >= useStep {
		if _, err := s.db.ExecContext(ctx, `UPDATE session SET updated = ? WHERE thread = ?`, now.Unix(), string(thread)); err != nil {
			return session.Session{}, err
		}
	}
	loaded, err := session.Decode(thread, body)
	loaded.Updated = time.UnixMilli(saved / int64(time.Millisecond))
	return loaded, err
}

// Save implements session.Store.
func (s *Store) Save(ctx context.Context, saved session.Session) error {
	if err := errors.Join(s.forgetUnused(ctx), s.saveSession(ctx, saved)); err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, err)
	}
	return nil
}

func (s *Store) saveSession(ctx context.Context, saved session.Session) error {
	body, err := session.Encode(saved)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *sql.Tx) error { return s.writeSession(ctx, tx, saved, body) })
}

func (s *Store) writeSession(ctx context.Context, tx *sql.Tx, saved session.Session, body []byte) error {
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
	_, err = tx.ExecContext(ctx, `INSERT INTO session_list (thread, title, waiting, saved) VALUES (?, ?, ?, ?)
		ON CONFLICT (thread) DO UPDATE SET title = excluded.title, waiting = excluded.waiting, saved = excluded.saved`,
		string(saved.Thread), saved.Title, saved.Waiting != nil, now.UnixNano())
	if err != nil {
		return err
	}
	return listThread(ctx, tx, saved)
}

// listThread adds the thread to the lists of its people.
func listThread(ctx context.Context, tx *sql.Tx, saved session.Session) error {
	people, err := json.Marshal(saved.People)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM session_person WHERE adapter = ? AND thread = ? AND person NOT IN (SELECT value FROM json_each(?))`,
		saved.Thread.Adapter(), string(saved.Thread), string(people))
	if err != nil {
		return err
	}
	for _, person := range saved.People {
		_, err = tx.ExecContext(ctx, `INSERT INTO session_person (adapter, person, thread) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			saved.Thread.Adapter(), string(person), string(saved.Thread))
		if err != nil {
			return err
		}
	}
	return nil
}

// Threads implements session.Store.
func (s *Store) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	listed, err := s.queryThreads(ctx, adapter, by, limit)
	if err != nil {
		return nil, fmt.Errorf("list the threads of %s: %w", adapter, err)
	}
	return listed, nil
}

func (s *Store) queryThreads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT thread, title, waiting, saved FROM session_person JOIN session_list USING (thread)
		WHERE adapter = ? AND person = ? ORDER BY saved / 1000000 DESC, thread DESC LIMIT ?`, adapter, string(by), limit)
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
		summary.Updated = time.UnixMilli(saved / int64(time.Millisecond))
		listed = append(listed, summary)
	}
	return listed, rows.Err()
}
