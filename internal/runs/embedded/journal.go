package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/runs"
	"cairn/internal/runs/watch"
	"cairn/internal/sqlite"
)

// journal is a runs.Journal.
type journal struct {
	store *Store
	lease runs.Lease

	mu       sync.Mutex // held while events are written
	appended sync.Mutex // guards events
	events   []runs.Event
}

// Journal implements runs.Journals.
func (s *Store) Journal(lease runs.Lease) runs.Journal { return &journal{store: s, lease: lease} }

// Save implements graph.Store.
func (j *journal) Save(ctx context.Context, run string, checkpoint []byte) error {
	err := j.writeEvents(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, saveCheckpoint, run, checkpoint, j.store.now().Unix())
		return err
	})
	if err != nil {
		return fmt.Errorf("write checkpoint %s: %w", run, err)
	}
	return nil
}

// Load implements graph.Store.
func (j *journal) Load(ctx context.Context, run string) ([]byte, error) {
	return loadCheckpoint(ctx, j.store.db, run)
}

// Append implements runs.Journal.
func (j *journal) Append(events ...runs.Event) {
	j.appended.Lock()
	defer j.appended.Unlock()
	j.events = append(j.events, events...)
}

// Flush implements runs.Journal.
func (j *journal) Flush(ctx context.Context) error {
	if err := j.writeEvents(ctx, func(*sql.Tx) error { return nil }); err != nil {
		return fmt.Errorf("write events of thread %s: %w", j.lease.Thread, err)
	}
	return nil
}

// writeEvents runs change and appends the events that wait, in one transaction.
func (j *journal) writeEvents(ctx context.Context, change func(tx *sql.Tx) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appended.Lock()
	events := j.events
	j.appended.Unlock()
	var last int64
	err := j.store.inFencedTransaction(ctx, j.lease, func(tx *sql.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		for _, event := range events {
			if err := event.Check(); err != nil {
				return err
			}
			result, err := tx.ExecContext(ctx, `INSERT INTO event (thread, run, kind, body, at) VALUES (?, ?, ?, coalesce(?, x''), ?)`,
				string(j.lease.Thread), string(event.Run), string(event.Kind), event.Body, j.store.nowMillis())
			if err == nil {
				last, err = result.LastInsertId()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	j.appended.Lock()
	j.events = j.events[len(events):]
	j.appended.Unlock()
	if len(events) > 0 {
		j.store.hub.Kept(j.lease.Thread, runs.Position(strconv.FormatInt(last, 10)))
	}
	return nil
}

// Show implements runs.Journal.
func (j *journal) Show(_ context.Context, event runs.Event) error {
	if err := event.Check(); err != nil {
		return err
	}
	event.Position = ""
	j.store.hub.Show(j.lease.Thread, event)
	return nil
}

// Follow implements runs.Events.
func (s *Store) Follow(ctx context.Context, thread chat.ThreadID, after runs.Position) iter.Seq2[runs.Event, error] {
	return s.hub.Follow(ctx, thread, after, watch.Source{
		Start: func(ctx context.Context, at runs.Position) (runs.Position, error) {
			return s.positionOf(ctx, thread, at)
		},
		Read: func(ctx context.Context, at, upTo runs.Position) ([]runs.Event, error) {
			return s.eventsAfter(ctx, thread, at, upTo)
		},
		Poll: pollInterval,
	})
}

// positionOf returns the id of an event, 0 for one before the first.
func (s *Store) positionOf(ctx context.Context, thread chat.ThreadID, at runs.Position) (runs.Position, error) {
	switch at {
	case runs.Beginning:
		return "0", nil
	case runs.Latest:
		var last sql.NullInt64
		err := s.db.QueryRowContext(ctx, `SELECT max(position) FROM event WHERE thread = ?`, string(thread)).Scan(&last)
		if err != nil {
			return "", fmt.Errorf("follow thread %s: %w", thread, err)
		}
		return runs.Position(strconv.FormatInt(last.Int64, 10)), nil
	}
	if position, err := strconv.ParseInt(string(at), 10, 64); err != nil || position < 0 {
		return "", fmt.Errorf("follow thread %s: invalid position %q", thread, at)
	}
	return at, nil
}

func (s *Store) eventsAfter(ctx context.Context, thread chat.ThreadID, after, upTo runs.Position) ([]runs.Event, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT CAST(position AS TEXT), run, kind, body FROM event
		WHERE thread = ?1 AND position > CAST(?2 AS INTEGER) AND (?3 = ?4 OR position <= CAST(?3 AS INTEGER)) AND at >= ?5
		ORDER BY position LIMIT 100`,
		string(thread), string(after), string(upTo), string(runs.Latest), s.now().Add(-s.options.EventsFor).UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read the events of thread %s: %w", thread, err)
	}
	defer rows.Close()
	var events []runs.Event
	for rows.Next() {
		var event runs.Event
		if err := rows.Scan(&event.Position, &event.Run, &event.Kind, &event.Body); err != nil {
			return nil, fmt.Errorf("read the events of thread %s: %w", thread, err)
		}
		events = append(events, event)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the events of thread %s: %w", thread, err)
	}
	return events, nil
}

// saveCheckpoint and loadCheckpoint write and read the checkpoint table.
const saveCheckpoint = `INSERT INTO checkpoint (run, body, updated) VALUES (?, coalesce(?, x''), ?)
	ON CONFLICT (run) DO UPDATE SET body = excluded.body, updated = excluded.updated`

func loadCheckpoint(ctx context.Context, db *sqlite.DB, run string) ([]byte, error) {
	var checkpoint []byte
	err := db.QueryRowContext(ctx, `SELECT body FROM checkpoint WHERE run = ?`, run).Scan(&checkpoint)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, graph.ErrNoCheckpoint
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", run, err)
	}
	return checkpoint, nil
}
