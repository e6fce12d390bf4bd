package chat

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// ErrUnknownRun is the error for a run that is not remembered (any more).
var ErrUnknownRun = errors.New("this run is not remembered")

// ErrRunOver is the error for a retry of a run that came to its end.
var ErrRunOver = errors.New("this run has come to its end; there is nothing to go on with")

// ErrForbidden is the error for somebody who may not do this to a run or thread. Its
// text is fit for people.
var ErrForbidden = errors.New("this is for the person who asked")

// ErrOpenQuestion is the error for a wish that would close a question which waits.
var ErrOpenQuestion = errors.New("a question waits in this thread: answer it first, or say never mind")

// Controls is what people do about runs beside writing messages. The bot implements
// it; adapters offer it as buttons and keys. An error that wraps none of this package's
// is private: it goes to the log.
type Controls interface {
	// Stop ends what works or waits in a thread; false where nothing did. The person who
	// asked may, and anyone where the question that waits is for anyone; else
	// ErrForbidden. It does not wait for the run: the conversation of its message
	// hears "Stopped." within a second. A question that waited is closed in the
	// transcript.
	Stop(ctx context.Context, thread ThreadID, by UserID) (bool, error)
	// Retry goes on with a failed or stopped run from its last good checkpoint, or
	// starts its message again where there is none, and answers in conversation, after
	// the messages of the thread that came before it; where conversation is nil it
	// returns once the wish is durable. ErrUnknownRun, ErrRunOver, or ErrForbidden for
	// all but the person who asked; after any error nothing was said.
	Retry(ctx context.Context, run RunID, by UserID, conversation Conversation) error
	// Rate keeps what a person thinks of an answer; a later rating replaces theirs.
	// ErrUnknownRun.
	Rate(ctx context.Context, run RunID, rating Rating) error
	// Explain gives how a run came about, also of one that failed, was stopped or waits.
	// ErrUnknownRun.
	Explain(ctx context.Context, run RunID) (Trace, error)
}

// Extender makes answers longer. The bot implements it, where it posts.
type Extender interface {
	// Extend has an answer that says that there is more (Reply.More) made anew with all that
	// was found, in the place of the one that is shown; it returns once that is durable.
	// ErrUnknownRun, ErrOpenQuestion, or ErrForbidden for all but the person who asked.
	Extend(ctx context.Context, run RunID, by UserID) error
}

// AnswerPinner pins answers to questions. Beside the errors below, all of it gives
// a *PinError for what can't be done.
type AnswerPinner interface {
	// DraftPin gives what PinAnswer pins of a run as it is, for somebody who may pin it to change.
	// ErrUnknownRun.
	DraftPin(ctx context.Context, run RunID, by Reader) (PinDraft, error)
	// PinAnswer has the answer of a run given to its question from now on, to all who may read what
	// it rests on; what the draft has takes the place of either. ErrUnknownRun.
	PinAnswer(ctx context.Context, run RunID, by Reader, draft PinDraft) (PinnedAnswer, error)
	// UnpinAnswer ends that for the answer that a run made or gave. ErrUnknownRun.
	UnpinAnswer(ctx context.Context, run RunID, by Reader) (PinnedAnswer, error)
}

// Curating is a handler by which answers may be pinned. The bot implements it.
type Curating interface {
	// Curator gives what pins answers; nil where none can be pinned.
	Curator() AnswerPinner
}

// PinDraft is a question and an answer that somebody pins to it; "" is what the run has.
type PinDraft struct {
	Question string
	Text     string // Markdown; a mark [n] cites the source of the run's answer that has the number
}

// PinnedAnswer is what was pinned, or is not any more.
type PinnedAnswer struct {
	Question string
	Expires  time.Time
}

// Describe says to who pinned the answer, or unpinned it, what comes of that.
func (p PinnedAnswer) Describe(isPinned bool) string {
	if !isPinned {
		return fmt.Sprintf("Unpinned: “%s” is answered from the documents again.", p.Question)
	}
	return fmt.Sprintf("Pinned: I give this answer to “%s” from now on, until %s, with your name.", p.Question, p.Expires.Format(time.DateOnly))
}

// PinError tells why an answer can't be pinned or unpinned, in words for who wanted it.
type PinError struct{ Text string }

// Error implements error.
func (e *PinError) Error() string { return e.Text }

// Corrector looks at what people say about answers. The bot implements it.
type Corrector interface {
	// Correct has a message of a thread, or with an empty text what was said in the thread before
	// it, looked at: where it corrects what the thread's last answer cites, the change is proposed
	// in the thread. It returns once that is durable; most messages change nothing, and nothing is
	// said then. The same message may be handed over again.
	Correct(ctx context.Context, message Message) error
}

// RunThreads tells where runs are, so that a button shows nothing of another place. The bot
// implements it.
type RunThreads interface {
	// ThreadOf gives the thread that a run's message was in. ErrUnknownRun.
	ThreadOf(ctx context.Context, run RunID) (ThreadID, error)
}

// Ratings gives back what people think of answers. The bot implements it.
type Ratings interface {
	// RatingsOf gives the ratings of a run, one a person, in the order of their ids.
	// ErrUnknownRun.
	RatingsOf(ctx context.Context, run RunID) ([]Rating, error)
}

var stopping = regexp.MustCompile(`(?i)^[^\pL\pN]*(?:cairn\s+)?(never ?mind|cancel|stop|forget it|nvm)[^\pL\pN]*$`)

// IsStop tells whether a message's text asks to end what works or waits: "stop",
// "cancel", "never mind", "/cairn stop". An adapter that keeps a thread's messages back
// until the one before is done hands such a message over at once.
func IsStop(text string) bool { return stopping.MatchString(text) }

// Rating is what one person thinks of an answer.
type Rating struct {
	By      UserID
	Verdict Verdict
	Reason  string `json:",omitempty"` // in the person's words
	// ByReaction tells that the person reacted to the answer: who takes the reaction back takes
	// the rating back.
	ByReaction bool `json:",omitempty"`
	At         time.Time
}

// MaxReason bounds Rating.Reason, in letters.
const MaxReason = 1000

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
	// first, at most limit, which is positive.
	Threads(ctx context.Context, adapter string, by UserID, limit int) ([]ThreadSummary, error)
}

// ThreadSummary is a thread as a list shows it.
type ThreadSummary struct {
	Thread  ThreadID
	Title   string // its first message on one line, shortened; "" where it had no text
	Updated time.Time
	Waiting bool // for an answer to a question
}
