// Package runs is the contract of what keeps runs alive over the death of any process.
//
// A message becomes a Job in the Queue of its thread. A worker claims a thread with work
// and has a Lease on it (Leases), which Hold renews while it works at the job at the
// head. Under the lease it commits checkpoints, events, records, the session, and what it posts
// (package store); then it finishes the job. When it dies, another one claims the thread, goes
// on from the checkpoint, and what the first may still write is refused.
//
// Anybody can follow a thread's Events, stop its job (Stopper) and, as an Operator, look
// into the queues. Records are what is remembered of each run: how it went and what
// people thought of it.
//
// Backends are below this package; runstest is the suite that each of them passes.
//
// Reading order: queue.go, lane.go, lease.go, hold.go, events.go, outbox.go, operate.go, this
// file (records), edit.go, options.go.
package runs

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Status is how a run stands.
type Status string

// A run goes queued → running ⇄ waiting → done, failed, cancelled or expired. A retry
// takes all but a done one back to running.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Waiting   Status = "waiting" // for a person's answer
	Done      Status = "done"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	Expired   Status = "expired" // the answer did not come in time
)

// Bounds on what a record holds; the oldest entries give way.
const (
	MaxTransitions = 100
	MaxSteps       = 500
)

// Record is one run, from the message that started it to what came of it.
type Record struct {
	ID      chat.RunID
	Thread  chat.ThreadID
	Flow    string
	Author  chat.UserID    // of the message: who asked
	Message chat.MessageID // that started the run
	Request string         // what the flow was asked, without a command's word
	Depth   chat.Depth
	// Collections are those that it may be answered from; none: all.
	Collections []string
	// Asker is who the author is, as in the message; nil where the adapter is asked.
	Asker *chat.Identity
	// Transitions are the run's statuses, oldest first; change them with Move.
	Transitions []Transition
	// Trace is how the run came about so far; its steps are those of all its parts,
	// before and after a question or a retry.
	Trace chat.Trace
	// Ratings are by person, in the order of their ids. Saves leave them alone.
	Ratings []chat.Rating
}

// Transition is a change of status. Reason is for operators: it names no person and
// quotes no message.
type Transition struct {
	To     Status    `json:"to"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Status returns how the run stands, "" before its first transition.
func (r *Record) Status() Status {
	if len(r.Transitions) == 0 {
		return ""
	}
	return r.Transitions[len(r.Transitions)-1].To
}

// Move adds a transition.
func (r *Record) Move(to Status, at time.Time, reason string) {
	r.Transitions = append(r.Transitions, Transition{To: to, At: at, Reason: reason})
	r.Transitions = r.Transitions[max(0, len(r.Transitions)-MaxTransitions):]
}

// Pass adds steps to the trace. Steps that waited for an answer are dropped first: they
// are run again, and listed again.
func (r *Record) Pass(steps []chat.TraceStep) {
	var passed []chat.TraceStep
	for _, step := range r.Trace.Steps {
		if step.Status != chat.Pending {
			passed = append(passed, step)
		}
	}
	passed = append(passed, steps...)
	r.Trace.Steps = passed[max(0, len(passed)-MaxSteps):]
}

// Records keeps records. Its methods may be called concurrently; who saves one run from
// two places at once decides which record stands. Where a run is not known, Load and
// Rate give an error that wraps chat.ErrUnknownRun.
type Records interface {
	// Save replaces the run's record, all but its ratings, under no lease: what workers save
	// goes through store.Commit.
	Save(ctx context.Context, record Record) error
	Load(ctx context.Context, run chat.RunID) (Record, error)
	// Rate replaces the person's rating of the run; chat.Unrated removes it.
	Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error
}
