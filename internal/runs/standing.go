package runs

import "time"

// Standing is how the jobs of threads stand, all together.
type Standing struct {
	Waiting int           // may be worked at, and nobody does
	Running int           // a worker has them
	Later   int           // their time has not come
	Oldest  time.Duration // how long the oldest of those that wait has waited
}

// Stand adds up how the jobs of threads stand. A reminder does not count as the oldest: it
// came long before its time.
func Stand(threads []ThreadState, now time.Time) Standing {
	var all Standing
	for _, thread := range threads {
		all.Later += thread.Delayed
		all.Waiting += thread.Queued
		switch {
		case thread.Queued == 0:
		case thread.Busy():
			all.Waiting--
			all.Running++
		case thread.NotBefore.After(now):
			all.Waiting--
			all.Later++
		case thread.Head.Kind != Remind && !thread.Head.Enqueued.IsZero():
			all.Oldest = max(all.Oldest, now.Sub(thread.Head.Enqueued))
		}
	}
	return all
}
