package expiring

import (
	"errors"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Snapshots are values that a platform is asked for once for all who need them, by key. Make
// one with NewSnapshots; Get may be called concurrently.
type Snapshots[V any] struct {
	size int

	mu     sync.Mutex
	values map[string]*snapshot[V]
}

type snapshot[V any] struct {
	held  chan struct{} // holds one while the platform is asked, so that all who wait share the answer
	asked time.Time     // zero: never
	value V
}

// ErrAsked is why Get has no value where the platform is slow to answer somebody else.
var ErrAsked = errors.New("the platform was asked for the same and has not answered yet")

// snapshotPatience is how long Get waits for somebody else who asks the platform.
const snapshotPatience = 500 * time.Millisecond

// askAgainAfter is when an answer is there, most likely, that somebody else waits for.
const askAgainAfter = 2 * time.Second

// NewSnapshots makes one that keeps at most size values; where there are more it begins anew.
func NewSnapshots[V any](size int) *Snapshots[V] {
	return &Snapshots[V]{size: size, values: map[string]*snapshot[V]{}}
}

// Get gives the value of a key as the platform told it at a time or later. ask asks for it where
// it is older, and tells when it did. Where somebody else has asked and waits for the answer of a
// slow platform, Get gives a *chat.RetryAfterError that wraps ErrAsked.
func (s *Snapshots[V]) Get(key string, since time.Time, ask func() (value V, asked time.Time, err error)) (V, error) {
	found := s.find(key)
	patience := time.NewTimer(snapshotPatience)
	defer patience.Stop()
	select {
	case found.held <- struct{}{}:
	case <-patience.C:
		var none V
		return none, &chat.RetryAfterError{After: askAgainAfter, Err: ErrAsked}
	}
	defer func() { <-found.held }()
	if found.asked.IsZero() || found.asked.Before(since) {
		value, asked, err := ask()
		if err != nil {
			return value, err
		}
		found.value, found.asked = value, asked
	}
	return found.value, nil
}

func (s *Snapshots[V]) find(key string) *snapshot[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key] == nil {
		if len(s.values) >= s.size {
			clear(s.values)
		}
		s.values[key] = &snapshot[V]{held: make(chan struct{}, 1)}
	}
	return s.values[key]
}
