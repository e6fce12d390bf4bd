// Package outage holds calls back while a platform fails. A post that ends with a server's error
// may have been made, so each costs a look at its thread, and platforms allow few looks.
package outage

import (
	"sync"
	"time"
)

const (
	// After is how many calls in a row end with a server's error before calls are held back.
	After = 3
	// ProbeEvery is how often one call is let through while the platform fails.
	ProbeEvery = 5 * time.Second
)

// Gate lets calls to a platform through while that is well. The zero Gate is open. Its methods may be
// called concurrently.
type Gate struct {
	mu       sync.Mutex
	failures int       // calls that failed since the last that did not
	next     time.Time // when a call may be tried again
}

// Hold returns how long calls are held back; 0 where Admit would let one through.
func (g *Gate) Hold(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failures < After {
		return 0
	}
	return max(0, g.next.Sub(now))
}

// Admit returns how long a call is to wait; 0 lets it through. While the platform fails it lets one
// through in each ProbeEvery.
func (g *Gate) Admit(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failures < After {
		return 0
	}
	if wait := g.next.Sub(now); wait > 0 {
		return wait
	}
	g.next = now.Add(ProbeEvery)
	return 0
}

// NoteFailure counts a call that ended with a server's error.
func (g *Gate) NoteFailure(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failures++; g.failures == After {
		g.next = now.Add(ProbeEvery)
	}
}

// NoteAnswer opens the gate: the platform answered, be it with a refusal.
func (g *Gate) NoteAnswer() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failures = 0
}
