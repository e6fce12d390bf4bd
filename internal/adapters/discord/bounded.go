package discord

import "sync"

// bounded remembers the last so many values, by key. The zero value remembers nothing.
type bounded[V any] struct {
	mu     sync.Mutex
	values map[string]V
	ring   []string
	next   int
}

func newBounded[V any](size int) *bounded[V] {
	return &bounded[V]{values: make(map[string]V), ring: make([]string, size)}
}

func (b *bounded[V]) get(key string) (V, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	value, ok := b.values[key]
	return value, ok
}

// put remembers a value, in the place of the oldest where it is new.
func (b *bounded[V]) put(key string, value V) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.values[key]; !known {
		delete(b.values, b.ring[b.next])
		b.ring[b.next] = key
		b.next = (b.next + 1) % len(b.ring)
	}
	b.values[key] = value
}
