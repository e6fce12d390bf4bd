package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
	"cairn/internal/redis/script"
	"cairn/internal/runs"
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
	thread := job.Thread()
	put := enqueueScript.With([]string{s.keys.jobsKey(thread), s.keys.delayedKey(thread), s.keys.seenKey(thread)}, string(job.Event), body, formatMillis(delay), formatMillis(s.options.DedupeFor), string(thread))
	accepted, err := s.putJob(ctx, thread, put, delay)
	if err != nil {
		return false, fmt.Errorf("enqueue event %s of thread %s: %w", job.Event, thread, err)
	}
	return accepted == 1, nil
}

// putJob enqueues a job and announces its thread: in one script where all keys are on one server.
func (s *Store) putJob(ctx context.Context, thread chat.ThreadID, put script.Call, delay time.Duration) (accepted int, err error) {
	if !s.client.Cluster {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		accepted, err = put.On(s.keys.wakeKeys()...).Run(ctx, s.client).Int()
		return accepted, explainError(err)
	}
	put = put.Then(func(_ context.Context, result *redis.Cmd) error {
		accepted, err = result.Int()
		return err
	})
	calls := []script.Call{s.scheduleNotice(thread, delay), put}
	if delay == 0 {
		calls = []script.Call{s.scheduleNotice(thread, s.options.ClaimInterval), put, s.announceThread(thread)}
	}
	err = runScripts(ctx, s.client, calls...)
	return accepted, err
}

// scheduleNotice schedules a notice of the thread, in case the announcement gets lost.
func (s *Store) scheduleNotice(thread chat.ThreadID, within time.Duration) script.Call {
	return intendScript.With([]string{s.keys.globalKey("due")}, string(thread), formatMillis(within))
}

// announceThread adds a notice of the thread for the workers.
func (s *Store) announceThread(thread chat.ThreadID) script.Call {
	return announceScript.With(s.keys.wakeKeys(), string(thread))
}
