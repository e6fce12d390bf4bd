package runs

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// followerBuffer is how many events a slow follower may be behind before it misses some that
// were only shown.
const followerBuffer = 256

// Hub passes events on to those who follow threads, inside one process, for backends: each reads
// kept events in its own way. The zero value is ready.
type Hub struct {
	// Changed is called when a thread gets its first follower or loses its last one,
	// one call at a time; nil: nobody needs to know.
	Changed func(thread chat.ThreadID, followed bool)

	mu        sync.Mutex
	followers map[chat.ThreadID]map[*follower]struct{}
}

// follower is one who looks at a thread.
type follower struct {
	mu    sync.Mutex
	words []word
	told  chan struct{} // holds one entry when words were added since it was last emptied
}

// word is what a follower is told: an event that is shown, or that there are kept ones up
// to a position (Latest: whatever there are).
type word struct {
	shown *Event
	upTo  Position
}

// EventSource is where a Hub reads the kept events of a thread.
type EventSource struct {
	// Start turns a position into one that Read takes.
	Start func(ctx context.Context, at Position) (Position, error)
	// Read gives some of the events behind a position, in order, up to another
	// (Latest: the last one); none where there are none.
	Read func(ctx context.Context, after, upTo Position) ([]Event, error)
	// Poll is how long a follower waits to be told of new events before it looks itself.
	Poll time.Duration
}

// Follow is Events.Follow. What one process writes comes in its order, kept and
// shown events alike.
func (h *Hub) Follow(ctx context.Context, thread chat.ThreadID, after Position, source EventSource) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := h.addFollower(thread)
		defer h.removeFollower(thread, f)
		at, err := source.Start(ctx, after)
		next := word{upTo: Latest}
		for err == nil && ctx.Err() == nil {
			if next.shown != nil {
				if !yield(*next.shown, nil) {
					return
				}
				next = f.waitWord(ctx, source.Poll)
				continue
			}
			var events []Event
			if events, err = source.Read(ctx, at, next.upTo); err != nil {
				break
			}
			for _, event := range events {
				at = event.Position
				if !yield(event, nil) {
					return
				}
			}
			if len(events) == 0 {
				next = f.waitWord(ctx, source.Poll)
			}
		}
		if ctx.Err() == nil {
			yield(Event{}, err)
		}
	}
}

// waitWord returns the next word; after poll, or the end of ctx, it is to look for itself.
func (f *follower) waitWord(ctx context.Context, poll time.Duration) word {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	for {
		if next, ok := f.takeWord(); ok {
			return next
		}
		select {
		case <-f.told:
		case <-ctx.Done():
			return word{upTo: Latest}
		case <-timer.C:
			return word{upTo: Latest}
		}
	}
}

func (f *follower) takeWord() (word, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.words) == 0 {
		return word{}, false
	}
	next := f.words[0]
	f.words = f.words[1:]
	return next, true
}

// addWord adds a word. Of what is only shown, there is room for so much; of two words about
// kept events that follow one another, the later says it all.
func (f *follower) addWord(w word) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := len(f.words) - 1
	switch {
	case w.shown != nil && len(f.words) >= followerBuffer:
		return
	case w.shown == nil && last >= 0 && f.words[last].shown == nil:
		f.words[last] = w
	default:
		f.words = append(f.words, w)
	}
	select {
	case f.told <- struct{}{}:
	default:
	}
}

func (h *Hub) addFollower(thread chat.ThreadID) *follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := &follower{told: make(chan struct{}, 1)}
	if h.followers == nil {
		h.followers = make(map[chat.ThreadID]map[*follower]struct{})
	}
	if h.followers[thread] == nil {
		h.followers[thread] = make(map[*follower]struct{})
		if h.Changed != nil {
			h.Changed(thread, true)
		}
	}
	h.followers[thread][f] = struct{}{}
	return f
}

func (h *Hub) removeFollower(thread chat.ThreadID, f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.followers[thread], f)
	if len(h.followers[thread]) == 0 {
		delete(h.followers, thread)
		if h.Changed != nil {
			h.Changed(thread, false)
		}
	}
}

// Show hands an event to those who follow the thread now and have room for it.
func (h *Hub) Show(thread chat.ThreadID, event Event) {
	h.notifyFollowers(thread, word{shown: &event})
}

// Kept tells the followers of the thread that there are events up to a position to read;
// Latest: that there may be some.
func (h *Hub) Kept(thread chat.ThreadID, upTo Position) {
	h.notifyFollowers(thread, word{upTo: upTo})
}

func (h *Hub) notifyFollowers(thread chat.ThreadID, w word) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.followers[thread] {
		f.addWord(w)
	}
}
