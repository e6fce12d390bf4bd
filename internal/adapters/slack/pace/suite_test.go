package pace_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
)

// testStore tests turns. Each call of open is of turns that nobody took any of; the two that it
// gives share them, as two processes do.
func testStore(t *testing.T, open func(t *testing.T) (one, other pace.Turns)) {
	for name, test := range map[string]func(t *testing.T, one, other pace.Turns){
		"turns are shared":                     testShared,
		"who waits takes nothing":              testWaits,
		"the earlier message goes first":       testOrder,
		"who does not come holds up nobody":    testAbsent,
		"who left is not waited for":           testLeft,
		"Slack's wish holds for all":           testHeld,
		"a burst, and some turns left over":    testBurst,
		"many at once stay within the limit":   testCrowd,
		"who keeps no place takes no one's":    testNoPlace,
		"lanes do not wait for one another":    testLanes,
		"who waits for long lets others pass":  testFar,
		"after a wish they go one after other": testHeldBurst,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := open(t)
			test(t, one, other)
		})
	}
}

var startTime = time.UnixMilli(1_700_000_000_000)

// slowLimit is a limit that gives one turn in the time of a test.
var slowLimit = pace.Limit{Every: time.Minute, Burst: 1}

func newAsk(caller string, order int, limit pace.Limit) pace.Ask {
	return pace.Ask{
		Lane: pace.Lane{Team: "T1", Method: "chat.postMessage", Channel: "C1"}, Limit: limit,
		Caller: caller, Order: startTime.Add(time.Duration(order) * time.Second),
	}
}

func mustTake(t *testing.T, turns pace.Turns, ask pace.Ask) time.Duration {
	t.Helper()
	wait, err := turns.Take(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func expectTurn(t *testing.T, turns pace.Turns, ask pace.Ask) {
	t.Helper()
	if wait := mustTake(t, turns, ask); wait != 0 {
		t.Errorf("%s does not get the turn, but is to wait for %s", ask.Caller, wait)
	}
}

// expectWait checks a wait, which may be a second shorter: time passes in tests.
func expectWait(t *testing.T, wait, want time.Duration) {
	t.Helper()
	if wait > want || wait < want-2*time.Second {
		t.Errorf("the wait is %s, want about %s", wait, want)
	}
}

func testShared(t *testing.T, one, other pace.Turns) {
	expectTurn(t, one, newAsk("a", 1, slowLimit))
	expectWait(t, mustTake(t, other, newAsk("b", 2, slowLimit)), time.Minute)
	expectWait(t, mustTake(t, one, newAsk("c", 3, slowLimit)), 2*time.Minute)
}

// testWaits has two callers ask again and again: their turns come no later for it.
func testWaits(t *testing.T, one, other pace.Turns) {
	expectTurn(t, one, newAsk("a", 1, slowLimit))
	for range 50 {
		expectWait(t, mustTake(t, one, newAsk("b", 2, slowLimit)), time.Minute)
		expectWait(t, mustTake(t, other, newAsk("c", 3, slowLimit)), 2*time.Minute)
	}
}

func testOrder(t *testing.T, one, other pace.Turns) {
	expectTurn(t, one, newAsk("a", 1, slowLimit))
	expectWait(t, mustTake(t, one, newAsk("late", 9, slowLimit)), time.Minute)
	expectWait(t, mustTake(t, other, newAsk("early", 2, slowLimit)), time.Minute)
	expectWait(t, mustTake(t, one, newAsk("late", 9, slowLimit)), 2*time.Minute)
}

// quickLimit gives turns that are free before a test ends.
var quickLimit = pace.Limit{Every: 100 * time.Millisecond, Burst: 1}

// askUntilTaken asks until the turn is taken.
func askUntilTaken(t *testing.T, turns pace.Turns, ask pace.Ask) {
	t.Helper()
	for wait := mustTake(t, turns, ask); wait > 0; wait = mustTake(t, turns, ask) {
		<-time.After(wait)
	}
}

func testAbsent(t *testing.T, one, other pace.Turns) {
	expectTurn(t, one, newAsk("a", 1, quickLimit))
	mustTake(t, one, newAsk("never comes", 2, quickLimit))
	begun := time.Now()
	askUntilTaken(t, other, newAsk("comes", 3, quickLimit))
	if waited := time.Since(begun); waited < pace.Absent {
		t.Errorf("who is on its way was passed after %s", waited)
	}
	askUntilTaken(t, one, newAsk("comes, too", 4, quickLimit))
}

func testLeft(t *testing.T, one, other pace.Turns) {
	expectTurn(t, one, newAsk("a", 1, slowLimit))
	mustTake(t, one, newAsk("leaves", 2, slowLimit))
	expectWait(t, mustTake(t, other, newAsk("b", 3, slowLimit)), 2*time.Minute)
	for range 2 {
		if err := other.Leave(t.Context(), newAsk("leaves", 2, slowLimit)); err != nil {
			t.Fatal(err)
		}
	}
	expectWait(t, mustTake(t, other, newAsk("b", 3, slowLimit)), time.Minute)
}

func testHeld(t *testing.T, one, other pace.Turns) {
	if err := one.Hold(t.Context(), newAsk("", 0, quickLimit), time.Minute); err != nil {
		t.Fatal(err)
	}
	expectWait(t, mustTake(t, other, newAsk("a", 1, quickLimit)), time.Minute)
	if err := other.Hold(t.Context(), newAsk("", 0, quickLimit), time.Second); err != nil { // a longer wish stands
		t.Fatal(err)
	}
	expectWait(t, mustTake(t, one, newAsk("a", 1, quickLimit)), time.Minute)
}

func testBurst(t *testing.T, one, other pace.Turns) {
	limit := pace.Limit{Every: time.Minute, Burst: 3}
	modest := newAsk("", 0, limit)
	modest.Spare = 2
	expectTurn(t, one, modest)
	expectWait(t, mustTake(t, other, modest), time.Minute)
	expectTurn(t, other, newAsk("a", 1, limit))
	expectTurn(t, one, newAsk("b", 2, limit))
	expectWait(t, mustTake(t, one, newAsk("c", 3, limit)), time.Minute)
}

func testHeldBurst(t *testing.T, one, _ pace.Turns) {
	limit := pace.Limit{Every: time.Hour, Burst: 5}
	if err := one.Hold(t.Context(), newAsk("", 0, limit), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	askUntilTaken(t, one, newAsk("a", 1, limit))
	expectWait(t, mustTake(t, one, newAsk("b", 2, limit)), time.Hour)
}

func testCrowd(t *testing.T, one, other pace.Turns) {
	const callers = 12
	limit := pace.Limit{Every: 50 * time.Millisecond, Burst: 2}
	begun := time.Now()
	var asking sync.WaitGroup
	for i := range callers {
		turns := one
		if i%2 == 1 {
			turns = other
		}
		asking.Go(func() { askUntilTaken(t, turns, newAsk(fmt.Sprint("caller", i), i, limit)) })
	}
	asking.Wait()
	if took := time.Since(begun); took < (callers-3)*limit.Every {
		t.Errorf("%d turns were taken in %s", callers, took)
	}
}

func testNoPlace(t *testing.T, one, other pace.Turns) {
	expectTurn(t, one, newAsk("a", 1, quickLimit))
	mustTake(t, one, newAsk("b", 5, quickLimit))
	if wait := mustTake(t, other, newAsk("", 0, quickLimit)); wait == 0 {
		t.Error("one that keeps no place went before one that waits")
	}
	askUntilTaken(t, one, newAsk("b", 5, quickLimit))
	<-time.After(quickLimit.Every)
	expectTurn(t, other, newAsk("", 0, quickLimit))
}

func testLanes(t *testing.T, one, other pace.Turns) {
	expectTurn(t, one, newAsk("a", 1, slowLimit))
	channel := newAsk("b", 2, slowLimit)
	channel.Lane.Channel = "C2"
	expectTurn(t, other, channel)
	team := newAsk("c", 3, slowLimit)
	team.Lane.Team = "T2"
	expectTurn(t, one, team)
	method := newAsk("d", 4, slowLimit)
	method.Lane.Method = "chat.update"
	expectTurn(t, other, method)
}

// testFar has those go away for whom a caller was told to come back late.
func testFar(t *testing.T, one, other pace.Turns) {
	limit := pace.Limit{Every: time.Second, Burst: 1}
	expectTurn(t, one, newAsk("a", 1, limit))
	for i := range 6 {
		mustTake(t, one, newAsk(fmt.Sprint("leaves", i), 2, limit))
	}
	expectWait(t, mustTake(t, one, newAsk("comes late", 3, limit)), 7*time.Second)
	for i := range 6 {
		if err := one.Leave(t.Context(), newAsk(fmt.Sprint("leaves", i), 2, limit)); err != nil {
			t.Fatal(err)
		}
	}
	<-time.After(limit.Every)
	expectTurn(t, other, newAsk("comes now", 4, limit))
}
