// Package expiring remembers what a platform or a store told, for a short time and up to a bound.
// It is not golang-lru's expirable cache, which has the machine's clock alone and a goroutine that
// runs on for each of the fifteen maps of an adapter.
package expiring

import (
	"sync"
	"time"
)

// Map remembers values by key. Make one with New; its methods may be called concurrently.
type Map[V any] struct {
	keep time.Duration
	now  func() time.Time

	mu     sync.Mutex
	values map[string]entry[V]
	ring   []string // keys in the order in which they came
	next   int
}

type entry[V any] struct {
	value V
	until time.Time
}

// New makes a map of at most size values, each of which is forgotten after keep; for keep 0 only
// where it is full, and the oldest key makes room.
func New[V any](size int, keep time.Duration, now func() time.Time) *Map[V] {
	return &Map[V]{keep: keep, now: now, values: map[string]entry[V]{}, ring: make([]string, size)}
}

// Get gives a value that is not forgotten.
func (m *Map[V]) Get(key string) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.values[key]
	if !ok || m.keep > 0 && !m.now().Before(found.until) {
		return value, false
	}
	return found.value, true
}

// Put remembers a value from now on.
func (m *Map[V]) Put(key string, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.values[key]; !known {
		delete(m.values, m.ring[m.next])
		m.ring[m.next] = key
		m.next = (m.next + 1) % len(m.ring)
	}
	m.values[key] = entry[V]{value, m.now().Add(m.keep)}
}

// Clear forgets everything.
func (m *Map[V]) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.values)
	clear(m.ring)
	m.next = 0
}
