package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
	"cairn/internal/runs"
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

// settleNotice ends a notice once the next one of its thread is known.
func (s *Store) settleNotice(ctx context.Context, thread chat.ThreadID, notice string, next nextNotice) error {
	return runScripts(ctx, s.client, settleScript.With(s.keys.wakeKeys(), string(thread), consumerGroup, notice, next.what, next.in))
}

// Renew implements runs.Leases.
func (s *Store) Renew(ctx context.Context, lease runs.Lease) (runs.Renewal, error) {
	fields, err := readStrings(renewScript.With([]string{s.keys.stateKey(lease.Thread), s.keys.jobsKey(lease.Thread)}, s.fenceArgs(lease)...).Run(ctx, s.client))
	if err != nil {
		return runs.Renewal{}, fmt.Errorf("renew the lease of thread %s: %w", lease.Thread, err)
	}
	return runs.Renewal{Stop: stopOf(fields[0], fields[1]), Behind: isBehind(fields[2])}, nil
}

// isBehind reports whether a thread has more jobs than the one at its head.
func isBehind(jobs string) bool { return jobs != "0" && jobs != "1" }

// fenceArgs returns the first arguments of every script that writes under a lease.
func (s *Store) fenceArgs(lease runs.Lease) []any {
	return []any{strconv.FormatInt(int64(lease.Token), 10), formatMillis(s.options.LeaseTTL)}
}

// Finish implements runs.Leases.
func (s *Store) Finish(ctx context.Context, lease runs.Lease, result runs.Result) error {
	how := string(result.Next)
	if how == "" {
		how = string(runs.Finished)
	}
	if err := s.finishLease(ctx, lease, how, result); err != nil {
		return fmt.Errorf("finish event %s of thread %s: %w", lease.Job.Event, lease.Thread, err)
	}
	return nil
}

// Release implements runs.Leases.
func (s *Store) Release(ctx context.Context, lease runs.Lease) error {
	if err := s.finishLease(ctx, lease, "released", runs.Result{}); err != nil {
		return fmt.Errorf("release thread %s: %w", lease.Thread, err)
	}
	return nil
}

func (s *Store) finishLease(ctx context.Context, lease runs.Lease, how string, result runs.Result) error {
	var wake []string
	if !s.client.Cluster {
		wake = s.keys.wakeKeys()
	}
	next, err := s.endLease(ctx, lease, how, result, wake...)
	if err != nil || !s.client.Cluster {
		return err
	}
	if err := s.settleNotice(ctx, lease.Thread, lease.Ref, next); err != nil {
		// The job is finished all the same; what comes next is found by the notice, which stays.
		s.options.Logger.WarnContext(ctx, "settle notice of thread", "thread", string(lease.Thread), "error", err)
	}
	return nil
}

// endLease ends the lease, and settles its notice by the keys in wake, where there are any.
func (s *Store) endLease(ctx context.Context, lease runs.Lease, how string, result runs.Result, wake ...string) (nextNotice, error) {
	if err := ctx.Err(); err != nil {
		return nextNotice{}, err
	}
	if how == string(runs.Dead) {
		if err := s.indexLetter(ctx, lease); err != nil {
			return nextNotice{}, err
		}
	}
	t := lease.Thread
	over := ""
	if result.Over != "" {
		over = "1"
	}
	keys := []string{s.keys.stateKey(t), s.keys.jobsKey(t), s.keys.delayedKey(t), s.keys.outboxKey(t), s.keys.deadKey(t), s.keys.checkpointKey(t, string(result.Over))}
	var next nextNotice
	finish := finishScript.With(keys, strconv.FormatInt(int64(lease.Token), 10), rand.Text(), how, formatMillis(result.After), result.Reason,
		string(lease.Job.Event), over, formatMillis(s.options.Keep), string(t), consumerGroup, lease.Ref, string(result.Doubt)).On(wake...)
	err := runScripts(ctx, s.client, finish.Then(func(_ context.Context, result *redis.Cmd) error {
		fields, err := readStrings(result)
		if err == nil {
			next, err = parseNextNotice(fields)
		}
		return err
	}))
	return next, err
}

// Stop implements runs.Stopper.
func (s *Store) Stop(ctx context.Context, thread chat.ThreadID, event runs.EventID, by chat.UserID) (bool, error) {
	stopped, err := stopScript.With([]string{s.keys.stateKey(thread), s.keys.jobsKey(thread)}, string(by), string(event)).Run(ctx, s.client).Int()
	if err != nil {
		return false, fmt.Errorf("stop event %s of thread %s: %w", event, thread, explainError(err))
	}
	return stopped == 1, nil
}
