package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// PostKey names one message of the bot before it is posted: 24 letters and digits.
type PostKey string

// Post is a message of the bot as a platform shows it: a Reply or a Question, never both.
type Post struct {
	// To is the person's message that it is about; "" for none.
	To       MessageID
	Reply    *Reply
	Question *Question
	// Answer and AnsweredBy are what became of Question, as in Turn. A question that has
	// an Answer is shown with it and without buttons.
	Answer     string
	AnsweredBy UserID
	// Only is the one person who may see the message, where the platform can hide it from
	// the others; "" is everybody. Such a message need not be found again.
	Only UserID
	// Private has a message for Only go to their direct conversation where the platform
	// can't hide it from the others in the thread.
	Private bool
}

// Poster is an Adapter of a platform on which the bot's messages are posted, by whatever
// process has them, rather than read from the thread's transcript. Its Run hands
// messages to the Handler with a nil Conversation. Its methods may be called
// concurrently, and before, without or after Run.
//
// An error that wraps ErrGone, ErrRefused or ErrNotPosted, or is a *RetryAfterError, says that
// nothing was posted. After any other it can't be known: a platform may carry out a call seconds
// after its caller gave up. The bot waits a while, asks Find before it tries again, and has
// the thread tidied later (Tidier).
//
// A call may take the platform's time, 30 s; it does not wait longer than a moment for its
// turn under the platform's limits. Where its turn is later it gives a *RetryAfterError, and
// the bot comes back with the same key when that time has passed. Posts in one channel keep
// the order of the messages that they are about.
type Poster interface {
	// Post puts the message into the thread, as a reply where it starts one, and gives
	// its id. The key goes with it, so that Find finds it from any process. A Post with a
	// key that was posted lately may give the first one's id and post nothing. A reply's
	// documents are shown with it, those without content are left out.
	Post(ctx context.Context, thread ThreadID, key PostKey, post Post) (MessageID, error)
	// Find asks the platform for the message that was posted under a key; false where
	// there is none. Where there are two, as a process that stood still may have sent the
	// second long after it was given up, it takes the later away.
	Find(ctx context.Context, thread ThreadID, key PostKey) (MessageID, bool, error)
	// Edit replaces what a message of the bot shows. To edit one that is gone is ErrGone.
	// Where a document has no content, those that were posted stay as they are.
	Edit(ctx context.Context, thread ThreadID, message MessageID, post Post) error
	// Retract takes a message of the bot away. To retract one that is gone is no error.
	Retract(ctx context.Context, thread ThreadID, message MessageID) error
}

// Tidier is a Poster that takes away what its platform did late: after the caller of a call
// had given up, and maybe after the call was made again.
type Tidier interface {
	// Tidy looks at the thread once more, and takes away all messages of each post but one and
	// the drafts that stand in the thread. The bot calls it half a minute or more after the
	// last call that ended unknown, while it works at nothing in the thread. It has low
	// priority: where others wait for the platform it does nothing and gives a
	// *RetryAfterError. It can be repeated.
	Tidy(ctx context.Context, thread ThreadID, late Late) error
}

// Late is what may have come late into a thread.
type Late struct {
	// To is the earliest message of a person's that it is about; what stands before it is left
	// alone. "" is the whole thread.
	To MessageID
	// Age is how long ago the last call that ended unknown was given up, or less. What the platform
	// showed CarriedOutWithin after that holds what came of it.
	Age time.Duration
	// Known are messages of the thread that the bot has read or posted, in any order: a thread
	// that holds no others needs no tidying. Of a post that is there more than once the known
	// message stays, else the earliest. It may be incomplete.
	Known []MessageID
}

// CarriedOutWithin is how long after a call was given up its platform has carried it out, if it
// does so at all.
const CarriedOutWithin = 20 * time.Second

// AbsenceChecker is a Poster that can tell for many threads at once that nothing was posted,
// so that after an outage not each thread has to be searched.
type AbsenceChecker interface {
	// IsAbsent tells that the bot has posted nothing in the thread after a person's message
	// to, also no draft. It may rest on an earlier look at the platform that is no older than
	// age. false: it can't tell, and Find has to look.
	IsAbsent(ctx context.Context, thread ThreadID, to MessageID, age time.Duration) (bool, error)
}

// Drafter is a Poster that shows a run while it works. A draft is a convenience: a run
// whose draft fails is posted all the same.
type Drafter interface {
	// Draft begins to show a run that works; it returns soon, for the run waits.
	Draft(ctx context.Context, work Work) (Draft, error)
}

// Work is a run that works at a message.
type Work struct {
	Run    RunID
	Thread ThreadID
	To     MessageID
	Asker  UserID
	Title  string // of the thread, as lists show it; "" where it has none yet
	// Again tells that a worker which is gone may have left a draft in the thread: it is
	// taken away first.
	Again bool
}

// Draft is what a thread shows of a run until its post is there: steps, and the answer as
// it is made. Calls come one at a time and return soon. One of Finish, Close and Wait ends
// it, unless the process dies; then only Unsettled may be called.
type Draft interface {
	Progress(ctx context.Context, progress Progress) error
	Streamer
	// Finish puts the post in the draft's place, under a key. Its result and its errors are
	// those of Poster.Post, but that of them only ErrNotPosted and a *RetryAfterError say that
	// nothing was posted. After ErrNotPosted the draft was taken away; after a *RetryAfterError
	// it is as it was, and is still to be ended.
	Finish(ctx context.Context, key PostKey, post Post) (MessageID, error)
	// Close takes the draft away: nothing comes of it here.
	Close(ctx context.Context) error
	// Wait shows that the outcome is there and is posted in about so long, when its turn
	// under the platform's limits comes. What was streamed is taken away. What is shown goes
	// with the next post in the thread, whichever process posts it, or where Unsettled says so
	// when the thread is tidied; people see it for half a minute at least.
	Wait(ctx context.Context, about time.Duration) error
	// Unsettled tells that a message of the draft may be there after its end, or may be made late:
	// the thread is to be tidied. A line that shows a status is no message.
	Unsettled() bool
}

// ErrGone is the error for a thread or channel that is no more, or that the bot was
// removed from.
var ErrGone = errors.New("the thread is gone, or the bot may not post in it any more")

// ErrRefused is the error for a message that the platform will never take.
var ErrRefused = errors.New("the platform refuses the message for good")

// ErrNotPosted is the error for a post whose preparation failed, such as the start of its
// thread: nothing was posted, so nothing has to be looked for, and it may be tried again.
var ErrNotPosted = errors.New("the post was not sent")

// RetryAfterError is a platform's wish to be left alone for a while, or tells that the turn of
// a call under the platform's limits comes later. Nothing was sent, or the platform did
// nothing: so nothing has to be looked for.
type RetryAfterError struct {
	After time.Duration
	Err   error
}

func (e *RetryAfterError) Error() string {
	return fmt.Sprintf("the platform wants to be tried again in %s: %v", e.After, e.Err)
}

func (e *RetryAfterError) Unwrap() error { return e.Err }

// PostPart is one of the messages that a post is made of, as a thread shows it.
type PostPart struct {
	Key     PostKey
	Index   int // which message of the post
	Message MessageID
}

// FindDuplicates returns those of the parts, the earliest first, that the thread shows more than
// once and that are to be deleted: of each the latest of the known messages stays, where there is
// one, else the earliest.
func FindDuplicates(parts []PostPart, known []MessageID) []PostPart {
	type place struct {
		key   PostKey
		index int
	}
	stays := make(map[place]MessageID, len(parts))
	for _, p := range parts {
		at := place{p.Key, p.Index}
		if stays[at] == "" || slices.Contains(known, p.Message) {
			stays[at] = p.Message
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p PostPart) bool { return stays[place{p.Key, p.Index}] == p.Message })
}

// ThreadRemover is an optional interface of a Poster on whose platform the bot starts threads, which
// stay when nothing is left in them.
type ThreadRemover interface {
	// RemoveEmptyThread takes away a thread that the bot started, or archives it where it may not
	// take it away. A thread in which something was said stays as it is. Errors are as for Edit.
	RemoveEmptyThread(ctx context.Context, thread ThreadID) error
}
