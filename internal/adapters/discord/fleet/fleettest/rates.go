package fleettest

import (
	"testing"
	"time"

	"cairn/internal/adapters/discord/fleet"
)

var plenty = fleet.Limits{PerSecond: 1_000_000, Invalid: 1000}

func request(id string) fleet.Request {
	return fleet.Request{ID: id, Route: "POST /channels/:major/messages", Major: "1"}
}

func ask(t *testing.T, store fleet.Rates, request fleet.Request, limits fleet.Limits) fleet.Wait {
	t.Helper()
	wait, err := store.Ask(t.Context(), request, limits)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func tell(t *testing.T, store fleet.Rates, request fleet.Request, said fleet.Said) {
	t.Helper()
	if err := store.Tell(t.Context(), request, said); err != nil {
		t.Fatal(err)
	}
}

// goes fails where a request has no place.
func goes(t *testing.T, store fleet.Rates, request fleet.Request) {
	t.Helper()
	if wait := ask(t, store, request, plenty); wait.For != 0 {
		t.Fatalf("request %s waits: %+v", request.ID, wait)
	}
}

// waits fails where it has one.
func waits(t *testing.T, store fleet.Rates, request fleet.Request, why string) fleet.Wait {
	t.Helper()
	wait := ask(t, store, request, plenty)
	if wait.For <= 0 || wait.Why != why {
		t.Errorf("request %s: %+v, want one that is %q", request.ID, wait, why)
	}
	return wait
}

func said(remaining int, reset int64, after time.Duration) fleet.Said {
	return fleet.Said{Status: 200, Bucket: "b", Limit: 3, Remaining: remaining, Reset: reset, ResetAfter: after}
}

func bucket(t *testing.T, one, other Store) {
	goes(t, one, request("1"))
	tell(t, one, request("1"), said(2, 1_000_000, time.Minute))
	goes(t, other, request("2"))
	goes(t, one, request("3"))
	if wait := waits(t, other, request("4"), fleet.WhyBucket); wait.For > time.Minute+fleet.Slack {
		t.Errorf("wait %s", wait.For)
	}
	elsewhere := request("5")
	elsewhere.Major = "2"
	goes(t, other, elsewhere)
	sibling := fleet.Request{ID: "6", Route: "PATCH /channels/:major/messages/:id", Major: "1"}
	goes(t, other, sibling)
	tell(t, other, sibling, said(0, 1_000_000, time.Minute)) // the same bucket, it turns out
	sibling.ID = "7"
	waits(t, one, sibling, fleet.WhyBucket)
}

func overlap(t *testing.T, one, other Store) {
	goes(t, one, request("1"))
	tell(t, one, request("1"), said(2, 1000, 30*time.Millisecond))
	goes(t, one, request("2"))
	goes(t, other, request("3"))
	until(t, "the window is over", func() bool { return ask(t, one, request("4"), plenty).For == 0 })
	waits(t, other, request("5"), fleet.WhyBucket) // 2, 3 and 4 may all come in this window
	tell(t, one, request("2"), said(0, 1000, 0))   // an old window's: it says nothing of this one
	waits(t, other, request("5"), fleet.WhyBucket)
	tell(t, one, request("4"), said(2, 2000, time.Minute))
	waits(t, other, request("5"), fleet.WhyBucket)
}

func probe(t *testing.T, one, other Store) {
	goes(t, one, request("1"))
	waits(t, other, request("2"), fleet.WhyProbe)
	tell(t, one, request("1"), fleet.Said{}) // no answer
	goes(t, other, request("2"))
	tell(t, other, request("2"), fleet.Said{Status: 500})
	goes(t, one, request("3"))
	waits(t, other, request("4"), fleet.WhyProbe)
	tell(t, one, request("3"), fleet.Said{Status: 204}) // with no limits
	for range 3 {
		goes(t, one, request("5"))
		goes(t, other, request("6"))
	}
}

func global(t *testing.T, one, other Store) {
	limits := fleet.Limits{PerSecond: 2, Invalid: 10}
	first, second := request("1"), request("2")
	second.Major = "2"
	if wait := ask(t, one, first, limits); wait.For != 0 {
		t.Fatalf("the first: %+v", wait)
	}
	if wait := ask(t, other, second, limits); wait.For <= 0 || wait.For > time.Second || wait.Why != fleet.WhyGlobal {
		t.Errorf("the second at once: %+v", wait)
	}
	exempt := request("3")
	exempt.Major, exempt.Exempt = "3", true
	if wait := ask(t, other, exempt, limits); wait.For != 0 {
		t.Errorf("one of an interaction: %+v", wait)
	}
	tell(t, other, second, fleet.Said{Status: 429, RetryAfter: time.Hour, Global: true})
	if wait := ask(t, one, second, limits); wait.For < 50*time.Minute || wait.Why != fleet.WhyGlobal {
		t.Errorf("after a 429 of all: %+v", wait)
	}
}

func refused(t *testing.T, one, other Store) {
	limits := fleet.Limits{PerSecond: 1_000_000, Invalid: 3}
	for i, answer := range []fleet.Said{
		{Status: 401}, {Status: 429, Shared: true, RetryAfter: time.Millisecond}, {Status: 404}, {Status: 403},
		{Status: 429, RetryAfter: time.Hour},
	} {
		r := request(string(rune('a' + i)))
		r.Major = r.ID
		if wait := ask(t, one, r, limits); wait.For != 0 {
			t.Fatalf("request %d: %+v", i, wait)
		}
		tell(t, one, r, answer)
	}
	if wait := ask(t, other, request("z"), limits); wait.For < 9*time.Minute || wait.Why != fleet.WhyInvalid {
		t.Errorf("after three that count: %+v", wait)
	}
	limits.Invalid = 4
	blocked := request("y")
	blocked.Major = "e"
	if wait := ask(t, other, blocked, limits); wait.For < 50*time.Minute || wait.Why != fleet.WhyBucket {
		t.Errorf("the one that was refused for an hour: %+v", wait)
	}
}
