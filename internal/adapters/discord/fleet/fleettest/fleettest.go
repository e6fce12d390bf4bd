// Package fleettest is the suite that every store passes which the replicas of a Discord
// bot share, and the stories of replicas that are told over it.
package fleettest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
)

// Store is all that replicas share.
type Store interface {
	gateway.Shards
	gateway.Starts
	fleet.Rates
}

// Run tests a store. Each call of open is of a store that is empty; the two that it
// gives are the same one, as two processes have it.
func Run(t *testing.T, open func(t *testing.T) (one, other Store)) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, one, other Store)
	}{
		{"shards are shared fairly", testFairShares},
		{"a lease is one replica's", testFencing},
		{"a dead replica's shards move with their sessions", testMove},
		{"the number of shards changes when none is held", testCounts},
		{"many replicas at once", testCrowd},
		{"identifies keep apart", testSpacing},
		{"identifies of a day end", testDailyLimit},
		{"a bucket is shared", testBucket},
		{"requests on their way count in the next window", testOverlap},
		{"what is unknown is found out by one", testProbe},
		{"the limit on all", testGlobalLimit},
		{"look-ups leave the limit on all to answers", testBehind},
		{"refusals", testRefusal},
		{"an outage uses up no window", testOutage},
		{"a line keeps its order", testLine},
		{"who leaves a line holds nobody up for long", testAbandonedPlace},
		{"two replicas stay within Discord's limits", testSteadyLoad},
		{"a replica is killed", testKilledReplica},
		{"a replica leaves", testLeaveAndReturn},
		{"a replica loses the store", testPartition},
		{"two replicas start eight shards", testStartTogether},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			one, other := open(t)
			test.run(t, one, other)
		})
	}
}

func mustShare(t *testing.T, store gateway.Shards, replica string, shards int, ttl time.Duration) gateway.Share {
	t.Helper()
	got, err := store.Share(t.Context(), gateway.Member{Replica: replica, Shards: shards, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// shardNumbers returns those of a share's shards.
func shardNumbers(s gateway.Share) []int {
	var list []int
	for _, lease := range s.Leases {
		list = append(list, lease.Shard)
	}
	return list
}

func testFairShares(t *testing.T, one, other Store) {
	ctx := t.Context()
	alone := mustShare(t, one, "a", 8, time.Minute)
	if alone.Shards != 8 || alone.Quota != 8 || !slices.Equal(shardNumbers(alone), []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Fatalf("alone: %+v", alone)
	}
	late := mustShare(t, other, "b", 8, time.Minute)
	if late.Quota != 4 || len(late.Leases) != 0 {
		t.Errorf("who comes second while all are held: %+v", late)
	}
	again := mustShare(t, one, "a", 8, time.Minute)
	if again.Quota != 4 || len(again.Leases) != 8 {
		t.Fatalf("who has to give some away: %+v", again)
	}
	for _, lease := range again.Leases[again.Quota:] {
		if err := one.Release(ctx, lease, gateway.Session{ID: "s", Seq: int64(lease.Shard)}); err != nil {
			t.Fatal(err)
		}
	}
	late = mustShare(t, other, "b", 8, time.Minute)
	if !slices.Equal(shardNumbers(late), []int{4, 5, 6, 7}) {
		t.Errorf("what was given away: %+v", late)
	}
	for _, lease := range late.Leases {
		if want := (gateway.Session{ID: "s", Seq: int64(lease.Shard)}); lease.Session != want {
			t.Errorf("shard %d came with %+v", lease.Shard, lease.Session)
		}
		if err := other.Release(ctx, lease, lease.Session); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Leave(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if back := mustShare(t, one, "a", 8, time.Minute); back.Quota != 8 || len(back.Leases) != 8 {
		t.Errorf("after the other left: %+v", back)
	}
}

func testFencing(t *testing.T, one, other Store) {
	ctx := t.Context()
	mine := mustShare(t, one, "a", 1, time.Minute).Leases[0]
	saved := gateway.Session{ID: "ünï\"code", URL: "wss://resume.example/", Seq: 1 << 40}
	if err := one.Save(ctx, mine, saved); err != nil {
		t.Fatal(err)
	}
	forged := mine
	forged.Token--
	foreign := mine
	foreign.Replica = "b"
	for _, wrong := range []gateway.Lease{forged, foreign, {Replica: "a", Shard: 7, Token: mine.Token}} {
		if err := other.Save(ctx, wrong, gateway.Session{}); !errors.Is(err, gateway.ErrLost) {
			t.Errorf("save with %+v: %v", wrong, err)
		}
		if err := other.Release(ctx, wrong, gateway.Session{}); !errors.Is(err, gateway.ErrLost) {
			t.Errorf("release with %+v: %v", wrong, err)
		}
	}
	renewed := mustShare(t, one, "a", 1, time.Minute).Leases[0]
	if renewed.Token != mine.Token || renewed.Session != saved {
		t.Errorf("renewed as %+v, was %+v", renewed, mine)
	}
	if err := one.Release(ctx, mine, saved); err != nil {
		t.Fatal(err)
	}
	if err := one.Save(ctx, mine, saved); !errors.Is(err, gateway.ErrLost) {
		t.Errorf("save after the release: %v", err)
	}
	if err := one.Leave(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if next := mustShare(t, other, "b", 1, time.Minute).Leases[0]; next.Token <= mine.Token || next.Session != saved {
		t.Errorf("the next has %+v after %+v", next, mine)
	}
	if err := one.Leave(ctx, "nobody"); err != nil {
		t.Errorf("who was never there leaves: %v", err)
	}
}

// waitUntil asks again and again until it is so.
func waitUntil(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func testMove(t *testing.T, one, other Store) {
	dead := mustShare(t, one, "dead", 4, 50*time.Millisecond)
	for _, lease := range dead.Leases {
		if err := one.Save(t.Context(), lease, gateway.Session{ID: "kept", Seq: 9}); err != nil && !errors.Is(err, gateway.ErrLost) {
			t.Fatal(err)
		}
	}
	var heir gateway.Share
	waitUntil(t, "the dead one's shards are another's", func() bool {
		heir = mustShare(t, other, "heir", 4, time.Minute)
		return len(heir.Leases) == 4
	})
	for i, lease := range heir.Leases {
		if lease.Session.ID != "kept" || lease.Token <= dead.Leases[i].Token {
			t.Errorf("shard %d: %+v", i, lease)
		}
		if err := one.Save(t.Context(), dead.Leases[i], gateway.Session{}); !errors.Is(err, gateway.ErrLost) {
			t.Errorf("the dead one saves: %v", err)
		}
	}
	if risen := mustShare(t, one, "dead", 4, time.Minute); len(risen.Leases) != 0 || risen.Quota != 2 {
		t.Errorf("risen: %+v", risen)
	}
}

func testCounts(t *testing.T, one, other Store) {
	ctx := t.Context()
	first := mustShare(t, one, "a", 2, time.Minute)
	if err := one.Save(ctx, first.Leases[0], gateway.Session{ID: "of two"}); err != nil {
		t.Fatal(err)
	}
	if odd := mustShare(t, other, "b", 3, time.Minute); odd.Shards != 2 || len(odd.Leases) != 0 {
		t.Errorf("another number while the first is in use: %+v", odd)
	}
	for _, lease := range first.Leases {
		if err := one.Release(ctx, lease, lease.Session); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Leave(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	next := mustShare(t, other, "b", 3, time.Minute)
	if next.Shards != 3 || len(next.Leases) != 3 {
		t.Fatalf("another number: %+v", next)
	}
	for _, lease := range next.Leases {
		if lease.Session != (gateway.Session{}) || lease.Shards != 3 || lease.Token <= first.Leases[0].Token {
			t.Errorf("a lease of the other number: %+v", lease)
		}
	}
}

func testCrowd(t *testing.T, one, other Store) {
	const shards, replicas = 12, 5
	var mu sync.Mutex
	holders := make(map[int][]string)
	var all sync.WaitGroup
	for i := range replicas {
		store := one
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			got, err := store.Share(t.Context(), gateway.Member{Replica: string(rune('a' + i)), Shards: shards, TTL: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, lease := range got.Leases {
				holders[lease.Shard] = append(holders[lease.Shard], lease.Replica)
			}
		})
	}
	all.Wait()
	for i := range shards {
		if len(holders[i]) != 1 {
			t.Errorf("shard %d is held by %q", i, holders[i])
		}
	}
}

func mustStart(t *testing.T, store gateway.Starts, shard int, limit gateway.StartLimit) time.Duration {
	t.Helper()
	wait, err := store.Start(t.Context(), shard, limit)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func testSpacing(t *testing.T, one, other Store) {
	limit := gateway.StartLimit{MaxConcurrency: 2, Remaining: 100, ResetAfter: time.Hour, Window: time.Minute}
	for shard, free := range map[int]bool{0: true, 1: true} {
		if wait := mustStart(t, one, shard, limit); wait == 0 != free {
			t.Errorf("shard %d: wait %s", shard, wait)
		}
	}
	for shard := range 4 {
		if wait := mustStart(t, other, shard, limit); wait <= 0 || wait > limit.Window {
			t.Errorf("shard %d in the same window: wait %s", shard, wait)
		}
	}
	limit.MaxConcurrency, limit.Window = 16, 20*time.Millisecond
	for range 3 {
		waitUntil(t, "the window is over", func() bool { return mustStart(t, one, 9, limit) == 0 })
	}
}

func testDailyLimit(t *testing.T, one, other Store) {
	limit := gateway.StartLimit{MaxConcurrency: 16, Remaining: 3, ResetAfter: 400 * time.Millisecond, Window: time.Millisecond}
	for shard := range 3 { // what Discord says is old by the second
		if wait := mustStart(t, one, shard, limit); wait != 0 {
			t.Fatalf("start %d: wait %s", shard, wait)
		}
	}
	if wait := mustStart(t, other, 3, limit); wait <= 0 || wait > limit.ResetAfter {
		t.Errorf("beyond the day's: wait %s", wait)
	}
	limit.ResetAfter = time.Hour // Discord has reset it
	limit.Remaining = 1
	waitUntil(t, "the next day", func() bool { return mustStart(t, other, 4, limit) == 0 })
	if wait := mustStart(t, one, 5, limit); wait < 50*time.Minute {
		t.Errorf("one identify of the next day, and then: wait %s", wait)
	}
}
