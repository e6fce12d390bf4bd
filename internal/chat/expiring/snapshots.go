package expiring

import (
	"sync"
	"time"
)

// Snapshots are values that a platform is asked for once for all who need them, by key. Make
// one with NewSnapshots; Get may be called concurrently.
type Snapshots[V any] struct {
	size int

	mu     sync.Mutex
	values map[string]*snapshot[V]
}

type snapshot[V any] struct {
	mu    sync.Mutex // held while the platform is asked, so that all who wait share the answer
	asked time.Time  // zero: never
	value V
}

// NewSnapshots makes one that keeps at most size values; where there are more it begins anew.
func NewSnapshots[V any](size int) *Snapshots[V] {
	return &Snapshots[V]{size: size, values: map[string]*snapshot[V]{}}
}

// Get gives the value of a key as the platform told it at a time or later. ask asks for it where
// it is older, and tells when it did.
func (s *Snapshots[V]) Get(key string, since time.Time, ask func() (value V, asked time.Time, err error)) (V, error) {
	found := s.find(key)
	found.mu.Lock()
	defer found.mu.Unlock()
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
		s.values[key] = &snapshot[V]{}
	}
	return s.values[key]
}
