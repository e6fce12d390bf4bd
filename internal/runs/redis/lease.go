package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// nextNotice is when a thread is to be looked at after its lease: what is "again" (at once),
// "later" (in so many ms) or "none".
type nextNotice struct{ what, in string }

func parseNextNotice(fields []string) (nextNotice, error) {
	if len(fields) != 2 {
		return nextNotice{}, fmt.Errorf("unexpected script result %q: want the next notice and its time", fields)
	}
	in, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return nextNotice{}, fmt.Errorf("unexpected script result %q: want the next notice and its time", fields)
	}
	return nextNotice{fields[0], strconv.FormatInt(int64(in), 10)}, nil
}

// settleNotice ends a notice once the next one of its queue is known.
func (s *Store) settleNotice(ctx context.Context, queue runs.QueueID, notice string, next nextNotice) error {
	return explainError(settleScript.Run(ctx, s.client, s.keys.wakeKeys(), queue.Key(), consumerGroup, notice, next.what, next.in).Err())
}

// Renew implements runs.Leases.
func (s *Store) Renew(ctx context.Context, lease runs.Lease) (runs.Renewal, error) {
	fields, err := readStrings(renewScript.Run(ctx, s.client, []string{s.keys.stateKey(lease.Queue())}, formatToken(lease.Token), formatMillis(s.options.LeaseTTL)))
	if err != nil {
		return runs.Renewal{}, fmt.Errorf("renew the lease of thread %s: %w", lease.Thread, err)
	}
	return runs.Renewal{Stop: stopOf(fields[0], fields[1]), Behind: fields[2] != ""}, nil
}

// Finish implements runs.Leases.
func (s *Store) Finish(ctx context.Context, lease runs.Lease, result runs.Result) error {
	if _, err := s.commit(ctx, commit{Commit: store.Commit{Result: &result}, lease: lease, call: rand.Text(), number: s.numberCommit()}); err != nil {
		return fmt.Errorf("finish event %s of thread %s: %w", lease.Job.Event, lease.Thread, err)
	}
	return nil
}

// Release implements runs.Leases.
func (s *Store) Release(ctx context.Context, lease runs.Lease) error {
	if err := s.Finish(ctx, lease, runs.Result{Next: runs.Released}); err != nil {
		return fmt.Errorf("release thread %s: %w", lease.Thread, err)
	}
	return nil
}

// Stop implements runs.Stopper.
func (s *Store) Stop(ctx context.Context, thread chat.ThreadID, event runs.EventID, by chat.UserID) (bool, error) {
	queue := runs.QueueID{Thread: thread}
	stopped, err := stopScript.Run(ctx, s.client, []string{s.keys.stateKey(queue), s.keys.jobsKey(queue)}, string(by), string(event)).Int()
	if err != nil {
		return false, fmt.Errorf("stop event %s of thread %s: %w", event, thread, explainError(err))
	}
	return stopped == 1, nil
}
