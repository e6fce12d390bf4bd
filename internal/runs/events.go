package runs

import (
	"context"
	"iter"

	"github.com/cairn-bot/cairn/internal/chat"
)

// MaxEvent bounds the body of an event and of a delivery, in bytes.
const MaxEvent = 1 << 20

// EventKind says what an event's body is; writers and readers agree on it.
type EventKind string

// Event is something that happened in a thread, for those who look on.
type Event struct {
	// Position is set by the store. It is "" for an event that was only shown
	// (store.Journal.Show).
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

// Events is what any process can see of the work at a thread.
type Events interface {
	// Follow gives the events of the thread behind a position: those that are kept
	// (Options.EventsKept, for Options.EventsFor), then those that come, as they come,
	// until ctx ends or the loop is left. Kept events come in order, each once. An error
	// is the last thing it gives; ctx's own is not given.
	Follow(ctx context.Context, thread chat.ThreadID, after Position) iter.Seq2[Event, error]
}
