package threadsource

import (
	"maps"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Memory is what is remembered of a channel from one sync to the next, while the process lives: how
// its threads stood when they were read, and in which something happened since. Its methods may be
// called concurrently.
type Memory struct {
	thorough bool // every thread is read

	mu      sync.Mutex
	listed  time.Time
	heads   map[chat.ThreadID]string // of the last listing, and of threads that events told of since
	read    map[chat.ThreadID]string // the state in which each was read
	changed map[chat.ThreadID]bool
}

// NewMemory makes an empty memory: the first sync reads each thread that is no document yet.
func NewMemory() *Memory {
	return &Memory{read: make(map[chat.ThreadID]string), changed: make(map[chat.ThreadID]bool)}
}

// NoteChange has a thread read again by the next sync, for something happened in it.
func (m *Memory) NoteChange(thread chat.ThreadID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.changed) < maxThreads {
		m.changed[thread] = true
	}
}

func (m *Memory) takeChanged() map[chat.ThreadID]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.changed
	m.changed = make(map[chat.ThreadID]bool)
	return taken
}

func (m *Memory) returnChanged(taken map[chat.ThreadID]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(m.changed, taken)
}

// lastListing gives the threads of the last listing where that is no older than since; nil: it is.
func (m *Memory) lastListing(since time.Time) map[chat.ThreadID]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listed.Before(since) || m.heads == nil {
		return nil
	}
	return maps.Clone(m.heads)
}

func (m *Memory) noteListing(at time.Time, heads map[chat.ThreadID]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed, m.heads = at, maps.Clone(heads)
	maps.DeleteFunc(m.read, func(thread chat.ThreadID, _ string) bool {
		_, ok := heads[thread]
		return !ok
	})
}

func (m *Memory) isRead(head chat.ThreadHead) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	state, ok := m.read[head.Thread]
	return ok && state == head.State
}

func (m *Memory) noteRead(head chat.ThreadHead) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read[head.Thread] = head.State
	if m.heads != nil {
		m.heads[head.Thread] = head.State
	}
}
