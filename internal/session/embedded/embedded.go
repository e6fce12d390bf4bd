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
	"cairn/internal/session"
)

// version is the schema of the stored JSON. An older one is read or refused, never
// misread.
const version = 1

const schema = `
CREATE TABLE IF NOT EXISTS session (
	thread  TEXT PRIMARY KEY,
	body    TEXT NOT NULL,      -- stored, as JSON
	updated INTEGER NOT NULL    -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS session_updated ON session (updated);`

// stored is a session as it stands in the file.
type stored struct {
	Version int              `json:"version"`
	Flow    string           `json:"flow,omitempty"`
	Turns   []chat.Turn      `json:"turns,omitempty"`
	Waiting *session.Waiting `json:"waiting,omitempty"`
}

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
	if keep <= 0 {
		return nil
	}
	_, err := s.db.ExecContext(ctx, `DELETE FROM session WHERE updated < ?`, s.now().Add(-keep).Unix())
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
	var kept stored
	if err := json.Unmarshal(body, &kept); err != nil {
		return loaded, fmt.Errorf("load session %s: %w", thread, err)
	}
	if kept.Version != version {
		return loaded, fmt.Errorf("load session %s: it has version %d, this program knows %d; upgrade the program", thread, kept.Version, version)
	}
	loaded.Flow, loaded.Turns, loaded.Waiting = kept.Flow, kept.Turns, kept.Waiting
	loaded.Updated = time.Unix(updated, 0)
	return loaded, nil
}

// Save implements session.Store.
func (s *Store) Save(ctx context.Context, saved session.Session) error {
	body, err := json.Marshal(stored{Version: version, Flow: saved.Flow, Turns: saved.Turns, Waiting: saved.Waiting})
	if err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, err)
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO session (thread, body, updated) VALUES (?, ?, ?)
		ON CONFLICT (thread) DO UPDATE SET body = excluded.body, updated = excluded.updated`,
		string(saved.Thread), body, s.now().Unix())
	if err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, err)
	}
	return nil
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }
