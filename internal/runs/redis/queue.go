package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
)

// Enqueue implements runs.Queue.
func (s *Store) Enqueue(ctx context.Context, job runs.Job) (bool, error) {
	return s.enqueueJob(ctx, job, 0)
}

// EnqueueAfter implements runs.Queue.
func (s *Store) EnqueueAfter(ctx context.Context, job runs.Job, delay time.Duration) (bool, error) {
	return s.enqueueJob(ctx, job, max(0, delay))
}

func (s *Store) enqueueJob(ctx context.Context, job runs.Job, delay time.Duration) (bool, error) {
	body, err := runs.EncodeJob(job)
	if err != nil {
		return false, err
	}
	accepted, err := s.putJob(ctx, job, body, delay)
	if err != nil {
		return false, fmt.Errorf("enqueue event %s of thread %s: %w", job.Event, job.Thread(), explainError(err))
	}
	return accepted == 1, nil
}

// putJob enqueues a job and announces its queue: in one script where all keys are on one server.
func (s *Store) putJob(ctx context.Context, job runs.Job, body []byte, delay time.Duration) (accepted int, err error) {
	q := job.Queue()
	keys := []string{s.keys.jobsKey(q), s.keys.delayedKey(q), s.keys.seenKey(q.Thread, job.Event), s.keys.stateKey(q)}
	put := func(keys ...string) (int, error) {
		return enqueueScript.Run(ctx, s.client, keys, body, formatMillis(delay), formatMillis(s.options.DedupeFor), q.Key()).Int()
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !s.client.Cluster {
		return put(append(keys, s.keys.wakeKeys()...)...)
	}
	within := delay
	if delay == 0 {
		within = s.options.ClaimInterval
	}
	if err := s.scheduleNotice(ctx, q, within); err != nil {
		return 0, err
	}
	if accepted, err = put(keys...); err != nil || delay > 0 {
		return accepted, err
	}
	return accepted, s.announceQueue(ctx, q)
}

// scheduleNotice schedules a notice of the queue, in case the announcement gets lost.
func (s *Store) scheduleNotice(ctx context.Context, queue runs.QueueID, within time.Duration) error {
	return explainError(intendScript.Run(ctx, s.client, []string{s.keys.globalKey("due")}, queue.Key(), formatMillis(within)).Err())
}

// announceQueue adds a notice of the queue for the workers.
func (s *Store) announceQueue(ctx context.Context, queue runs.QueueID) error {
	return explainError(announceScript.Run(ctx, s.client, s.keys.wakeKeys(), queue.Key()).Err())
}
