package runs

import (
	"context"
	"errors"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// ErrUnknownDelivery is the error for a delivery that was never recorded, or is forgotten.
var ErrUnknownDelivery = errors.New("no such delivery is recorded")

// ErrUnknownLetter is the error for a dead letter that is not there (any more).
var ErrUnknownLetter = errors.New("no such dead letter")

// ThreadState is how one of a thread's queues stands.
type ThreadState struct {
	Thread chat.ThreadID
	Lane   Lane
	// Queued is the number of jobs in order, that at the head included; Delayed that of
	// jobs whose time has not come.
	Queued, Delayed int
	Head            Job       // zero where Queued is 0, or where it can't be read
	Worker          WorkerID  // "" where nobody has the lease
	Until           time.Time // when the lease runs out; may be past
	NotBefore       time.Time // when the head may be tried again; zero: now
	Reason          string    // why the head is tried again
	Stopped         *Stop
}

// Queue returns the queue whose state it is.
func (s ThreadState) Queue() QueueID { return QueueID{s.Thread, s.Lane} }

// Busy reports whether a worker has the lane, as far as the store knows.
func (s ThreadState) Busy() bool { return s.Worker != "" }

// DeadLetter is a job that was put aside.
type DeadLetter struct {
	Job    Job // all but its event and thread are zero where it can't be read
	Reason string
	At     time.Time
}

// Name returns what operators call the dead letter by: the run of its job, or the event of a job
// without a run.
func (l DeadLetter) Name() chat.RunID {
	if l.Job.Run == "" {
		return chat.RunID(l.Job.Event)
	}
	return l.Job.Run
}

// Operator is how operators look into queues.
type Operator interface {
	// State gives the state of LaneMessages of a thread; one with nothing to do is all zero.
	State(ctx context.Context, thread chat.ThreadID) (ThreadState, error)
	// Threads gives the lanes that have work, at most limit. It is not one moment's
	// picture: one that comes or goes meanwhile may be missing.
	Threads(ctx context.Context, limit int) ([]ThreadState, error)
	// DeadLetters gives the dead letters, the latest first, at most limit.
	DeadLetters(ctx context.Context, limit int) ([]DeadLetter, error)
	// FindDeadLetter gives the dead letter of a run, or of the job with the event id where
	// its job has no run or can't be read; the latest of several. Its cost does not grow with
	// the number of dead letters. ErrUnknownLetter.
	FindDeadLetter(ctx context.Context, run chat.RunID) (DeadLetter, error)
	// Replay puts a dead letter at the end of the queue it was in, as a first attempt.
	// ErrUnknownLetter.
	Replay(ctx context.Context, thread chat.ThreadID, event EventID) error
	// Discard forgets a dead letter: its job will never be worked at. ErrUnknownLetter.
	Discard(ctx context.Context, thread chat.ThreadID, event EventID) error
}

// Filter chooses records. Its zero fields choose all.
type Filter struct {
	Status Status
	Thread chat.ThreadID
	Author chat.UserID
	// Match chooses among the records that the other fields choose; nil chooses all. It is called
	// one record at a time, and ends with the list.
	Match func(Record) bool
}

// Takes reports whether the filter chooses the record.
func (f Filter) Takes(record Record) bool {
	return (f.Status == "" || f.Status == record.Status()) &&
		(f.Thread == "" || f.Thread == record.Thread) && (f.Author == "" || f.Author == record.Author) &&
		(f.Match == nil || f.Match(record))
}

// Registry finds records, and erases them. Every Records has it.
type Registry interface {
	// List gives records, the last saved first, at most limit, which is positive. Their
	// ratings are left out.
	List(ctx context.Context, filter Filter, limit int) ([]Record, error)
	// Erase removes the record of a run with its ratings. To erase what is not there is
	// no error.
	Erase(ctx context.Context, run chat.RunID) error
}

// Forgetter erases what is kept of a person, but for records.
type Forgetter interface {
	// Forget removes from a thread: the person's jobs that wait, their dead letters and edits, the
	// checkpoints and recorded deliveries of the given runs, and all events. A job that a
	// worker has is left: stop it first. It is done in all lanes.
	Forget(ctx context.Context, thread chat.ThreadID, by chat.UserID, of []chat.RunID) error
}
