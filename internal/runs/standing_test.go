package runs

import (
	"testing"
	"time"
)

func TestStand(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) Job { return Job{Enqueued: now.Add(-d)} }
	reminder := ago(time.Hour)
	reminder.Kind = Remind
	got := Stand([]ThreadState{
		{Queued: 3, Head: ago(time.Minute), Delayed: 2},
		{Queued: 2, Head: ago(2 * time.Hour), Worker: "w"},
		{Queued: 1, Head: ago(3 * time.Hour), NotBefore: now.Add(time.Second)},
		{Queued: 1, Head: reminder},
		{Delayed: 1},
	}, now)
	if want := (Standing{Waiting: 5, Running: 1, Later: 4, Oldest: time.Minute}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
