package redis

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// journal is a store.Journal.
type journal struct {
	store.PendingEvents

	store *Store
	lease runs.Lease

	writing sync.Mutex     // held while a commit is made
	unsure  map[string]int // commits of which it is not known whether they were made, and how many events each had
}

// Journal implements store.Store.
func (s *Store) Journal(lease runs.Lease) store.Journal { return &journal{store: s, lease: lease} }

// Save implements graph.Store.
func (j *journal) Save(ctx context.Context, run string, checkpoint []byte) error {
	_, err := j.Commit(ctx, store.Commit{Checkpoint: &store.Checkpoint{Run: chat.RunID(run), Body: checkpoint}})
	return err
}

// Load implements graph.Store.
func (j *journal) Load(ctx context.Context, run string) ([]byte, error) {
	checkpoint, err := j.store.client.Get(ctx, j.store.keys.checkpointKey(j.lease.Thread, run)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, graph.ErrNoCheckpoint
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", run, explainError(err))
	}
	return checkpoint, nil
}

// Commit implements store.Journal.
func (j *journal) Commit(ctx context.Context, changes store.Commit) (store.Committed, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	events := j.List()
	for _, event := range events {
		if err := event.Check(); err != nil {
			return store.Committed{}, err
		}
	}
	written := commit{Commit: changes, lease: j.lease, call: rand.Text(), number: j.store.numberCommit(), events: events, unsure: j.unsure}
	committed, err := j.store.commit(ctx, written)
	switch {
	case err == nil:
		j.Drop(len(events))
		j.unsure = nil
	case !isRefusal(err):
		if j.unsure == nil {
			j.unsure = make(map[string]int)
		}
		j.unsure[written.call] = len(events)
	}
	if err != nil {
		return store.Committed{}, fmt.Errorf("commit to thread %s: %w", j.lease.Thread, err)
	}
	return committed, nil
}

// numberCommit returns a number greater than those before it. Redis refuses a commit that it gets
// behind one with a greater number: its caller gave it up, and it was delayed on its way. Where
// another process goes on under a lease, the clock tells which is later.
func (s *Store) numberCommit() int64 {
	for {
		last := s.lastCommit.Load()
		next := max(last+1, time.Now().UnixMicro())
		if s.lastCommit.CompareAndSwap(last, next) {
			return next
		}
	}
}

// isRefusal reports whether an error of a commit says that nothing was written.
func isRefusal(err error) bool {
	_, disturbed := errors.AsType[*store.DisturbedError](err)
	return disturbed || errors.Is(err, runs.ErrLost) || errors.Is(err, runs.ErrUnknownDelivery) || errors.Is(err, runs.ErrTooLarge)
}

// commit is a commit under a lease, with the events that it writes.
type commit struct {
	store.Commit
	lease  runs.Lease
	call   string // names it
	number int64  // of numberCommit
	events []runs.Event
	unsure map[string]int // as in journal
	// keepsNotice leaves the notice of the lease's thread, for another claim.
	keepsNotice bool
}

// commit makes a commit. In a cluster, what is on other servers than the thread comes before
// where it finds what is committed, and behind where it follows from that.
func (s *Store) commit(ctx context.Context, c commit) (store.Committed, error) {
	if err := errors.Join(ctx.Err(), c.Check(c.lease)); err != nil {
		return store.Committed{}, err
	}
	if c.Result != nil && c.Result.Next == runs.Dead {
		if err := s.dead.indexLetter(ctx, c.lease); err != nil {
			return store.Committed{}, err
		}
	}
	if s.client.Cluster {
		for _, record := range c.Records {
			if err := s.records.listRecord(ctx, record); err != nil {
				return store.Committed{}, err
			}
		}
	}
	keys, arguments, err := c.arguments(s)
	if err != nil {
		return store.Committed{}, err
	}
	fields, err := readStrings(commitScript.Run(ctx, s.client, keys, arguments...))
	if err != nil {
		return store.Committed{}, err
	}
	if fields[0] == "disturbed" {
		return store.Committed{}, &store.DisturbedError{Renewal: runs.Renewal{Stop: stopOf(fields[1], fields[2]), Behind: fields[3] != ""}}
	}
	return s.readCommitted(ctx, c, fields)
}

// arguments returns what commit.lua is given.
func (c commit) arguments(s *Store) ([]string, []any, error) {
	t, queue, keep := c.lease.Thread, c.lease.Queue(), s.options.Keep.Milliseconds()
	to := newArguments(s.keys.stateKey(queue), s.keys.jobsKey(queue), s.keys.delayedKey(queue), s.keys.eventsKey(t), s.keys.endedKey(queue), s.keys.deadKey(t))
	header := commitHeader{
		Token: formatToken(c.lease.Token), TTL: s.options.LeaseTTL.Milliseconds(), Call: c.call, Number: c.number, Unsure: c.unsure,
		UnlessStopped: c.Unless.Stopped, UnlessBehind: c.Unless.Behind, Keep: keep, Kept: s.options.EventsKept, EventsFor: s.options.EventsFor.Milliseconds(),
	}
	if c.Checkpoint != nil {
		header.Checkpoint = &checkpointHeader{to.key(s.keys.checkpointKey(t, string(c.Checkpoint.Run))), to.text(c.Checkpoint.Body)}
	}
	for _, record := range c.Records {
		added, err := s.keys.addRecord(to, record, keep, s.client.Cluster)
		if err != nil {
			return nil, nil, fmt.Errorf("record of run %s: %w", record.ID, err)
		}
		header.Records = append(header.Records, added)
	}
	if c.Session != nil {
		var err error
		if header.Session, err = s.keys.addSession(to, *c.Session, keep, s.client.Cluster); err != nil {
			return nil, nil, fmt.Errorf("session %s: %w", t, err)
		}
	}
	if c.Delivery != nil {
		body, err := json.Marshal(storedDelivery{deliveryVersion, c.Delivery.Run, c.Delivery.Body})
		if err != nil {
			return nil, nil, fmt.Errorf("delivery %s: %w", c.Delivery.Key, err)
		}
		header.Delivery = &deliveryHeader{to.text(string(c.Delivery.Key)), to.text(body)}
	}
	if c.Confirmed != nil {
		header.Confirmed = &confirmedHeader{to.text(string(c.Confirmed.Key)), to.text(string(c.Confirmed.Posted))}
	}
	c.addEvents(to, &header, s.keys.liveKey(t))
	if c.Result != nil {
		c.addResult(s, to, &header)
	}
	return to.withHeader(header)
}

// readCommitted reads what commit.lua gave, and writes what follows from it on other servers.
func (s *Store) readCommitted(ctx context.Context, c commit, fields []string) (committed store.Committed, err error) {
	if len(fields) != 7 {
		return committed, fmt.Errorf("unexpected script result of %d values: want 7", len(fields))
	}
	if c.Session != nil {
		if err := s.sessions.updateLists(ctx, *c.Session, fields[1], fields[2]); err != nil { // what is committed is committed
			s.options.Logger.WarnContext(ctx, "update the lists of threads", "thread", string(c.lease.Thread), "error", err)
		}
	}
	if c.Delivery != nil {
		kept, err := readDelivery(string(c.Delivery.Key), fields[3], fields[4])
		if err != nil {
			return committed, err
		}
		committed.Delivery = kept.Delivery
	}
	if c.Result == nil || c.keepsNotice || !s.client.Cluster {
		return committed, nil
	}
	next, err := parseNextNotice(fields[5:])
	if err == nil {
		err = s.settleNotice(ctx, c.lease.Queue(), c.lease.Ref, next)
	}
	if err != nil {
		// The job is finished all the same; what comes next is found by the notice, which stays.
		s.options.Logger.WarnContext(ctx, "settle notice of thread", "thread", string(c.lease.Thread), "error", err)
	}
	return committed, nil
}

// shown is an event as it goes through the channel.
type shown struct {
	Run  string `json:"r"`
	Kind string `json:"k"`
	Body []byte `json:"b"`
}

// Show implements store.Journal.
func (j *journal) Show(ctx context.Context, event runs.Event) error {
	if err := event.Check(); err != nil {
		return err
	}
	message, err := json.Marshal(shown{string(event.Run), string(event.Kind), event.Body})
	if err != nil {
		return fmt.Errorf("show an event of thread %s: %w", j.lease.Thread, err)
	}
	if err := j.store.client.Publish(ctx, j.store.keys.liveKey(j.lease.Thread), message).Err(); err != nil {
		return fmt.Errorf("show an event of thread %s: %w", j.lease.Thread, explainError(err))
	}
	return nil
}
