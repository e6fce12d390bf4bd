package fleettest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
)

// errDead is what a killed replica meets everywhere.
var errDead = errors.New("this replica is dead")

// killableStore is a store as a replica has it that can be killed: from then on it reaches nothing.
type killableStore struct {
	Store
	dead atomic.Bool
}

func (m *killableStore) Share(ctx context.Context, member gateway.Member) (gateway.Share, error) {
	if m.dead.Load() {
		return gateway.Share{}, errDead
	}
	return m.Store.Share(ctx, member)
}

func (m *killableStore) Save(ctx context.Context, lease gateway.Lease, session gateway.Session) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Save(ctx, lease, session)
}

func (m *killableStore) Release(ctx context.Context, lease gateway.Lease, session gateway.Session) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Release(ctx, lease, session)
}

func (m *killableStore) Leave(ctx context.Context, replica string) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Leave(ctx, replica)
}

// fleetOf is a gateway with the replicas that are connected to it.
type fleetOf struct {
	t      *testing.T
	server *gatewaytest.Server
	shards int
	log    ledger
}

// ledger has what was dealt with, by channel, in order, with who did.
type ledger struct {
	mu      sync.Mutex
	changed chan struct{}
	entries map[string][]entry
	seen    map[string]bool
}

type entry struct {
	replica string
	number  int
}

func newFleet(t *testing.T, shards, concurrency int) *fleetOf {
	return &fleetOf{
		t: t, shards: shards,
		server: gatewaytest.NewWith(t, gatewaytest.Options{
			HeartbeatInterval: time.Second, Grace: 5 * time.Second, IdentifyWindow: 50 * time.Millisecond,
			MaxConcurrency: concurrency, Sends: 10_000,
		}),
		log: ledger{changed: make(chan struct{}), entries: make(map[string][]entry), seen: make(map[string]bool)},
	}
}

// replica is one process.
type replica struct {
	store  *killableStore
	cancel context.CancelFunc
	result chan error
}

func (f *fleetOf) startReplica(name string, store Store) *replica {
	f.t.Helper()
	r := &replica{store: &killableStore{Store: store}, result: make(chan error, 1)}
	client, err := gateway.New(gateway.Options{
		Token: gatewaytest.Token, Intents: 1<<0 | 1<<9, Shards: r.store, Starts: store,
		Logger:   slog.New(slog.NewTextHandler(f.t.Output(), nil)).With("replica", name),
		LeaseTTL: 600 * time.Millisecond, Pause: 10 * time.Millisecond, IdentifyWindow: 250 * time.Millisecond,
		Discover: func(context.Context) (gateway.Bot, error) {
			limit := f.server.Limit()
			return gateway.Bot{URL: f.server.URL(), Shards: f.shards, Starts: gateway.StartLimit{
				MaxConcurrency: limit.MaxConcurrency, Remaining: limit.Remaining,
				ResetAfter: time.Duration(limit.ResetAfter) * time.Millisecond,
			}}, nil
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	r.cancel = cancel
	go func() {
		r.result <- client.Run(ctx, func(_ context.Context, event gateway.Dispatch) error { return f.handleEvent(name, r, event) })
	}()
	return r
}

// stopReplica ends a replica as a rolling upgrade does.
func (f *fleetOf) stopReplica(r *replica) {
	f.t.Helper()
	r.cancel()
	if err := <-r.result; err != nil {
		f.t.Errorf("run: %v", err)
	}
}

func (f *fleetOf) handleEvent(name string, r *replica, event gateway.Dispatch) error {
	if r.store.dead.Load() {
		return errDead
	}
	if event.Type != "MESSAGE_CREATE" {
		return nil
	}
	var data struct {
		ID      int    `json:"id,string"`
		Channel string `json:"channel_id"`
	}
	if err := json.Unmarshal(event.Data, &data); err != nil {
		f.t.Errorf("%s: %v", event.Data, err)
		return nil
	}
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	f.log.entries[data.Channel] = append(f.log.entries[data.Channel], entry{name, data.ID})
	f.log.seen[fmt.Sprint(data.Channel, " ", data.ID)] = true
	close(f.log.changed)
	f.log.changed = make(chan struct{})
	return nil
}

// awaitMessages waits until so many different messages were dealt with.
func (f *fleetOf) awaitMessages(count int) {
	f.t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		f.log.mu.Lock()
		seen, changed := len(f.log.seen), f.log.changed
		f.log.mu.Unlock()
		if seen >= count {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			f.t.Fatalf("waited in vain for %d messages, there are %d: %+v", count, seen, f.server.State())
		}
	}
}

// inOrder checks that each replica dealt with the messages of a channel in their order,
// and that none was left out when another took over.
func (f *fleetOf) inOrder() (repeated int) {
	f.t.Helper()
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	for channel, entries := range f.log.entries {
		last, best := make(map[string]int), 0
		for _, e := range entries {
			if e.number <= last[e.replica] {
				f.t.Errorf("channel %s: %s dealt with %d after %d", channel, e.replica, e.number, last[e.replica])
			}
			last[e.replica] = e.number
			switch {
			case e.number <= best:
				repeated++
			case e.number > best+1:
				f.t.Errorf("channel %s: %d came right after %d", channel, e.number, best)
			}
			best = max(best, e.number)
		}
	}
	return repeated
}

// guildOf returns the id of a server on a shard.
func (f *fleetOf) guildOf(shard int) string {
	return fmt.Sprint(int64(shard+f.shards*1000) << 22)
}

func (f *fleetOf) dispatchMessage(shard, channel, number int) {
	f.t.Helper()
	data := fmt.Sprintf(`{"id":"%d","channel_id":"%d-%d"}`, number, shard, channel)
	if f.server.Dispatch(f.guildOf(shard), "MESSAGE_CREATE", json.RawMessage(data)) != 1 {
		f.t.Fatalf("shard %d has not one session", shard)
	}
}

func (f *fleetOf) awaitConnected() {
	f.t.Helper()
	f.server.Await("all shards", func(s gatewaytest.State) bool { return len(s.Connected) == f.shards })
}

// awaitHalved waits until the replica that had all shards gave half of them to the second.
func (f *fleetOf) awaitHalved() {
	f.t.Helper()
	f.server.Await("half to move", func(s gatewaytest.State) bool {
		return len(s.Resume) == f.shards/2 && len(s.Connected) == f.shards
	})
}

// testKilledReplica has a replica die in the middle of its work: the other resumes its shards, and
// all messages are dealt with.
func testKilledReplica(t *testing.T, one, other Store) {
	f := newFleet(t, 4, 4)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	victim := f.startReplica("victim", one)
	f.awaitConnected()
	heir := f.startReplica("heir", other)
	f.awaitHalved()
	const channels, messages = 3, 300
	numbers := make(map[[2]int]int)
	at := 50 + chance.IntN(200)
	var died time.Time
	for i := range messages {
		if i == at {
			f.awaitMessages(i / 2)
			victim.store.dead.Store(true)
			victim.cancel()
			if err := <-victim.result; err != nil {
				t.Errorf("run: %v", err)
			}
			died = time.Now()
		}
		where := [2]int{chance.IntN(f.shards), chance.IntN(channels)}
		numbers[where]++
		f.dispatchMessage(where[0], where[1], numbers[where])
	}
	f.awaitMessages(messages)
	t.Logf("killed after %d of %d messages; all dealt with %s after that, %d twice", at, messages, time.Since(died), f.inOrder())
	state := f.server.State()
	if len(state.Identify) != f.shards || len(state.Resume) != f.shards || len(state.Refused) != 0 {
		t.Errorf("shards were not resumed properly: %+v", state)
	}
	f.stopReplica(heir)
}

// testPartition has a replica lose the store but not Discord: its shards go to the other, it
// does not take them back, and gets its part again once it reaches the store.
func testPartition(t *testing.T, one, other Store) {
	f := newFleet(t, 4, 4)
	lonely := f.startReplica("lonely", one)
	f.awaitConnected()
	heir := f.startReplica("heir", other)
	f.awaitHalved()
	lonely.store.dead.Store(true)
	for shard := range f.shards {
		f.dispatchMessage(shard, 0, 1)
	}
	f.awaitMessages(f.shards)
	f.server.Await("the heir to have all", func(s gatewaytest.State) bool { return len(s.Resume) == f.shards && len(s.Connected) == f.shards })
	lonely.store.dead.Store(false)
	f.server.Await("half to move back", func(s gatewaytest.State) bool {
		return len(s.Resume) == f.shards*3/2 && len(s.Connected) == f.shards
	})
	for shard := range f.shards {
		f.dispatchMessage(shard, 0, 2)
	}
	f.awaitMessages(2 * f.shards)
	f.inOrder()
	if state := f.server.State(); len(state.Identify) != f.shards || len(state.Refused) != 0 {
		t.Errorf("shards were not handed over properly: %+v", state)
	}
	f.stopReplica(lonely)
	f.stopReplica(heir)
}

// testLeaveAndReturn has a replica go as it should, and come back.
func testLeaveAndReturn(t *testing.T, one, other Store) {
	f := newFleet(t, 4, 4)
	a := f.startReplica("a", one)
	f.awaitConnected()
	b := f.startReplica("b", other)
	f.awaitHalved()
	for shard := range f.shards {
		f.dispatchMessage(shard, 0, 1)
	}
	f.awaitMessages(f.shards)
	f.stopReplica(a)
	for shard := range f.shards {
		f.dispatchMessage(shard, 0, 2)
	}
	f.awaitMessages(2 * f.shards)
	f.awaitConnected()
	if repeated := f.inOrder(); repeated != 0 {
		t.Errorf("%d messages were dealt with twice", repeated)
	}
	if state := f.server.State(); len(state.Identify) != f.shards || len(state.Refused) != 0 {
		t.Errorf("shards were not handed over properly: %+v", state)
	}
	f.stopReplica(b)
}

// testStartTogether has both start at once, with one identify at a time.
func testStartTogether(t *testing.T, one, other Store) {
	f := newFleet(t, 8, 1)
	a, b := f.startReplica("a", one), f.startReplica("b", other)
	f.awaitConnected()
	state := f.server.State()
	if slices.Sort(state.Identify); len(state.Refused) != 0 || !slices.Equal(state.Identify, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("they did not start properly: %+v", state)
	}
	f.stopReplica(a)
	f.stopReplica(b)
}
