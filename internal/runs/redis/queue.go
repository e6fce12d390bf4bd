package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
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
	put := call{enqueueScript, []string{s.keys.jobs(thread), s.keys.delayed(thread), s.keys.seen(thread)},
		[]any{string(job.Event), body, millis(delay), millis(s.options.DedupeFor), string(thread)}}
	accepted, err := s.put(ctx, thread, put, delay)
	if err != nil {
		return false, fmt.Errorf("enqueue event %s of thread %s: %w", job.Event, thread, err)
	}
	return accepted == 1, nil
}

// put puts a job into its queue and has the thread looked at: in one script where all is
// on one server.
func (s *Store) put(ctx context.Context, thread chat.ThreadID, put call, delay time.Duration) (accepted int, err error) {
	if !s.client.Cluster {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		put.keys = append(put.keys, s.keys.wake()...)
		accepted, err = put.run(ctx, s.client).Int()
		return accepted, explain(err)
	}
	var results []*redis.Cmd
	if delay > 0 {
		results, err = inOrder(ctx, s.client, s.intend(thread, delay), put)
	} else {
		results, err = inOrder(ctx, s.client, s.intend(thread, s.options.ClaimInterval), put, s.announce(thread))
	}
	if err != nil {
		return 0, err
	}
	return results[1].Int()
}

// intend notes that the thread is to be looked at in a while, whatever comes.
func (s *Store) intend(thread chat.ThreadID, within time.Duration) call {
	return call{intendScript, []string{s.keys.all("due")}, []any{string(thread), millis(within)}}
}

// announce has a worker look at the thread now.
func (s *Store) announce(thread chat.ThreadID) call {
	return call{announceScript, s.keys.wake(), []any{string(thread)}}
}
