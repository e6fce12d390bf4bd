package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// Claim implements runs.Leases.
func (s *Store) Claim(ctx context.Context, worker runs.WorkerID) (runs.Lease, error) {
	if worker == "" {
		return runs.Lease{}, errors.New("claim a thread: the worker has no name")
	}
	for {
		changed := s.work.wait()
		lease, found, next, err := s.tryClaim(ctx, worker)
		if err == nil && !found {
			err = s.sweepExpired(ctx)
		}
		if ctx.Err() != nil && !found {
			return runs.Lease{}, ctx.Err()
		}
		if err != nil {
			return runs.Lease{}, fmt.Errorf("claim a thread: %w", err)
		}
		if found {
			return lease, nil
		}
		timer := time.NewTimer(min(pollInterval, max(time.Millisecond, next)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return runs.Lease{}, ctx.Err()
		case <-changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// tryClaim leases the thread that has been claimable for longest. If there is none, it returns
// the time until one may be.
func (s *Store) tryClaim(ctx context.Context, worker runs.WorkerID) (lease runs.Lease, found bool, next time.Duration, err error) {
	err = s.db.Update(ctx, func(tx *sql.Tx) error {
		now := s.nowMillis()
		if err := promoteDue(ctx, tx, now); err != nil {
			return err
		}
		for !found {
			queue, ready, err := s.findReady(ctx, tx, now, &next)
			if err != nil || !ready {
				return err
			}
			if lease, found, err = s.leaseQueue(ctx, tx, queue, worker); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return runs.Lease{}, false, 0, err
	}
	return lease, found, next, nil
}

func (s *Store) findReady(ctx context.Context, tx *sql.Tx, now int64, next *time.Duration) (queue runs.QueueID, ready bool, err error) {
	var key string
	err = tx.QueryRowContext(ctx, `SELECT thread FROM thread WHERE claimable <= ? ORDER BY claimable, token LIMIT 1`, now).Scan(&key)
	if err == nil {
		return runs.ParseQueueKey(key), true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return queue, false, err
	}
	var soonest sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT min(at) FROM (SELECT min(claimable) AS at FROM thread UNION ALL SELECT min(due) FROM delayed)`).Scan(&soonest)
	*next = pollInterval
	if soonest.Valid {
		*next = time.Duration(soonest.Int64-now) * time.Millisecond
	}
	return queue, false, err
}

// hasMoreJobs is the SQL condition for a row of thread with more than one job.
const hasMoreJobs = `(SELECT count(*) > 1 FROM job WHERE job.thread = thread.thread)`

// leaseQueue leases a queue. It returns false if the job at its head could not be read and is
// now a dead letter, or left to newer programs.
func (s *Store) leaseQueue(ctx context.Context, tx *sql.Tx, queue runs.QueueID, worker runs.WorkerID) (runs.Lease, bool, error) {
	w := writer{tx, s.now(), queue}
	now := w.now
	lease := runs.Lease{Thread: queue.Thread, Lane: queue.Lane, Worker: worker, TTL: s.options.LeaseTTL, Given: now.UTC()}
	var by string
	var attempt int
	var at, unsure int64
	err := tx.QueryRowContext(ctx, `UPDATE thread SET token = max(token + 1, ?), worker = ?, attempt = attempt + 1, claimable = ?,
		unsure = CASE worker WHEN '' THEN unsure ELSE ? END
		WHERE thread = ? RETURNING token, attempt, stopped_by, stopped_at, unsure, `+hasMoreJobs,
		now.UnixMicro(), string(worker), now.Add(s.options.LeaseTTL).UnixMilli(), now.UnixMilli(), queue.Key()).
		Scan(&lease.Token, &attempt, &by, &at, &unsure, &lease.Behind)
	if err != nil {
		return lease, false, err
	}
	id, body, enqueued, err := headOf(ctx, tx, queue)
	if errors.Is(err, sql.ErrNoRows) {
		return lease, false, w.endLease(ctx)
	}
	if err != nil {
		return lease, false, err
	}
	lease.Job, err = decodeJob(body, enqueued, attempt)
	if errors.Is(err, runs.ErrNewer) {
		return lease, false, w.endLeaseForRetry(ctx, runs.Result{Next: runs.Left, After: runs.LeftFor, Reason: err.Error()})
	}
	if err != nil {
		letter := deadLetterRow{event: runs.EventID("unreadable-" + strconv.FormatInt(id, 10)), body: body, reason: err.Error()}
		return lease, false, w.deadLetter(ctx, id, letter)
	}
	lease.Stopped, lease.Unsure = stopOf(by, at), timeFromMillis(unsure)
	if queue.Lane != runs.LaneMessages {
		return lease, true, nil
	}
	remembered, err := readSession(ctx, tx, now.Add(-s.options.Keep), queue.Thread)
	lease.Session = remembered.body
	return lease, err == nil, err
}

func stopOf(by string, at int64) *runs.Stop {
	if at == 0 {
		return nil
	}
	return &runs.Stop{By: chat.UserID(by), At: timeFromMillis(at)}
}

// Renew implements runs.Leases.
func (s *Store) Renew(ctx context.Context, lease runs.Lease) (runs.Renewal, error) {
	var by string
	var at int64
	var renewal runs.Renewal
	err := s.db.Update(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `UPDATE thread SET claimable = ? WHERE thread = ? AND token = ? AND worker <> '' RETURNING stopped_by, stopped_at, `+hasMoreJobs,
			s.nowMillis()+s.options.LeaseTTL.Milliseconds(), lease.Queue().Key(), int64(lease.Token)).Scan(&by, &at, &renewal.Behind)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = runs.ErrLost
	}
	if err != nil {
		return runs.Renewal{}, fmt.Errorf("renew the lease of thread %s: %w", lease.Thread, err)
	}
	renewal.Stop = stopOf(by, at)
	return renewal, nil
}

// Finish implements runs.Leases.
func (s *Store) Finish(ctx context.Context, lease runs.Lease, result runs.Result) error {
	if _, err := s.commit(ctx, lease, store.Commit{Result: &result}, nil); err != nil {
		return fmt.Errorf("finish event %s of thread %s: %w", lease.Job.Event, lease.Thread, err)
	}
	return nil
}

func (s *Store) finishJob(ctx context.Context, w writer, event runs.EventID, result runs.Result) error {
	if result.Next == runs.Released {
		now := w.now.UnixMilli()
		_, err := w.tx.ExecContext(ctx, `UPDATE thread SET token = token + 1, worker = '', claimable = ?, attempt = attempt - 1, unsure = ? WHERE thread = ?`,
			now, now, w.queue.Key())
		return err
	}
	for _, drop := range []struct {
		statement string
		arguments []any
	}{
		{`DELETE FROM delivery WHERE thread = ? AND posted <> ''`, []any{w.queue.Key()}},
		{`DELETE FROM checkpoint WHERE run = ?`, []any{string(result.Over)}},
		{`DELETE FROM event WHERE thread = ?1 AND position <= (SELECT position FROM event WHERE thread = ?1 ORDER BY position DESC LIMIT 1 OFFSET ?2)`,
			[]any{string(w.queue.Thread), s.options.EventsKept}},
	} {
		if _, err := w.tx.ExecContext(ctx, drop.statement, drop.arguments...); err != nil {
			return err
		}
	}
	if result.Next == runs.Again || result.Next == runs.Left {
		return w.endLeaseForRetry(ctx, result)
	}
	id, body, _, err := headOf(ctx, w.tx, w.queue)
	if err != nil {
		return err
	}
	if result.Next == runs.Dead {
		return w.deadLetter(ctx, id, deadLetterRow{event, body, result.Reason})
	}
	if _, err := w.tx.ExecContext(ctx, `DELETE FROM job WHERE id = ?`, id); err != nil {
		return err
	}
	return w.endLease(ctx)
}

// endLeaseForRetry ends the lease of a queue whose job at the head will be retried.
func (w writer) endLeaseForRetry(ctx context.Context, result runs.Result) error {
	uncounted := 0
	if result.Next == runs.Left {
		uncounted = 1
	}
	now := w.now.UnixMilli()
	_, err := w.tx.ExecContext(ctx, `UPDATE thread SET token = token + 1, worker = '', claimable = ?, reason = ?, attempt = attempt - ?,
		unsure = CASE ? WHEN 'before' THEN unsure WHEN 'sure' THEN 0 ELSE ? END WHERE thread = ?`,
		now+result.After.Milliseconds(), result.Reason, uncounted, string(result.Doubt), now, w.queue.Key())
	return err
}

// deadLetterRow is a dead letter as it is stored.
type deadLetterRow struct {
	event  runs.EventID
	body   []byte
	reason string
}

// deadLetter moves the job at the head, which has the id, to the dead letters.
func (w writer) deadLetter(ctx context.Context, id int64, letter deadLetterRow) error {
	_, err := w.tx.ExecContext(ctx, `INSERT OR REPLACE INTO dead (thread, event, body, reason, at) VALUES (?, ?, ?, ?, ?)`,
		string(w.queue.Thread), string(letter.event), letter.body, letter.reason, w.now.UnixMilli())
	if err != nil {
		return err
	}
	if _, err := w.tx.ExecContext(ctx, `DELETE FROM job WHERE id = ?`, id); err != nil {
		return err
	}
	return w.endLease(ctx)
}

// endLease ends the lease of a queue whose head has changed, if it still has one.
func (w writer) endLease(ctx context.Context) error {
	_, err := w.tx.ExecContext(ctx, `UPDATE thread SET token = token + 1, worker = '', claimable = ?,
		attempt = 0, reason = '', stopped_by = '', stopped_at = 0, unsure = 0 WHERE thread = ?`, w.now.UnixMilli(), w.queue.Key())
	if err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, `DELETE FROM thread WHERE thread = ?1 AND NOT EXISTS (SELECT 1 FROM job WHERE job.thread = ?1)`, w.queue.Key())
	return err
}

// Release implements runs.Leases.
func (s *Store) Release(ctx context.Context, lease runs.Lease) error {
	if err := s.Finish(ctx, lease, runs.Result{Next: runs.Released}); err != nil {
		return fmt.Errorf("release thread %s: %w", lease.Thread, err)
	}
	return nil
}

// Stop implements runs.Stopper.
func (s *Store) Stop(ctx context.Context, thread chat.ThreadID, event runs.EventID, by chat.UserID) (stopped bool, err error) {
	err = s.db.Update(ctx, func(tx *sql.Tx) error {
		stopped, err = s.stopJob(ctx, tx, runs.QueueID{Thread: thread}, event, by)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("stop event %s of thread %s: %w", event, thread, err)
	}
	return stopped, nil
}

func (s *Store) stopJob(ctx context.Context, tx *sql.Tx, queue runs.QueueID, event runs.EventID, by chat.UserID) (bool, error) {
	_, body, _, err := headOf(ctx, tx, queue)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if job, err := runs.DecodeJob(body); err != nil || job.Event != event {
		return false, nil //nolint:nilerr // what can't be read is not the job
	}
	_, err = tx.ExecContext(ctx, `UPDATE thread SET
		stopped_by = CASE stopped_at WHEN 0 THEN ?1 ELSE stopped_by END,
		stopped_at = CASE stopped_at WHEN 0 THEN ?2 ELSE stopped_at END
		WHERE thread = ?3`, string(by), s.nowMillis(), queue.Key())
	return err == nil, err
}
