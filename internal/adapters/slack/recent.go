package slack

import "sync"

// recent remembers the last keys that were done with. It spares work; what must not be
// done twice is known by its message id.
type recent struct {
	mu   sync.Mutex
	seen map[string]bool
	ring []string
	next int
}

func newRecent(size int) *recent {
	return &recent{seen: make(map[string]bool, size), ring: make([]string, size)}
}

// hasAny tells whether any of the keys was done.
func (r *recent) hasAny(keys []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		if r.seen[key] {
			return true
		}
	}
	return false
}

// markDone remembers keys in the place of the oldest.
func (r *recent) markDone(keys []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		if r.seen[key] {
			continue
		}
		delete(r.seen, r.ring[r.next])
		r.ring[r.next], r.seen[key] = key, true
		r.next = (r.next + 1) % len(r.ring)
	}
}
