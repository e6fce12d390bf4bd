package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// State implements runs.Operator.
func (s *Store) State(ctx context.Context, thread chat.ThreadID) (runs.ThreadState, error) {
	var state runs.ThreadState
	err := s.db.Update(ctx, func(tx *sql.Tx) (err error) {
		state, err = s.readState(ctx, tx, runs.QueueID{Thread: thread})
		return err
	})
	if err != nil {
		return runs.ThreadState{}, fmt.Errorf("look into thread %s: %w", thread, err)
	}
	return state, nil
}

func (s *Store) readState(ctx context.Context, tx *sql.Tx, queue runs.QueueID) (runs.ThreadState, error) {
	state := runs.ThreadState{Thread: queue.Thread, Lane: queue.Lane}
	var attempt int
	var claimable, at int64
	var by string
	err := tx.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM job WHERE thread = ?1), (SELECT count(*) FROM delayed WHERE thread = ?1)`, queue.Key()).
		Scan(&state.Queued, &state.Delayed)
	if err != nil || state.Queued == 0 {
		return state, err
	}
	err = tx.QueryRowContext(ctx, `SELECT claimable, worker, attempt, reason, stopped_by, stopped_at FROM thread WHERE thread = ?`, queue.Key()).
		Scan(&claimable, &state.Worker, &attempt, &state.Reason, &by, &at)
	if err != nil {
		return state, err
	}
	switch {
	case state.Worker != "":
		state.Until = timeFromMillis(claimable)
	case claimable > s.nowMillis():
		state.NotBefore = timeFromMillis(claimable)
	}
	state.Stopped = stopOf(by, at)
	_, body, enqueued, err := headOf(ctx, tx, queue)
	if err != nil {
		return state, err
	}
	if job, err := decodeJob(body, enqueued, attempt); err == nil {
		state.Head = job
	}
	return state, nil
}

// Threads implements runs.Operator.
func (s *Store) Threads(ctx context.Context, limit int) ([]runs.ThreadState, error) {
	var states []runs.ThreadState
	err := s.db.Update(ctx, func(tx *sql.Tx) error {
		keys, err := queryStrings(ctx, tx, `SELECT thread FROM thread UNION SELECT thread FROM delayed ORDER BY thread LIMIT ?`, limit)
		for _, key := range keys {
			state, err := s.readState(ctx, tx, runs.ParseQueueKey(key))
			if err != nil {
				return err
			}
			states = append(states, state)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list threads with work: %w", err)
	}
	return states, nil
}

// queryStrings returns the rows of a query of one column.
func queryStrings(ctx context.Context, tx *sql.Tx, query string, arguments ...any) ([]string, error) {
	rows, err := tx.QueryContext(ctx, query, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}

// DeadLetters implements runs.Operator.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]runs.DeadLetter, error) {
	letters, err := s.queryLetters(ctx, `ORDER BY at DESC, event LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	return letters, nil
}

// FindDeadLetter implements runs.Operator.
func (s *Store) FindDeadLetter(ctx context.Context, run chat.RunID) (runs.DeadLetter, error) {
	letters, err := s.queryLetters(ctx, `WHERE name = ? ORDER BY at DESC LIMIT 1`, string(run))
	if err == nil && len(letters) == 0 {
		err = runs.ErrUnknownLetter
	}
	if err != nil {
		return runs.DeadLetter{}, fmt.Errorf("find the dead letter of run %s: %w", run, err)
	}
	return letters[0], nil
}

// queryLetters returns the dead letters that the clauses choose.
func (s *Store) queryLetters(ctx context.Context, clauses string, arguments ...any) ([]runs.DeadLetter, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT thread, event, body, reason, at FROM dead `+clauses, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var letters []runs.DeadLetter
	for rows.Next() {
		var letter runs.DeadLetter
		var thread, event string
		var body []byte
		var at int64
		if err := rows.Scan(&thread, &event, &body, &letter.Reason, &at); err != nil {
			return nil, err
		}
		letter.At = timeFromMillis(at)
		if job, err := runs.DecodeJob(body); err == nil {
			letter.Job = job
		}
		letter.Job.Event, letter.Job.Message.Thread = runs.EventID(event), chat.ThreadID(thread)
		letters = append(letters, letter)
	}
	return letters, rows.Err()
}

// Discard implements runs.Operator.
func (s *Store) Discard(ctx context.Context, thread chat.ThreadID, event runs.EventID) error {
	err := s.db.Update(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM dead WHERE thread = ? AND event = ?`, string(thread), string(event))
		if err != nil {
			return err
		}
		gone, err := result.RowsAffected()
		if err == nil && gone == 0 {
			err = runs.ErrUnknownLetter
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("discard event %s of thread %s: %w", event, thread, err)
	}
	return nil
}

// Replay implements runs.Operator.
func (s *Store) Replay(ctx context.Context, thread chat.ThreadID, event runs.EventID) error {
	err := s.db.Update(ctx, func(tx *sql.Tx) error {
		var body []byte
		err := tx.QueryRowContext(ctx, `DELETE FROM dead WHERE thread = ? AND event = ? RETURNING body`, string(thread), string(event)).Scan(&body)
		if errors.Is(err, sql.ErrNoRows) {
			return runs.ErrUnknownLetter
		}
		if err != nil {
			return err
		}
		queue := runs.QueueID{Thread: thread}
		if job, err := runs.DecodeJob(body); err == nil {
			queue.Lane = job.Lane
		}
		return pushJob(ctx, tx, queue, body, s.nowMillis())
	})
	if err != nil {
		return fmt.Errorf("replay event %s of thread %s: %w", event, thread, err)
	}
	s.work.fire()
	return nil
}

// Forget implements runs.Forgetter.
func (s *Store) Forget(ctx context.Context, thread chat.ThreadID, by chat.UserID, of []chat.RunID) error {
	err := s.db.Update(ctx, func(tx *sql.Tx) error {
		for _, lane := range runs.Lanes {
			if err := s.forgetJobs(ctx, tx, runs.QueueID{Thread: thread, Lane: lane}, by); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM dead`+ofAuthor, string(thread), string(by)); err != nil {
			return err
		}
		for _, run := range of {
			if _, err := tx.ExecContext(ctx, `DELETE FROM checkpoint WHERE run = ?`, string(run)); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM delivery WHERE thread = ? AND run = ?`, string(thread), string(run)); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM edit WHERE thread = ? AND author = ?`, string(thread), string(by)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM event WHERE thread = ?`, string(thread))
		return err
	})
	if err != nil {
		return fmt.Errorf("forget %s in thread %s: %w", by, thread, err)
	}
	s.work.fire()
	return nil
}

// ofAuthor is the SQL condition for a person's rows of a table that holds jobs. The body is JSON,
// but for one that can't be read: that is kept, it tells of nobody.
const ofAuthor = ` WHERE thread = ?1 AND json_valid(CAST(body AS TEXT)) AND CAST(body AS TEXT) ->> '$.author' = ?2`

// forgetJobs removes the person's jobs from a queue.
func (s *Store) forgetJobs(ctx context.Context, tx *sql.Tx, queue runs.QueueID, by chat.UserID) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM delayed`+ofAuthor, queue.Key(), string(by)); err != nil {
		return err
	}
	head, _, _, err := headOf(ctx, tx, queue)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM job`+ofAuthor+` AND NOT (id = ?3 AND EXISTS (SELECT 1 FROM thread WHERE thread = ?1 AND worker <> ''))`,
		queue.Key(), string(by), head)
	if err != nil {
		return err
	}
	if left, _, _, err := headOf(ctx, tx, queue); err == nil && left == head {
		return nil
	} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return writer{tx, s.now(), queue}.endLease(ctx)
}
