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
	return s.enqueue(ctx, job, 0)
}

// EnqueueAfter implements runs.Queue.
func (s *Store) EnqueueAfter(ctx context.Context, job runs.Job, delay time.Duration) (bool, error) {
	return s.enqueue(ctx, job, max(0, delay))
}

func (s *Store) enqueue(ctx context.Context, job runs.Job, delay time.Duration) (bool, error) {
	body, err := runs.EncodeJob(job)
	if err != nil {
		return false, err
	}
	thread := job.Thread()
	put := enqueueScript.With([]string{s.keys.jobs(thread), s.keys.delayed(thread), s.keys.seen(thread)}, string(job.Event), body, millis(delay), millis(s.options.DedupeFor), string(thread))
	accepted, err := s.put(ctx, thread, put, delay)
	if err != nil {
		return false, fmt.Errorf("enqueue event %s of thread %s: %w", job.Event, thread, err)
	}
	return accepted == 1, nil
}

// put puts a job into its queue and has the thread looked at: in one script where all is
// on one server.
func (s *Store) put(ctx context.Context, thread chat.ThreadID, put script.Call, delay time.Duration) (accepted int, err error) {
	if !s.client.Cluster {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		accepted, err = put.On(s.keys.wake()...).Run(ctx, s.client).Int()
		return accepted, explain(err)
	}
	put = put.Then(func(_ context.Context, result *redis.Cmd) error {
		accepted, err = result.Int()
		return err
	})
	calls := []script.Call{s.intend(thread, delay), put}
	if delay == 0 {
		calls = []script.Call{s.intend(thread, s.options.ClaimInterval), put, s.announce(thread)}
	}
	err = do(ctx, s.client, calls...)
	return accepted, err
}

// intend notes that the thread is to be looked at in a while, whatever comes.
func (s *Store) intend(thread chat.ThreadID, within time.Duration) script.Call {
	return intendScript.With([]string{s.keys.all("due")}, string(thread), millis(within))
}

// announce has a worker look at the thread now.
func (s *Store) announce(thread chat.ThreadID) script.Call {
	return announceScript.With(s.keys.wake(), string(thread))
}
