package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

const (
	// block is how long a claim waits before it looks whether it is to end.
	block = 250 * time.Millisecond
	// promoteEvery is how often threads that are due are looked for, at the least.
	promoteEvery = 200 * time.Millisecond
	// repairEvery is how often all queues are looked through for one that nobody announced,
	// and the lists of records cut.
	repairEvery = 10 * time.Minute
	// giveBack is how long a claim that is ended may take to give back what it got.
	giveBack = 2 * time.Second
)

// claimant is one call of Claim.
type claimant struct {
	*Store
	worker runs.WorkerID
	call   string // its name in the state of a thread
}

// Claim implements runs.Leases.
func (s *Store) Claim(ctx context.Context, worker runs.WorkerID) (runs.Lease, error) {
	if worker == "" {
		return runs.Lease{}, errors.New("claim a thread: the worker has no name")
	}
	c := claimant{s, worker, rand.Text()}
	for ctx.Err() == nil {
		lease, found, err := c.next(ctx)
		if found && ctx.Err() != nil {
			return runs.Lease{}, errors.Join(ctx.Err(), c.giveBack(ctx, lease))
		}
		if found {
			return lease, nil
		}
		if err != nil && ctx.Err() == nil {
			return runs.Lease{}, fmt.Errorf("claim a thread: %w", err)
		}
	}
	return runs.Lease{}, ctx.Err()
}

func (c claimant) giveBack(ctx context.Context, lease runs.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBack)
	defer cancel()
	return c.Release(ctx, lease)
}

// next does what upkeep is due and waits a little for a thread.
func (c claimant) next(ctx context.Context) (runs.Lease, bool, error) {
	c.upkeep.restored(c.client.Since(), c.options.LeaseTTL)
	if c.upkeep.take(&c.upkeep.repair, repairEvery) {
		if err := c.repair(ctx); err != nil {
			return runs.Lease{}, false, err
		}
	}
	if c.upkeep.take(&c.upkeep.promote, promoteEvery) {
		if err := c.promote(ctx); err != nil {
			return runs.Lease{}, false, err
		}
	}
	if c.upkeep.take(&c.upkeep.reclaim, c.options.ClaimInterval/2) {
		lease, found, err := c.reclaim(ctx)
		if found || err != nil {
			c.upkeep.sooner(&c.upkeep.reclaim, 0) // there may be more
			return lease, found, err
		}
	}
	// It is not cut off by ctx: a notice that was on its way would wait for reclaim.
	streams, err := c.client.XReadGroup(context.WithoutCancel(ctx), &redis.XReadGroupArgs{
		Group: group, Consumer: string(c.worker), Streams: []string{c.keys.all("ready"), ">"}, Count: 1, Block: block,
	}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return runs.Lease{}, false, nil
	case redis.HasErrorPrefix(err, "NOGROUP"): // the Redis was emptied
		return runs.Lease{}, false, c.makeGroup(ctx)
	case err != nil:
		return runs.Lease{}, false, explain(err)
	}
	for _, stream := range streams {
		for _, message := range stream.Messages {
			return c.try(context.WithoutCancel(ctx), message)
		}
	}
	return runs.Lease{}, false, nil
}

// promote announces threads that are due.
func (c claimant) promote(ctx context.Context) error {
	next, err := promoteScript.With(c.keys.wake()).Run(ctx, c.client).Int64()
	if err != nil {
		return explain(err)
	}
	if next >= 0 {
		c.upkeep.sooner(&c.upkeep.promote, time.Duration(next)*time.Millisecond)
	}
	return nil
}

// reclaim takes over notices that nobody has looked at for a while, until one gives a
// thread.
func (c claimant) reclaim(ctx context.Context) (runs.Lease, bool, error) {
	for start := "0-0"; ; {
		messages, next, err := c.client.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: c.keys.all("ready"), Group: group, Consumer: string(c.worker),
			MinIdle: c.options.ClaimInterval / 2, Start: start, Count: 1,
		}).Result()
		if redis.HasErrorPrefix(err, "NOGROUP") {
			return runs.Lease{}, false, c.makeGroup(ctx)
		}
		if err != nil {
			return runs.Lease{}, false, explain(err)
		}
		for _, message := range messages {
			lease, found, err := c.try(ctx, message)
			if found || err != nil {
				return lease, found, err
			}
		}
		if start = next; start == "0-0" {
			return runs.Lease{}, false, nil
		}
	}
}

// repair announces every thread that has jobs, also where it seems to be announced: what
// ready and due knew may be lost. A thread that a worker has takes no harm. It cuts the lists
// of records, too.
func (c claimant) repair(ctx context.Context) error {
	if err := c.cutLists(ctx); err != nil {
		return err
	}
	threads, err := c.withWork(ctx)
	if err != nil {
		return err
	}
	for _, thread := range threads {
		if err := do(ctx, c.client, reannounceScript.With(c.keys.wake(), string(thread))); err != nil {
			return err
		}
	}
	return nil
}

// cutLists takes what is too old to be kept out of the lists of all records.
func (s *Store) cutLists(ctx context.Context) error {
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return explain(err)
	}
	oldest := "(" + strconv.FormatInt(now.Add(-s.options.Keep).UnixMilli(), 10)
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, list := range s.keys.listed() {
			pipe.ZRemRangeByScore(ctx, list, "-inf", oldest)
			pipe.PExpire(ctx, list, s.options.Keep)
		}
		return nil
	})
	return explain(err)
}

// try leases the thread that a notice is about. Where that can't be, it settles the
// notice, unless it stands for a lease that lives.
func (c claimant) try(ctx context.Context, message redis.XMessage) (runs.Lease, bool, error) {
	named, ok := message.Values["thread"].(string)
	if !ok {
		return runs.Lease{}, false, c.settle(ctx, "", message.ID, comes{what: "none"})
	}
	thread := chat.ThreadID(named)
	for {
		since := c.client.Since()
		fields, err := texts(claimScript.With([]string{c.keys.state(thread), c.keys.jobs(thread), c.keys.delayed(thread)},
			string(c.worker), message.ID, c.call, millis(c.options.LeaseTTL), since.UnixMilli()).Run(ctx, c.client))
		if err != nil {
			return runs.Lease{}, false, err
		}
		switch fields[0] {
		case "held":
			return runs.Lease{}, false, nil
		case "leased":
			lease, err := c.lease(thread, message.ID, fields)
			if err == nil {
				lease.Restored = lease.Job.Enqueued.Before(since)
				if lost := since.Add(c.options.LeaseTTL); lease.Restored && lost.After(lease.Unsure) {
					lease.Unsure = lost // leases that are forgotten have run out by then
				}
				return lease, true, nil
			}
			if err := c.putAside(ctx, lease, err); err != nil {
				return runs.Lease{}, false, err
			}
		default:
			next, err := comesOf(fields)
			if err == nil {
				err = c.settle(ctx, thread, message.ID, next)
			}
			return runs.Lease{}, false, err
		}
	}
}

// lease reads what the script gave. After an error the lease is good and its job is not.
func (c claimant) lease(thread chat.ThreadID, notice string, fields []string) (runs.Lease, error) {
	lease := runs.Lease{Thread: thread, Worker: c.worker, TTL: c.options.LeaseTTL, Ref: notice}
	token, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return lease, fmt.Errorf("the token of thread %s: %w", thread, err)
	}
	lease.Token = runs.Token(token)
	lease.Stopped, lease.Given, lease.Behind = stopOf(fields[3], fields[4]), stamp(fields[6]), isBehind(fields[7])
	lease.Unsure = stamp(fields[8])
	if lease.Job, err = readJob(fields[5]); err != nil {
		lease.Job.Event = runs.EventID("unreadable-" + fields[1])
		return lease, err
	}
	lease.Job.Attempt, err = strconv.Atoi(fields[2])
	return lease, err
}

// putAside buries a job that can't be read, or leaves it for newer programs. The notice
// stays, for what comes next.
func (c claimant) putAside(ctx context.Context, lease runs.Lease, cause error) error {
	next, after := runs.Dead, time.Duration(0)
	if errors.Is(cause, runs.ErrNewer) {
		next, after = runs.Left, runs.LeftFor
	}
	_, err := c.end(ctx, lease, string(next), runs.Result{Reason: cause.Error(), After: after})
	return err
}
