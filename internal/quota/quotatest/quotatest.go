// Package quotatest is the suite of what every quota.Counts does.
package quotatest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/quota"
)

// Place is where counts are kept.
type Place struct {
	// Open gives a store there, as a process of its own has it.
	Open func(t *testing.T) quota.Counts
	// Pass lets time pass there: hours, or whole days.
	Pass func(t *testing.T, by time.Duration)
}

// Meters are the names of all meters that the suite uses.
var Meters = []string{"user:slack:ann", "user:slack:bob", "channel:slack:C1"}

// Run runs the suite, each part in an empty place.
func Run(t *testing.T, empty func(t *testing.T) Place) {
	for name, test := range map[string]func(t *testing.T, at Place){
		"an hour":                 testHourlyLimit,
		"the same question":       theSameQuestion,
		"one of two is full":      oneOfTwo,
		"cost":                    testCost,
		"the longest wait":        theLongestWait,
		"a limit that is lowered": testLoweredLimit,
		"many at once":            manyAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, empty(t)) })
	}
}

func annMeter(questions int) quota.Meter { return quota.Meter{Name: Meters[0], Questions: questions} }
func bobMeter(questions int) quota.Meter { return quota.Meter{Name: Meters[1], Questions: questions} }
func channelMeter(questions int) quota.Meter {
	return quota.Meter{Name: Meters[2], Questions: questions}
}

func expectTaken(t *testing.T, store quota.Counts, id string, meters ...quota.Meter) {
	t.Helper()
	if full, err := store.Take(t.Context(), id, meters); full != nil || err != nil {
		t.Fatalf("Take %s: %+v, %v", id, full, err)
	}
}

// expectRefused checks that a meter is full, for longer than least and at most so long.
func expectRefused(t *testing.T, store quota.Counts, id string, want quota.Full, meters ...quota.Meter) {
	t.Helper()
	full, err := store.Take(t.Context(), id, meters)
	if err != nil {
		t.Fatal(err)
	}
	if full == nil || full.Meter != want.Meter || full.By != want.By || full.Wait <= 0 || full.Wait > want.Wait {
		t.Fatalf("Take %s: %+v, want at most %+v", id, full, want)
	}
}

func testHourlyLimit(t *testing.T, at Place) {
	first, second := at.Open(t), at.Open(t)
	expectTaken(t, first, "1", annMeter(2))
	expectTaken(t, second, "2", annMeter(2))
	expectRefused(t, first, "3", quota.Full{By: quota.Questions, Wait: time.Hour}, annMeter(2))
	expectTaken(t, first, "3", bobMeter(2))
	at.Pass(t, time.Hour)
	expectTaken(t, second, "3", annMeter(2))
	expectTaken(t, second, "4", annMeter(2))
	expectRefused(t, second, "5", quota.Full{By: quota.Questions, Wait: time.Hour}, annMeter(2))
}

func theSameQuestion(t *testing.T, at Place) {
	store := at.Open(t)
	for range 3 {
		expectTaken(t, store, "1", annMeter(2), channelMeter(2))
	}
	expectTaken(t, store, "2", annMeter(2), channelMeter(2))
	expectTaken(t, store, "1", annMeter(2), channelMeter(2))
}

func oneOfTwo(t *testing.T, at Place) {
	store := at.Open(t)
	expectTaken(t, store, "1", annMeter(5), channelMeter(1))
	for _, id := range []string{"2", "3", "4", "5", "6"} {
		expectRefused(t, store, id, quota.Full{Meter: 1, By: quota.Questions, Wait: time.Hour}, annMeter(5), channelMeter(1))
	}
	for _, id := range []string{"7", "8", "9", "10"} { // what was refused was counted for nobody
		expectTaken(t, store, id, annMeter(5))
	}
	expectRefused(t, store, "11", quota.Full{By: quota.Questions, Wait: time.Hour}, annMeter(5))
	expectTaken(t, store, "11", annMeter(0), channelMeter(0)) // what has no limit is never full
}

func testCost(t *testing.T, at Place) {
	store, other := at.Open(t), at.Open(t)
	limited := []quota.Meter{{Name: Meters[0], Cost: 1000}, {Name: Meters[2], Cost: 5000}}
	expectTaken(t, store, "1", limited...)
	spend := func(store quota.Counts, millionths int64) {
		t.Helper()
		if err := store.Spend(t.Context(), []string{Meters[0], Meters[2]}, millionths); err != nil {
			t.Fatal(err)
		}
	}
	spend(store, 400)
	spend(other, 599)
	expectTaken(t, store, "2", limited...)
	spend(store, 1)
	expectRefused(t, other, "3", quota.Full{By: quota.Cost, Wait: 24 * time.Hour}, limited...)
	expectTaken(t, store, "3", limited[1], quota.Meter{Name: Meters[1], Cost: 1})
	spend(other, 4000)
	expectRefused(t, store, "4", quota.Full{Meter: 1, By: quota.Cost, Wait: 24 * time.Hour}, quota.Meter{Name: Meters[1], Cost: 1}, limited[1])
	at.Pass(t, 24*time.Hour)
	expectTaken(t, store, "5", limited...)
	spend(store, 999)
	expectTaken(t, store, "6", limited...)
}

func theLongestWait(t *testing.T, at Place) {
	store := at.Open(t)
	expectTaken(t, store, "1", annMeter(1))
	at.Pass(t, 30*time.Minute)
	expectTaken(t, store, "2", channelMeter(1))
	expectRefused(t, store, "3", quota.Full{By: quota.Questions, Wait: 30 * time.Minute}, annMeter(1))
	expectRefused(t, store, "3", quota.Full{Meter: 1, By: quota.Questions, Wait: time.Hour}, annMeter(1), channelMeter(1))
	at.Pass(t, 30*time.Minute)
	expectRefused(t, store, "3", quota.Full{Meter: 1, By: quota.Questions, Wait: 30 * time.Minute}, annMeter(1), channelMeter(1))
}

func testLoweredLimit(t *testing.T, at Place) {
	store := at.Open(t)
	expectTaken(t, store, "1", annMeter(5))
	at.Pass(t, 20*time.Minute)
	expectTaken(t, store, "2", annMeter(5))
	at.Pass(t, 20*time.Minute)
	expectTaken(t, store, "3", annMeter(5))
	// Two of three have to become old before there is room for one in two.
	expectRefused(t, store, "4", quota.Full{By: quota.Questions, Wait: 40 * time.Minute}, annMeter(2))
	at.Pass(t, 20*time.Minute)
	expectRefused(t, store, "4", quota.Full{By: quota.Questions, Wait: 20 * time.Minute}, annMeter(2))
	at.Pass(t, 20*time.Minute)
	expectTaken(t, store, "4", annMeter(2))
}

func manyAtOnce(t *testing.T, at Place) {
	const room = 10
	stores := []quota.Counts{at.Open(t), at.Open(t)}
	var admitted atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			full, err := stores[i%2].Take(t.Context(), fmt.Sprint("q", i), []quota.Meter{annMeter(1000), channelMeter(room)})
			if err != nil {
				t.Error(err)
			}
			if full == nil {
				admitted.Add(1)
			}
			if err := stores[i%2].Spend(t.Context(), []string{Meters[1]}, 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if admitted.Load() != room {
		t.Errorf("%d questions were admitted, want %d", admitted.Load(), room)
	}
	expectTaken(t, stores[0], "x", quota.Meter{Name: Meters[1], Cost: 61})
	expectRefused(t, stores[1], "y", quota.Full{By: quota.Cost, Wait: 24 * time.Hour}, quota.Meter{Name: Meters[1], Cost: 60})
}
