package runs

import (
	"context"
	"errors"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// ErrLost is the error for a write under a lease that another worker has taken, or that
// was finished or released. Nothing was written. The worker leaves the thread alone from
// then on; whoever has the lease now goes on with the job.
var ErrLost = errors.New("the lease of this thread was lost to another worker")

// WorkerID names a worker, for operators: "host-pid-random". Several goroutines may
// claim under one name; another process has another.
type WorkerID string

// Token tells the leases of a lane apart: a later lease has a greater one. Every write
// under a lease carries it, and the store refuses all but the last (ErrLost).
type Token int64

// Lease is the right of one worker to work at the job at the head of a lane. It lasts
// for TTL after it was given, renewed or written under. One that ran out can still be
// renewed as long as nobody else has claimed the thread.
type Lease struct {
	Thread chat.ThreadID
	Lane   Lane
	Token  Token
	Worker WorkerID
	Job    Job
	Given  time.Time // by the store's clock
	// Stopped tells that the job was stopped before it was claimed (again); nil: it was not.
	Stopped *Stop
	// Restored tells that the store was restarted since the job came and may have
	// forgotten what was done about it last: what seems to be posted for the first time may
	// have been posted.
	Restored bool
	// Behind tells that other jobs wait behind this one.
	Behind bool
	// Unsure is until when something may have been asked of a platform for the job whose end
	// is not known, by the store's clock: the end of an earlier lease (Result.Doubt), or the
	// time when this one was given, where a worker died or the store forgot. Zero: nothing was.
	Unsure time.Time
	TTL    time.Duration
	// Session is the thread's session when the lease was given, as session.Encode gave it; nil:
	// there was none, or the lease is not of LaneMessages. Where it could not be read, SessionUnread is set: to load it tells why.
	Session       []byte
	SessionUnread bool
	// Ref is the backend's own; it is handed back as it came.
	Ref string
}

// Queue returns the queue that the lease is of.
func (l Lease) Queue() QueueID { return QueueID{l.Thread, l.Lane} }

// Renewal is what a worker learns when its lease is renewed.
type Renewal struct {
	Stop   *Stop // a person's wish since the job came to the head; nil: none
	Behind bool  // other jobs wait behind this one
}

// Stop is a person's wish that the job at the head of a thread ends.
type Stop struct {
	By chat.UserID
	At time.Time
}

// Next is what becomes of a job when its lease ends. A run that failed, with a line in
// the thread that says so, has its job Finished.
type Next string

// A job is finished, tried again at its place, left for later, or put aside.
const (
	Finished Next = "finished"
	Again    Next = "again" // after Result.After; the thread waits for it
	// Left is as Again, and it was no attempt: this worker can't do it and another may, or its
	// turn at a platform has not come.
	Left Next = "left"
	Dead Next = "dead" // a dead letter; the thread goes on with the next job
	// Released leaves the job at the head for whoever claims it next: at once, as an attempt
	// that never was.
	Released Next = "released"
)

// LeftFor is how long a job is left for workers of another kind before it is looked at
// again.
const LeftFor = 5 * time.Second

// Doubt is what a worker that gives a job back knows of what it asked of a platform.
type Doubt string

// What was asked for may or may not have been done until now; until Lease.Unsure, as it was
// when the job was claimed; or it is all known.
const (
	UnsureNow    Doubt = ""
	UnsureBefore Doubt = "before"
	Sure         Doubt = "sure"
)

// Result is how the work at a job ended. The zero Result finishes it.
type Result struct {
	Next   Next          // "" means Finished
	After  time.Duration // of Again and Left; 0: at once
	Doubt  Doubt         // of Again and Left; Release leaves UnsureNow
	Reason string        // of all but Finished, for operators; it quotes no message
	// Over is a run that will never be resumed: its checkpoint is dropped. "" for none.
	Over chat.RunID
}

// Leases gives threads with work to workers, one worker to a lane. Only the store's
// clock counts.
type Leases interface {
	// Claim waits for a lane that has a job which may be worked at and no living lease,
	// and leases it. It returns ctx's error within half a second of ctx's end, holding
	// nothing. A job that can't be read is put among the dead letters, and the next one
	// is taken; one that a newer program stored (ErrNewer) is left.
	Claim(ctx context.Context, worker WorkerID) (Lease, error)
	// Renew makes the lease last for TTL from now. ErrLost. Hold does this in the background.
	Renew(ctx context.Context, lease Lease) (Renewal, error)
	// Finish ends the lease and does with the job what result says, which a commit can do as
	// well (store.Commit). Deliveries of the lane that are confirmed are forgotten, unless
	// the lease is released. ErrLost.
	Finish(ctx context.Context, lease Lease, result Result) error
	// Release is Finish with Released. ErrLost.
	Release(ctx context.Context, lease Lease) error
}

// Stopper stops what works in a thread.
type Stopper interface {
	// Stop asks for the end of the event's job, if it is at the head of LaneMessages: whether
	// it is at work, waits for another attempt or for a worker. It reaches the worker with
	// the next renewal (see Hold) wherever that works, and a worker that takes the job over
	// too. false: the job is not at the head (any more). The first of several wishes stands.
	Stop(ctx context.Context, thread chat.ThreadID, event EventID, by chat.UserID) (bool, error)
}
