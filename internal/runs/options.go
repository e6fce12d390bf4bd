package runs

import (
	"errors"
	"fmt"
	"time"
)

// Options are what backends have in common. A zero field means its default.
type Options struct {
	// LeaseTTL is how long a worker that is not heard of keeps a thread (10 s).
	LeaseTTL time.Duration
	// ClaimInterval is how long after that another worker takes the thread at the latest,
	// where one has nothing to do (2 s). It is also the time after which work is found
	// whose announcement was lost.
	ClaimInterval time.Duration
	// DedupeFor is how long events are told from their repeats (24 h).
	DedupeFor time.Duration
	// EventsKept is how many events of a thread are kept, about (1,000), and EventsFor
	// for how long after the last (24 h).
	EventsKept int
	EventsFor  time.Duration
	// Keep is how long checkpoints, unconfirmed deliveries, dead letters and records are
	// kept after they were last written (30 days).
	Keep time.Duration
}

// MinLeaseTTL is the shortest lease: below it, a busy machine loses leases that it holds.
const MinLeaseTTL = 50 * time.Millisecond

// Complete returns the options with their defaults, or an error that names what is wrong.
func (o Options) Complete() (Options, error) {
	var wrong []error
	for _, d := range []struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"LeaseTTL", &o.LeaseTTL, 10 * time.Second},
		{"ClaimInterval", &o.ClaimInterval, 2 * time.Second},
		{"DedupeFor", &o.DedupeFor, 24 * time.Hour},
		{"EventsFor", &o.EventsFor, 24 * time.Hour},
		{"Keep", &o.Keep, 30 * 24 * time.Hour},
	} {
		if *d.value == 0 {
			*d.value = d.standard
		}
		if *d.value < time.Millisecond {
			wrong = append(wrong, fmt.Errorf("%s is %s: give a millisecond or more", d.name, *d.value))
		}
	}
	if o.EventsKept == 0 {
		o.EventsKept = 1000
	}
	if o.EventsKept < 0 {
		wrong = append(wrong, fmt.Errorf("EventsKept is %d: give a positive number", o.EventsKept))
	}
	if o.LeaseTTL < MinLeaseTTL {
		wrong = append(wrong, fmt.Errorf("LeaseTTL is %s: give %s or more", o.LeaseTTL, MinLeaseTTL))
	}
	return o, errors.Join(wrong...)
}
