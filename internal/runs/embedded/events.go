package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Follow implements runs.Events.
func (s *Store) Follow(ctx context.Context, thread chat.ThreadID, after runs.Position) iter.Seq2[runs.Event, error] {
	return s.hub.Follow(ctx, thread, after, runs.EventSource{
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
