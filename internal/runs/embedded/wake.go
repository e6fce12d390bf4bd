package embedded

import (
	"sync"
	"time"
)

// signal wakes all waiting goroutines.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

func (s *signal) init() { s.ch = make(chan struct{}) }

// wait returns a channel that is closed at the next fire.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

func (s *signal) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// sweeper says when to sweep again.
type sweeper struct {
	mu   sync.Mutex
	last time.Time
}

func (s *sweeper) isDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last) < sweepEvery {
		return false
	}
	s.last = now
	return true
}
