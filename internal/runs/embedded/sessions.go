package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

// useStep is how much later a use of a session must be than the one before to be written down:
// most of what is only read stays a read.
const useStep = time.Hour

// sessions is a session.Store in the database of a data directory.
type sessions struct{ store *Store }

var _ session.Store = (*sessions)(nil)

// Load implements session.Store.
func (s *sessions) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	now := s.store.now()
	kept, err := readSession(ctx, s.store.db, now.Add(-s.store.options.Keep), thread)
	if err == nil && kept.body == nil {
		return session.Session{Thread: thread}, nil
	}
	if err == nil && now.Sub(kept.used) >= useStep {
		_, err = s.store.db.ExecContext(ctx, `UPDATE session SET updated = ? WHERE thread = ?`, now.Unix(), string(thread))
	}
	var loaded session.Session
	if err == nil {
		loaded, err = session.Decode(thread, kept.body)
	}
	if err != nil {
		return session.Session{Thread: thread}, fmt.Errorf("load session %s: %w", thread, err)
	}
	loaded.Updated = kept.saved
	return loaded, nil
}

// sessionRow is a session as it is stored, and when it was used and saved.
type sessionRow struct {
	body        []byte // nil: none is kept
	used, saved time.Time
}

// rowReader is a database, or a transaction.
type rowReader interface {
	QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row
}

// readSession reads the session of a thread that was used since a time.
func readSession(ctx context.Context, db rowReader, since time.Time, thread chat.ThreadID) (sessionRow, error) {
	var body []byte
	var used, saved int64
	err := db.QueryRowContext(ctx, `SELECT body, updated, coalesce(saved, updated * 1000000000)
		FROM session LEFT JOIN session_list USING (thread) WHERE thread = ?`, string(thread)).Scan(&body, &used, &saved)
	if errors.Is(err, sql.ErrNoRows) {
		return sessionRow{}, nil
	}
	kept := sessionRow{body, time.Unix(used, 0), time.UnixMilli(saved / int64(time.Millisecond))}
	if kept.used.Before(since) {
		return sessionRow{}, err
	}
	return kept, err
}

// Save implements session.Store.
func (s *sessions) Save(ctx context.Context, saved session.Session) error {
	err := s.store.sweepExpired(ctx)
	if err == nil {
		err = s.store.db.Update(ctx, func(tx *sql.Tx) error {
			return writer{tx, s.store.now(), runs.QueueID{Thread: saved.Thread}}.writeSession(ctx, saved)
		})
	}
	if err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, err)
	}
	return nil
}

func (w writer) writeSession(ctx context.Context, saved session.Session) error {
	body, err := session.Encode(saved)
	if err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, `INSERT INTO session (thread, body, updated) VALUES (?, ?, ?)
		ON CONFLICT (thread) DO UPDATE SET body = excluded.body, updated = excluded.updated`, string(saved.Thread), body, w.now.Unix())
	if err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, `INSERT INTO session_list (thread, title, waiting, saved) VALUES (?, ?, ?, ?)
		ON CONFLICT (thread) DO UPDATE SET title = excluded.title, waiting = excluded.waiting, saved = excluded.saved`,
		string(saved.Thread), saved.Title, saved.Waiting != nil, w.now.UnixNano())
	if err != nil {
		return err
	}
	return listThread(ctx, w.tx, saved)
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
func (s *sessions) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	listed, err := s.queryThreads(ctx, adapter, by, limit)
	if err != nil {
		return nil, fmt.Errorf("list the threads of %s: %w", adapter, err)
	}
	return listed, nil
}

func (s *sessions) queryThreads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	rows, err := s.store.db.QueryContext(ctx, `SELECT thread, title, waiting, saved FROM session_person JOIN session_list USING (thread)
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
