package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
)

// Enqueue implements runs.Queue.
func (s *Store) Enqueue(ctx context.Context, job runs.Job) (bool, error) {
	return s.EnqueueAfter(ctx, job, 0)
}

// EnqueueAfter implements runs.Queue.
func (s *Store) EnqueueAfter(ctx context.Context, job runs.Job, delay time.Duration) (accepted bool, err error) {
	body, err := runs.EncodeJob(job)
	if err != nil {
		return false, err
	}
	err = s.db.Update(ctx, func(tx *sql.Tx) error {
		accepted, err = s.recordEvent(ctx, tx, job)
		if err != nil || !accepted {
			return err
		}
		now := s.nowMillis()
		if delay > 0 {
			_, err := tx.ExecContext(ctx, `INSERT INTO delayed (thread, due, body) VALUES (?, ?, ?)`,
				job.Queue().Key(), now+delay.Milliseconds(), body)
			return err
		}
		return pushJob(ctx, tx, job.Queue(), body, now)
	})
	if err != nil {
		return false, fmt.Errorf("enqueue event %s of thread %s: %w", job.Event, job.Thread(), err)
	}
	s.work.fire()
	return accepted, nil
}

// recordEvent remembers the event; false if it is known already.
func (s *Store) recordEvent(ctx context.Context, tx *sql.Tx, job runs.Job) (bool, error) {
	now := s.nowMillis()
	result, err := tx.ExecContext(ctx, `INSERT INTO seen (thread, event, at) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET at = excluded.at WHERE at < ?`,
		string(job.Thread()), string(job.Event), now, now-s.options.DedupeFor.Milliseconds())
	if err != nil {
		return false, err
	}
	changed, err := result.RowsAffected()
	return changed > 0, err
}

// pushJob puts a job at the end of its queue.
func pushJob(ctx context.Context, tx *sql.Tx, queue runs.QueueID, body []byte, now int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO job (thread, body, enqueued) VALUES (?, ?, ?)`, queue.Key(), body, now)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO thread (thread, claimable) VALUES (?, ?) ON CONFLICT DO NOTHING`, queue.Key(), now)
	return err
}

// promoteDue puts delayed jobs that are due into the queue.
func promoteDue(ctx context.Context, tx *sql.Tx, now int64) error {
	type late struct {
		id    int64
		queue string
		body  []byte
	}
	rows, err := tx.QueryContext(ctx, `SELECT id, thread, body FROM delayed WHERE due <= ? ORDER BY due, id LIMIT 100`, now)
	if err != nil {
		return err
	}
	defer rows.Close()
	var due []late
	for rows.Next() {
		var job late
		if err := rows.Scan(&job.id, &job.queue, &job.body); err != nil {
			return err
		}
		due = append(due, job)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, job := range due {
		if err := pushJob(ctx, tx, runs.ParseQueueKey(job.queue), job.body, now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM delayed WHERE id = ?`, job.id); err != nil {
			return err
		}
	}
	return nil
}
