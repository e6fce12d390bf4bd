package runs

import (
	"context"
	"iter"

	"cairn/internal/chat"
	"cairn/internal/graph"
)

// MaxEvent bounds the body of an event and of a delivery, in bytes.
const MaxEvent = 1 << 20

// EventKind says what an event's body is; writers and readers agree on it.
type EventKind string

// Event is something that happened in a thread, for those who look on.
type Event struct {
	// Position is set by the store. It is "" for an event that was only shown (Show).
	Position Position
	Run      chat.RunID
	Kind     EventKind
	Body     []byte // of the writer's own form
}

// Position is a place in a thread's events, behind an event. Only the store makes one,
// but for these two.
type Position string

// Where to follow a thread from, beside behind an event.
const (
	Beginning Position = ""    // as far back as events are kept
	Latest    Position = "now" // only what comes
)

// Journal is what a worker writes about its runs under a lease: their checkpoints and
// events. Its methods may be called concurrently. After ErrLost it is of no more use.
//
// Save replaces a run's checkpoint, appends what Append took, in order, and renews the
// lease, all in one transaction; or gives ErrLost and does nothing of it. After another
// error it can't be known whether it was done; the next Save or Flush that succeeds has
// appended each event once. Load does not look at the lease.
type Journal interface {
	graph.Store
	// Append keeps events for the next Save or Flush.
	Append(events ...Event)
	// Flush appends what Append took since the last Save, and renews the lease. ErrLost.
	Flush(ctx context.Context) error
	// Show hands the event to those who follow the thread at this moment and keeps
	// nothing: for tokens, and for steps that begin. Some may miss it.
	Show(ctx context.Context, event Event) error
}

// Journals gives the journal of a lease.
type Journals interface {
	Journal(lease Lease) Journal
}

// Events is what any process can see of the work at a thread.
type Events interface {
	// Follow gives the events of the thread behind a position: those that are kept
	// (Options.EventsKept, for Options.EventsFor), then those that come, as they come,
	// until ctx ends or the loop is left. Kept events come in order, each once. An error
	// is the last thing it gives; ctx's own is not given.
	Follow(ctx context.Context, thread chat.ThreadID, after Position) iter.Seq2[Event, error]
}
