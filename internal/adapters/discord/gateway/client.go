package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"time"
)

// Dispatch is an event: what Discord's documents describe under Type, not yet decoded. It
// may be of any shape.
type Dispatch struct {
	Shard int
	Type  string
	Data  json.RawMessage
}

// Options are what a Client needs. Those under "may be left out" have useful zero values.
type Options struct {
	Token   string
	Intents int
	// Discover asks Discord's "get gateway bot". A *PermanentError ends Run.
	Discover func(ctx context.Context) (Bot, error)
	Shards   Shards
	Starts   Starts
	Logger   *slog.Logger

	// May be left out.

	LeaseTTL       time.Duration  // how long a dead replica's shards stay its own, 9 s
	InFlight       int            // events of a shard at once, 256
	Pause          time.Duration  // before the first try to connect again, 1 s
	IdentifyWindow time.Duration  // between identifies, 6 s: Discord's 5 s, and what they may be late
	Jitter         func() float64 // part of the interval before the first heartbeat, from 0 to 1; chance
}

// minLease is the shortest LeaseTTL.
const minLease = 100 * time.Millisecond

// Client is a replica's part of the gateway.
type Client struct {
	options Options
	replica string
}

// New checks the options.
func New(options Options) (*Client, error) {
	var missing []error
	if options.Token == "" {
		missing = append(missing, errors.New("the bot token is missing"))
	}
	if options.Discover == nil || options.Shards == nil || options.Starts == nil || options.Logger == nil {
		missing = append(missing, errors.New("one of Discover, Shards, Starts and Logger is missing"))
	}
	if options.LeaseTTL < 0 || options.InFlight < 0 || options.Pause < 0 || options.IdentifyWindow < 0 {
		missing = append(missing, errors.New("no time and no number may be below zero"))
	}
	if options.LeaseTTL > 0 && options.LeaseTTL < minLease {
		missing = append(missing, fmt.Errorf("a LeaseTTL of %s can't be kept up: give %s or more", options.LeaseTTL, minLease))
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("options of the gateway: %w", errors.Join(missing...))
	}
	options.LeaseTTL = valueOr(options.LeaseTTL, 9*time.Second)
	options.InFlight = valueOr(options.InFlight, 256)
	options.Pause = valueOr(options.Pause, time.Second)
	options.IdentifyWindow = valueOr(options.IdentifyWindow, 6*time.Second)
	if options.Jitter == nil {
		options.Jitter = mathrand.Float64
	}
	return &Client{options: options, replica: rand.Text()}, nil
}

func valueOr[N int | time.Duration](value, standard N) N {
	if value == 0 {
		return standard
	}
	return value
}

// Run receives events until ctx ends, which gives nil, or Discord refuses the bot for
// good, which gives a *PermanentError. READY and RESUMED are handed over like all else.
func (c *Client) Run(ctx context.Context, handle Handler) error {
	bot, err := c.discoverBot(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	r := &replica{Client: c, bot: bot, handle: handle, running: make(map[int]*runningShard), ended: make(chan *runningShard)}
	err = r.maintainShards(ctx)
	if left := r.stopAll(context.WithoutCancel(ctx)); err == nil {
		err = left
	}
	return err
}

// discoverBot asks until there is an answer.
func (c *Client) discoverBot(ctx context.Context) (Bot, error) {
	pause := newPause(c.options.Pause, pauseMost)
	for {
		bot, err := c.options.Discover(ctx)
		if err == nil && bot.Shards < 1 {
			err = fmt.Errorf("discord advises %d shards", bot.Shards)
		}
		if err == nil {
			return bot, nil
		}
		if permanent, ok := errors.AsType[*PermanentError](err); ok {
			return Bot{}, permanent
		}
		if ctx.Err() != nil {
			return Bot{}, nil //nolint:nilerr // what ended it is that it is to end
		}
		c.options.Logger.ErrorContext(ctx, "discover discord gateway; retrying", "error", err)
		if !sleepContext(ctx, pause.NextBackOff()) {
			return Bot{}, nil
		}
	}
}

// replica is a running Client.
type replica struct {
	*Client
	bot     Bot
	handle  Handler
	running map[int]*runningShard
	ended   chan *runningShard // taken until none is running
	all     sync.WaitGroup
}

// runningShard is a shard that is kept connected.
type runningShard struct {
	lease Lease
	stop  context.CancelFunc
	err   error // once it is in ended
}

// maintainShards keeps the replica's part of the shards running, until ctx ends or one of them
// fails for good. While the store can't be reached all goes on as it is: whoever takes a
// shard over by then resumes its session, which ends it here.
func (r *replica) maintainShards(ctx context.Context) error {
	ticker := time.NewTicker(r.options.LeaseTTL / 3)
	defer ticker.Stop()
	for {
		member := Member{Replica: r.replica, Shards: r.bot.Shards, TTL: r.options.LeaseTTL}
		share, err := r.options.Shards.Share(ctx, member)
		switch {
		case err == nil:
			r.applyShare(ctx, share)
		case ctx.Err() == nil:
			r.options.Logger.ErrorContext(ctx, "share discord shards; keeping those that run", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case over := <-r.ended:
			delete(r.running, over.lease.Shard)
			if over.err != nil {
				return over.err
			}
		}
	}
}

// applyShare starts and stops shards so that those run that the replica has.
func (r *replica) applyShare(ctx context.Context, share Share) {
	held := make(map[int]Lease)
	for i, lease := range share.Leases {
		if i < share.Quota {
			held[lease.Shard] = lease
		}
	}
	for number, shard := range r.running {
		if lease, ok := held[number]; !ok || lease.Token != shard.lease.Token {
			shard.stop() // it lets go of the lease itself
		}
	}
	for number, lease := range held {
		if _, ok := r.running[number]; !ok {
			r.startShard(ctx, lease)
		}
	}
}

func (r *replica) startShard(ctx context.Context, lease Lease) {
	ctx, cancel := context.WithCancel(ctx)
	started := &runningShard{lease: lease, stop: cancel}
	r.running[lease.Shard] = started
	kept := newShard(r.options, r.bot, lease, r.handle)
	r.all.Go(func() {
		defer cancel()
		started.err = kept.run(ctx)
		r.ended <- started
	})
}

// stopAll stops all shards, waits for them and says that the replica is gone.
func (r *replica) stopAll(ctx context.Context) error {
	var failed []error
	for _, shard := range r.running {
		shard.stop()
	}
	for len(r.running) > 0 {
		over := <-r.ended
		delete(r.running, over.lease.Shard)
		failed = append(failed, over.err)
	}
	r.all.Wait()
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	if err := r.options.Shards.Leave(ctx, r.replica); err != nil {
		r.options.Logger.WarnContext(ctx, "sign off discord replica; its entry expires", "error", err)
	}
	return errors.Join(failed...)
}
