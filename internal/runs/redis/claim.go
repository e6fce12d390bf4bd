package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

const (
	// claimBlock is how long a claim waits before it looks whether it is to end.
	claimBlock = 250 * time.Millisecond
	// promoteEvery is how often threads that are due are looked for, at the least.
	promoteEvery = 200 * time.Millisecond
	// repairEvery is how often all queues are looked through for one that nobody announced,
	// and the lists of records cut.
	repairEvery = 10 * time.Minute
	// giveBack is how long a claim that is ended may take to give back what it got.
	giveBack = 2 * time.Second
)

// claimant holds the state of one call of Claim.
type claimant struct {
	store  *Store
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
		lease, found, err := c.claimNext(ctx)
		if found && ctx.Err() != nil {
			return runs.Lease{}, errors.Join(ctx.Err(), c.releaseLease(ctx, lease))
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

func (c claimant) releaseLease(ctx context.Context, lease runs.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBack)
	defer cancel()
	return c.store.Release(ctx, lease)
}

// claimNext does the upkeep that is due, then waits a short time for a thread.
func (c claimant) claimNext(ctx context.Context) (runs.Lease, bool, error) {
	c.store.upkeep.scheduleRepair(c.store.client.Since(), c.store.options.LeaseTTL)
	if c.store.upkeep.takeDue(&c.store.upkeep.repair, repairEvery) {
		if err := c.repairNotices(ctx); err != nil {
			return runs.Lease{}, false, err
		}
	}
	if c.store.upkeep.takeDue(&c.store.upkeep.promote, promoteEvery) {
		if err := c.promoteDue(ctx); err != nil {
			return runs.Lease{}, false, err
		}
	}
	if c.store.upkeep.takeDue(&c.store.upkeep.reclaim, c.store.options.ClaimInterval/2) {
		lease, found, err := c.reclaimNotices(ctx)
		if found || err != nil {
			c.store.upkeep.bringForward(&c.store.upkeep.reclaim, 0) // there may be more
			return lease, found, err
		}
	}
	// It is not cut off by ctx: a notice that was on its way would wait for reclaim.
	streams, err := c.store.client.XReadGroup(context.WithoutCancel(ctx), &redis.XReadGroupArgs{
		Group: consumerGroup, Consumer: string(c.worker), Streams: []string{c.store.keys.globalKey("ready"), ">"}, Count: 1, Block: claimBlock,
	}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return runs.Lease{}, false, nil
	case redis.HasErrorPrefix(err, "NOGROUP"): // the Redis was emptied
		return runs.Lease{}, false, c.store.makeGroup(ctx)
	case err != nil:
		return runs.Lease{}, false, explainError(err)
	}
	for _, stream := range streams {
		for _, message := range stream.Messages {
			return c.tryLease(context.WithoutCancel(ctx), message)
		}
	}
	return runs.Lease{}, false, nil
}

// promoteDue announces threads that are due.
func (c claimant) promoteDue(ctx context.Context) error {
	next, err := promoteScript.Run(ctx, c.store.client, c.store.keys.wakeKeys()).Int64()
	if err != nil {
		return explainError(err)
	}
	if next >= 0 {
		c.store.upkeep.bringForward(&c.store.upkeep.promote, time.Duration(next)*time.Millisecond)
	}
	return nil
}

// reclaimNotices takes over the notices of workers that have stopped responding, until one of
// them leads to a lease.
func (c claimant) reclaimNotices(ctx context.Context) (runs.Lease, bool, error) {
	for start := "0-0"; ; {
		messages, next, err := c.store.client.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: c.store.keys.globalKey("ready"), Group: consumerGroup, Consumer: string(c.worker),
			MinIdle: c.store.options.ClaimInterval / 2, Start: start, Count: 1,
		}).Result()
		if redis.HasErrorPrefix(err, "NOGROUP") {
			return runs.Lease{}, false, c.store.makeGroup(ctx)
		}
		if err != nil {
			return runs.Lease{}, false, explainError(err)
		}
		for _, message := range messages {
			lease, found, err := c.tryLease(ctx, message)
			if found || err != nil {
				return lease, found, err
			}
		}
		if start = next; start == "0-0" {
			return runs.Lease{}, false, nil
		}
	}
}

// repairNotices announces every queue that has jobs, even those that seem to be announced: the
// contents of ready and due may be lost. It does no harm to a thread that a worker holds. It
// also trims the lists of records.
func (c claimant) repairNotices(ctx context.Context) error {
	if err := c.cutLists(ctx); err != nil {
		return err
	}
	queues, err := c.store.withWork(ctx)
	if err != nil {
		return err
	}
	for _, queue := range queues {
		if err := reannounceScript.Run(ctx, c.store.client, c.store.keys.wakeKeys(), queue.Key()).Err(); err != nil {
			return explainError(err)
		}
	}
	return nil
}

// cutLists removes expired records from the lists of all records, and of their threads.
func (c claimant) cutLists(ctx context.Context) error {
	now, err := c.store.client.Time(ctx).Result()
	if err != nil {
		return explainError(err)
	}
	oldest := "(" + strconv.FormatInt(now.Add(-c.store.options.Keep).UnixMilli(), 10)
	if err := c.store.records.unlistExpired(ctx, oldest); err != nil {
		return err
	}
	_, err = c.store.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, list := range c.store.keys.recordLists() {
			pipe.ZRemRangeByScore(ctx, list, "-inf", oldest)
			pipe.PExpire(ctx, list, c.store.options.Keep)
		}
		return nil
	})
	return explainError(err)
}

// tryLease leases the thread of a notice. If the thread can't be leased, it settles the notice,
// unless the notice belongs to a valid lease.
func (c claimant) tryLease(ctx context.Context, message redis.XMessage) (runs.Lease, bool, error) {
	named, ok := message.Values["thread"].(string)
	if !ok {
		return runs.Lease{}, false, c.store.settleNotice(ctx, runs.QueueID{}, message.ID, nextNotice{what: "none"})
	}
	queue := runs.ParseQueueKey(named)
	for {
		since := c.store.client.Since()
		keys := []string{c.store.keys.stateKey(queue), c.store.keys.jobsKey(queue), c.store.keys.delayedKey(queue)}
		if queue.Lane == runs.LaneMessages {
			keys = append(keys, c.store.keys.sessionKey(queue.Thread))
		}
		fields, err := readStrings(claimScript.Run(ctx, c.store.client, keys,
			string(c.worker), message.ID, c.call, formatMillis(c.store.options.LeaseTTL), since.UnixMilli(), formatMillis(c.store.options.Keep)))
		if err != nil {
			return runs.Lease{}, false, err
		}
		switch fields[0] {
		case "held":
			return runs.Lease{}, false, nil
		case "leased":
			lease, err := c.readLease(queue, message.ID, fields)
			if err == nil {
				lease.Restored = lease.Job.Enqueued.Before(since)
				if lost := since.Add(c.store.options.LeaseTTL); lease.Restored && lost.After(lease.Unsure) {
					lease.Unsure = lost // leases that are forgotten have run out by then
				}
				return lease, true, nil
			}
			if err := c.putAside(ctx, lease, err); err != nil {
				return runs.Lease{}, false, err
			}
		default:
			next, err := parseNextNotice(fields)
			if err == nil {
				err = c.store.settleNotice(ctx, queue, message.ID, next)
			}
			return runs.Lease{}, false, err
		}
	}
}

// readLease decodes the script's result. After an error the lease is valid but its job is not.
func (c claimant) readLease(queue runs.QueueID, notice string, fields []string) (runs.Lease, error) {
	lease := runs.Lease{Thread: queue.Thread, Lane: queue.Lane, Worker: c.worker, TTL: c.store.options.LeaseTTL, Ref: notice}
	token, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return lease, fmt.Errorf("the token of thread %s: %w", queue, err)
	}
	lease.Token = runs.Token(token)
	lease.Stopped, lease.Given, lease.Behind = stopOf(fields[3], fields[4]), parseTime(fields[6]), fields[7] != ""
	lease.Unsure = parseTime(fields[8])
	if fields[9] != "" {
		_, lease.Session, err = unpackSession([]byte(fields[9]))
		lease.SessionUnread = err != nil
	}
	if lease.Job, err = readJob(fields[5]); err != nil {
		lease.Job.Event = runs.EventID("unreadable-" + fields[1])
		return lease, err
	}
	lease.Job.Attempt, err = strconv.Atoi(fields[2])
	return lease, err
}

// putAside makes an unreadable job a dead letter, or leaves it to newer programs. The notice
// stays, for what comes next.
func (c claimant) putAside(ctx context.Context, lease runs.Lease, cause error) error {
	next, after := runs.Dead, time.Duration(0)
	if errors.Is(cause, runs.ErrNewer) {
		next, after = runs.Left, runs.LeftFor
	}
	result := runs.Result{Next: next, Reason: cause.Error(), After: after}
	_, err := c.store.commit(ctx, commit{Commit: store.Commit{Result: &result}, lease: lease, call: rand.Text(), number: c.store.numberCommit(), keepsNotice: true})
	return err
}
