package fleettest

import (
	"slices"
	"testing"
	"time"

	"cairn/internal/adapters/discord/fleet"
)

// inTurn is a request whose place in line is by its order.
func inTurn(id string, order int64) fleet.Request {
	r := request(id)
	r.Turn = fleet.Turn{Key: "turn " + id, Order: order}
	return r
}

// line has requests wait for a bucket whose window is over soon: they go in their order,
// whoever asks first, and who waits takes nothing.
func line(t *testing.T, one, other Store) {
	const window = 300 * time.Millisecond
	goes(t, one, request("1"))
	tell(t, one, request("1"), said(2, 1000, window))
	goes(t, one, request("2"))
	goes(t, other, request("3"))
	tell(t, one, request("2"), said(0, 1000, window))
	tell(t, one, request("3"), said(0, 1000, window))
	for _, store := range []Store{one, other, one} { // each asks again and again, and is counted once
		for _, order := range []int64{5, 4, 7, 6} {
			waits(t, store, inTurn(string(rune('0'+order)), order), fleet.WhyBucket)
		}
	}
	third, fourth := waits(t, one, inTurn("6", 6), fleet.WhyBucket), waits(t, one, inTurn("7", 7), fleet.WhyBucket)
	if third.For > window+10*time.Millisecond || fourth.For < window || fourth.For > 3*window {
		t.Errorf("the third of the line waits %s and the fourth %s, in windows of three in %s", third.For, fourth.For, window)
	}
	// Without a turn nothing goes before those that stand in line, and of them the first
	// three go, the last to ask among them.
	until(t, "the window is over", func() bool { return ask(t, other, inTurn("6", 6), plenty).For == 0 })
	waits(t, one, inTurn("7", 7), fleet.WhyBucket)
	waits(t, one, request("8"), fleet.WhyBucket)
	goes(t, one, inTurn("5", 5))
	goes(t, other, inTurn("4", 4))
	waits(t, one, inTurn("7", 7), fleet.WhyBucket)
}

// forsaken has the first of a line never come back: the others wait for it no longer than
// its place is kept.
func forsaken(t *testing.T, one, other Store) {
	goes(t, one, request("1"))
	tell(t, one, request("1"), fleet.Said{Status: 200, Bucket: "b", Limit: 1, Remaining: 0, Reset: 1000, ResetAfter: 20 * time.Millisecond})
	waits(t, one, inTurn("2", 2), fleet.WhyBucket)
	waits(t, other, inTurn("3", 3), fleet.WhyBucket)
	var waited []time.Duration
	until(t, "the second of the line goes", func() bool {
		wait := ask(t, other, inTurn("3", 3), plenty).For
		waited = append(waited, wait)
		return wait == 0
	})
	if longest := slices.Max(waited); longest > fleet.LineGrace {
		t.Errorf("it was told to wait %s", longest)
	}
}

// outage has requests fail before they come to Discord's limits: their places are free again.
func outage(t *testing.T, one, other Store) {
	goes(t, one, request("1"))
	tell(t, one, request("1"), said(2, 1000, time.Minute))
	for range 10 {
		goes(t, other, request("2"))
		tell(t, one, request("2"), fleet.Said{Status: 500})
	}
	goes(t, one, request("3"))
	goes(t, other, request("4"))
	waits(t, one, request("5"), fleet.WhyBucket)
}
