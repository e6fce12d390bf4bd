package expiring

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

func TestSnapshots(t *testing.T) {
	start := time.Unix(1000, 0)
	looks := NewSnapshots[int](2)
	asked := 0
	get := func(key string, since time.Time) int {
		t.Helper()
		value, err := looks.Get(key, since, func() (int, time.Time, error) {
			asked++
			return asked, start.Add(time.Duration(asked) * time.Second), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, since := range []time.Time{start, start, start.Add(time.Second)} {
		if got := get("a", since); got != 1 {
			t.Errorf("what is new enough is %d", got)
		}
	}
	if got := get("a", start.Add(1001*time.Millisecond)); got != 2 {
		t.Errorf("what is too old is still %d", got)
	}
	broken := errors.New("broken")
	if _, err := looks.Get("a", start.Add(time.Hour), func() (int, time.Time, error) { return 9, start, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got := get("a", start); got != 2 {
		t.Errorf("after a failure it is %d", got)
	}
	get("b", start)
	get("c", start) // begins anew
	if got := get("a", start); got != 5 {
		t.Errorf("past the bound it is %d", got)
	}
}

// TestSnapshotsAreShared has many ask at once: the platform is asked once.
func TestSnapshotsAreShared(t *testing.T) {
	looks, asked := NewSnapshots[int](2), 0
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := looks.Get("a", time.Unix(1, 0), func() (int, time.Time, error) {
				asked++
				return asked, time.Unix(2, 0), nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}

// TestASlowAnswerIsNotWaitedForByAll has a platform answer after those who want the same have
// given their turn back.
func TestASlowAnswerIsNotWaitedForByAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := NewSnapshots[int](2)
		ask := func() (int, time.Time, error) {
			<-time.After(time.Minute)
			return 1, time.Now(), nil
		}
		var first sync.WaitGroup
		first.Go(func() {
			if got, err := looks.Get("a", time.Now(), ask); got != 1 || err != nil {
				t.Errorf("the first gets %d, %v", got, err)
			}
		})
		synctest.Wait()
		began := time.Now()
		_, err := looks.Get("a", time.Now(), ask)
		if wait, ok := errors.AsType[*chat.RetryAfterError](err); !ok || wait.After <= 0 || !errors.Is(err, ErrAsked) {
			t.Errorf("the second gets %v", err)
		}
		if waited := time.Since(began); waited != snapshotPatience {
			t.Errorf("the second waits for %s", waited)
		}
		first.Wait()
		if got, err := looks.Get("a", began, ask); got != 1 || err != nil {
			t.Errorf("once it is there a third gets %d, %v", got, err)
		}
	})
}
