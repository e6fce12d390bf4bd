package fleettest

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
)

var plentifulLimits = fleet.Limits{PerSecond: 1_000_000, Invalid: 1000}

func newRequest(id string) fleet.Request {
	return fleet.Request{ID: id, Route: "POST /channels/:major/messages", Major: "1"}
}

func mustAsk(t *testing.T, store fleet.Rates, request fleet.Request, limits fleet.Limits) fleet.Wait {
	t.Helper()
	wait, err := store.Ask(t.Context(), request, limits)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func mustReport(t *testing.T, store fleet.Rates, request fleet.Request, said fleet.Said) {
	t.Helper()
	if err := store.Tell(t.Context(), request, said); err != nil {
		t.Fatal(err)
	}
}

// expectPlace fails where a request has no place.
func expectPlace(t *testing.T, store fleet.Rates, request fleet.Request) {
	t.Helper()
	if wait := mustAsk(t, store, request, plentifulLimits); wait.For != 0 {
		t.Fatalf("request %s waits: %+v", request.ID, wait)
	}
}

// expectWait fails where it has one.
func expectWait(t *testing.T, store fleet.Rates, request fleet.Request, why string) fleet.Wait {
	t.Helper()
	wait := mustAsk(t, store, request, plentifulLimits)
	if wait.For <= 0 || wait.Why != why {
		t.Errorf("request %s: %+v, want one that is %q", request.ID, wait, why)
	}
	return wait
}

func newResponse(remaining int, reset int64, after time.Duration) fleet.Said {
	return fleet.Said{Status: 200, Bucket: "b", Limit: 3, Remaining: remaining, Reset: reset, ResetAfter: after}
}

func testBucket(t *testing.T, one, other Store) {
	expectPlace(t, one, newRequest("1"))
	mustReport(t, one, newRequest("1"), newResponse(2, 1_000_000, time.Minute))
	expectPlace(t, other, newRequest("2"))
	expectPlace(t, one, newRequest("3"))
	if wait := expectWait(t, other, newRequest("4"), fleet.WhyBucket); wait.For > time.Minute+fleet.Slack {
		t.Errorf("wait %s", wait.For)
	}
	elsewhere := newRequest("5")
	elsewhere.Major = "2"
	expectPlace(t, other, elsewhere)
	sibling := fleet.Request{ID: "6", Route: "PATCH /channels/:major/messages/:id", Major: "1"}
	expectPlace(t, other, sibling)
	mustReport(t, other, sibling, newResponse(0, 1_000_000, time.Minute)) // the same bucket, it turns out
	sibling.ID = "7"
	expectWait(t, one, sibling, fleet.WhyBucket)
}

func testOverlap(t *testing.T, one, other Store) {
	expectPlace(t, one, newRequest("1"))
	mustReport(t, one, newRequest("1"), newResponse(2, 1000, 30*time.Millisecond))
	expectPlace(t, one, newRequest("2"))
	expectPlace(t, other, newRequest("3"))
	waitUntil(t, "the window is over", func() bool { return mustAsk(t, one, newRequest("4"), plentifulLimits).For == 0 })
	expectWait(t, other, newRequest("5"), fleet.WhyBucket)       // 2, 3 and 4 may all come in this window
	mustReport(t, one, newRequest("2"), newResponse(0, 1000, 0)) // an old window's: it says nothing of this one
	expectWait(t, other, newRequest("5"), fleet.WhyBucket)
	mustReport(t, one, newRequest("4"), newResponse(2, 2000, time.Minute))
	expectWait(t, other, newRequest("5"), fleet.WhyBucket)
}

func testProbe(t *testing.T, one, other Store) {
	expectPlace(t, one, newRequest("1"))
	expectWait(t, other, newRequest("2"), fleet.WhyProbe)
	mustReport(t, one, newRequest("1"), fleet.Said{}) // no answer
	expectPlace(t, other, newRequest("2"))
	mustReport(t, other, newRequest("2"), fleet.Said{Status: 500})
	expectPlace(t, one, newRequest("3"))
	expectWait(t, other, newRequest("4"), fleet.WhyProbe)
	mustReport(t, one, newRequest("3"), fleet.Said{Status: 204}) // with no limits
	for range 3 {
		expectPlace(t, one, newRequest("5"))
		expectPlace(t, other, newRequest("6"))
	}
}

func testGlobalLimit(t *testing.T, one, other Store) {
	limits := fleet.Limits{PerSecond: 2, Invalid: 10}
	first, second := newRequest("1"), newRequest("2")
	second.Major = "2"
	if wait := mustAsk(t, one, first, limits); wait.For != 0 {
		t.Fatalf("the first: %+v", wait)
	}
	if wait := mustAsk(t, other, second, limits); wait.For <= 0 || wait.For > time.Second || wait.Why != fleet.WhyGlobal {
		t.Errorf("the second at once: %+v", wait)
	}
	exempt := newRequest("3")
	exempt.Major, exempt.Exempt = "3", true
	if wait := mustAsk(t, other, exempt, limits); wait.For != 0 {
		t.Errorf("one of an interaction: %+v", wait)
	}
	mustReport(t, other, second, fleet.Said{Status: 429, RetryAfter: time.Hour, Global: true})
	if wait := mustAsk(t, one, second, limits); wait.For < 50*time.Minute || wait.Why != fleet.WhyGlobal {
		t.Errorf("after a 429 of all: %+v", wait)
	}
}

// testBehind uses up half of the requests that may come at once: look-ups wait, and others
// don't. Where nobody asks, they go.
func testBehind(t *testing.T, one, other Store) {
	limits := fleet.Limits{PerSecond: 40, Invalid: 10}
	ask := func(store Store, channel string, behind bool) fleet.Wait {
		request := newRequest(channel)
		request.Major, request.Behind = channel, behind
		return mustAsk(t, store, request, limits)
	}
	for _, channel := range []string{"1", "2"} {
		if wait := ask(one, channel, false); wait.For != 0 {
			t.Fatalf("post %s: %+v", channel, wait)
		}
	}
	if wait := ask(other, "3", true); wait.For <= 0 || wait.Why != fleet.WhyGlobal {
		t.Errorf("a look-up behind posts: %+v", wait)
	}
	if wait := ask(other, "4", false); wait.For != 0 {
		t.Errorf("the post after it: %+v", wait)
	}
	waitUntil(t, "the look-up goes", func() bool { return ask(one, "3", true).For == 0 })
}

func testRefusal(t *testing.T, one, other Store) {
	limits := fleet.Limits{PerSecond: 1_000_000, Invalid: 3}
	for i, answer := range []fleet.Said{
		{Status: 401}, {Status: 429, Shared: true, RetryAfter: time.Millisecond}, {Status: 404}, {Status: 403},
		{Status: 429, RetryAfter: time.Hour},
	} {
		r := newRequest(string(rune('a' + i)))
		r.Major = r.ID
		if wait := mustAsk(t, one, r, limits); wait.For != 0 {
			t.Fatalf("request %d: %+v", i, wait)
		}
		mustReport(t, one, r, answer)
	}
	if wait := mustAsk(t, other, newRequest("z"), limits); wait.For < 9*time.Minute || wait.Why != fleet.WhyInvalid {
		t.Errorf("after three that count: %+v", wait)
	}
	limits.Invalid = 4
	blocked := newRequest("y")
	blocked.Major = "e"
	if wait := mustAsk(t, other, blocked, limits); wait.For < 50*time.Minute || wait.Why != fleet.WhyBucket {
		t.Errorf("the one that was refused for an hour: %+v", wait)
	}
}
