package fleettest

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
)

// inTurn returns a request whose place in line is by its order.
func inTurn(id string, order int64) fleet.Request {
	r := newRequest(id)
	r.Turn = fleet.Turn{Key: "turn " + id, Order: order}
	return r
}

// testLine has requests wait for a bucket whose window is over soon: they go in their order,
// whoever asks first, and who waits takes nothing.
func testLine(t *testing.T, one, other Store) {
	const window = 300 * time.Millisecond
	expectPlace(t, one, newRequest("1"))
	mustReport(t, one, newRequest("1"), newResponse(2, 1000, window))
	expectPlace(t, one, newRequest("2"))
	expectPlace(t, other, newRequest("3"))
	mustReport(t, one, newRequest("2"), newResponse(0, 1000, window))
	mustReport(t, one, newRequest("3"), newResponse(0, 1000, window))
	for _, store := range []Store{one, other, one} { // each asks again and again, and is counted once
		for _, order := range []int64{5, 4, 7, 6} {
			expectWait(t, store, inTurn(string(rune('0'+order)), order), fleet.WhyBucket)
		}
	}
	third, fourth := expectWait(t, one, inTurn("6", 6), fleet.WhyBucket), expectWait(t, one, inTurn("7", 7), fleet.WhyBucket)
	if third.For > window+10*time.Millisecond || fourth.For < window || fourth.For > 3*window {
		t.Errorf("the third of the line waits %s and the fourth %s, in windows of three in %s", third.For, fourth.For, window)
	}
	// Without a turn nothing goes before those that stand in line, and of them the first
	// three go, the last to ask among them.
	waitUntil(t, "the window is over", func() bool { return mustAsk(t, other, inTurn("6", 6), plentifulLimits).For == 0 })
	expectWait(t, one, inTurn("7", 7), fleet.WhyBucket)
	expectWait(t, one, newRequest("8"), fleet.WhyBucket)
	expectPlace(t, one, inTurn("5", 5))
	expectPlace(t, other, inTurn("4", 4))
	expectWait(t, one, inTurn("7", 7), fleet.WhyBucket)
}

// testAbandonedPlace has the first of a line never come back: the others wait for it no longer than
// its place is kept.
func testAbandonedPlace(t *testing.T, one, other Store) {
	expectPlace(t, one, newRequest("1"))
	mustReport(t, one, newRequest("1"), fleet.Said{Status: 200, Bucket: "b", Limit: 1, Remaining: 0, Reset: 1000, ResetAfter: 20 * time.Millisecond})
	expectWait(t, one, inTurn("2", 2), fleet.WhyBucket)
	expectWait(t, other, inTurn("3", 3), fleet.WhyBucket)
	var waited []time.Duration
	waitUntil(t, "the second of the line goes", func() bool {
		wait := mustAsk(t, other, inTurn("3", 3), plentifulLimits).For
		waited = append(waited, wait)
		return wait == 0
	})
	if longest := slices.Max(waited); longest > fleet.LineGrace {
		t.Errorf("it was told to wait %s", longest)
	}
}

// testOutage has requests fail before they come to Discord's limits: their places are free again.
func testOutage(t *testing.T, one, other Store) {
	expectPlace(t, one, newRequest("1"))
	mustReport(t, one, newRequest("1"), newResponse(2, 1000, time.Minute))
	for range 10 {
		expectPlace(t, other, newRequest("2"))
		mustReport(t, one, newRequest("2"), fleet.Said{Status: 500})
	}
	expectPlace(t, one, newRequest("3"))
	expectPlace(t, other, newRequest("4"))
	expectWait(t, one, newRequest("5"), fleet.WhyBucket)
}
