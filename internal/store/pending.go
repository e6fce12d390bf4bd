package store

import (
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/runs"
)

// PendingEvents are the events of a Journal that wait for its next commit. The zero value has
// none. Its methods may be called concurrently.
type PendingEvents struct {
	mu     sync.Mutex
	events []runs.Event
}

// Append implements Journal.
func (p *PendingEvents) Append(events ...runs.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, events...)
}

// List returns the events that wait, the earliest first.
func (p *PendingEvents) List() []runs.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// Drop removes the earliest so many, which were committed.
func (p *PendingEvents) Drop(committed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = p.events[committed:]
}
