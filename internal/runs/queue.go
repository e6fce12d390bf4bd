package runs

import (
	"context"
	"errors"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// MaxJob bounds a job as it is stored, in bytes.
const MaxJob = 4 << 20

// ErrTooLarge is the error for a job of more than MaxJob bytes, or an event or a
// delivery of more than MaxEvent. It is never stored.
var ErrTooLarge = errors.New("too large to be kept")

// EventID is what a platform calls one delivery; its retry of the delivery has the same.
// It is told apart within its thread.
type EventID string

// Kind says what a job asks for.
type Kind string

// The kinds of jobs.
const (
	Said   Kind = "said"   // Message was written, or a choice pressed
	Retry  Kind = "retry"  // a person wants Run to go on; Message.Author is who
	Remind Kind = "remind" // Run may have waited long enough for its answer
)

// Job is one thing to do in a thread. Kinds that this program does not know are handed
// over like others: an older program may share the store with a newer one.
type Job struct {
	Event   EventID // required
	Kind    Kind    // "" means Said
	Message chat.Message
	// Lane is that of the thread's queues which the job is in.
	Lane Lane
	// Run is the run that the job starts, where it starts one, or is about. It is chosen
	// before the job is enqueued: whoever takes the job up after a crash finds the run's
	// checkpoint by it.
	Run chat.RunID
	// Enqueued and Attempt are set by the store.
	Enqueued time.Time
	// Attempt counts the leases under which the job was worked at, this one included,
	// without those that were released.
	Attempt int
}

// Thread returns the thread that the job is about.
func (j Job) Thread() chat.ThreadID { return j.Message.Thread }

// Queue returns the queue that the job is in.
func (j Job) Queue() QueueID { return QueueID{j.Thread(), j.Lane} }

// Queue takes jobs. Each lane of a thread has its own order and waits for none but itself.
// Its methods may be called concurrently, from any number of processes.
type Queue interface {
	// Enqueue puts the job at the end of its queue, durably before it returns.
	// accepted is false where the thread had the same event within Options.DedupeFor:
	// the job is there already, or was. After a cut connection the store repeats the
	// call, and a first delivery may count as the second. Jobs without an event or a
	// thread are refused.
	Enqueue(ctx context.Context, job Job) (accepted bool, err error)
	// EnqueueAfter is Enqueue for a job that joins the end of the queue once delay has
	// passed on the store's clock. Until then it holds up nobody, and it can't be taken
	// back: whoever works at it looks whether there is still something to do.
	EnqueueAfter(ctx context.Context, job Job, delay time.Duration) (accepted bool, err error)
}
