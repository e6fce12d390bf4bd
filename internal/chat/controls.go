package chat

import (
	"context"
	"errors"
	"time"
)

// ErrUnknownRun is the error for a run that is not remembered (any more).
var ErrUnknownRun = errors.New("this run is not remembered")

// ErrForbidden is the error for somebody who may not do this to a run or thread.
var ErrForbidden = errors.New("this is for the person who asked")

// Controls is what people do about runs beside writing messages. The bot implements
// it; adapters offer it as buttons and keys.
type Controls interface {
	// Stop ends what works or waits in a thread; false where nothing did. The thread is
	// told by the one who handles the stopped message.
	Stop(ctx context.Context, thread ThreadID, by UserID) (bool, error)
	// Retry goes on with a failed run from its last good checkpoint, or starts a
	// stopped one's message again, and answers in conversation. ErrUnknownRun where
	// there is nothing to go on with.
	Retry(ctx context.Context, run RunID, by UserID, conversation Conversation) error
	// Rate keeps what a person thinks of an answer; a later rating replaces theirs.
	Rate(ctx context.Context, run RunID, rating Rating) error
	// Explain gives how a run came about, also of one that failed.
	Explain(ctx context.Context, run RunID) (Trace, error)
}

// Rating is what one person thinks of an answer.
type Rating struct {
	By      UserID
	Verdict Verdict
	At      time.Time
}

// Verdict is a thumb; Unrated takes one back.
type Verdict string

// The verdicts.
const (
	Unrated Verdict = ""
	Up      Verdict = "up"
	Down    Verdict = "down"
)

// Graphs draws flows for people who look at a run.
type Graphs interface {
	// Graph gives the flow's graph as an SVG element with a data-node attribute on each
	// node; false for a flow that is not known.
	Graph(flow string) (svg string, known bool)
}

// Threads lists conversations, for adapters that show more than one.
type Threads interface {
	// Threads gives the threads of an adapter in which a person wrote, the last used
	// first, at most limit.
	Threads(ctx context.Context, adapter string, by UserID, limit int) ([]ThreadSummary, error)
}

// ThreadSummary is a thread as a list shows it.
type ThreadSummary struct {
	Thread  ThreadID
	Title   string // its first message, shortened
	Updated time.Time
	Waiting bool // for an answer to a question
}
