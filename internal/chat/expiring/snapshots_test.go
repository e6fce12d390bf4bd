package expiring

import (
	"errors"
	"sync"
	"testing"
	"time"
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
