package pace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
)

func TestLocal(t *testing.T) {
	testStore(t, func(*testing.T) (one, other pace.Turns) {
		turns := pace.NewLocal(nil)
		return turns, turns
	})
}

// TestWhoStaysAwayHoldsUpNobody has many go away for good whose turns come much later: they
// block nobody once they should have asked again.
func TestWhoStaysAwayHoldsUpNobody(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	turns := pace.NewLocal(func() time.Time { return now })
	ask := func(caller string, order int) time.Duration {
		t.Helper()
		wait, err := turns.Take(t.Context(), pace.Ask{
			Lane: pace.Lane{Team: "T1", Method: "m"}, Limit: pace.Limit{Every: 3 * time.Second, Burst: 1}, Caller: caller, Order: time.Unix(int64(order), 0),
		})
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	for i := range 100 {
		ask(fmt.Sprint("goes ", i), i)
	}
	if wait := ask("stays", 200); wait < 4*time.Minute {
		t.Errorf("behind a hundred the wait is %s", wait)
	}
	now = now.Add(pace.LongestAway + pace.Absent - time.Second)
	if wait := ask("stays", 200); wait < 4*time.Minute {
		t.Errorf("while they may come back the wait is %s", wait)
	}
	now = now.Add(2 * time.Second)
	if wait := ask("stays", 200); wait != 0 {
		t.Errorf("once they have not come back the wait is %s", wait)
	}
}
