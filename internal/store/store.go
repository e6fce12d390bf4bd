// Package store is the contract of the one store that keeps threads and runs: the queue, the
// leases, the events, the outbox and the edits of package runs, and the commits by which a
// worker writes what belongs together of a thread, its session and its runs.
//
// Backends are below package runs; runs/runstest is the suite that each of them passes.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

// Store keeps threads and runs.
type Store interface { //nolint:interfacebloat // each part is small, and no part is of use without the others
	runs.Queue
	runs.Leases
	runs.Stopper
	runs.Events
	runs.Outbox
	runs.Operator
	runs.Edits
	runs.Forgetter
	// Journal gives what the worker with the lease writes by.
	Journal(lease runs.Lease) Journal
	// Sessions and Records give what the store remembers of threads and of runs.
	Sessions() session.Store
	Records() Records
}

// Records is what is remembered of runs.
type Records interface {
	runs.Records
	runs.Registry
}

// Journal is what a worker writes by about the job of its lease. Its methods may be called
// concurrently. After runs.ErrLost it is of no more use.
//
// Save is a commit of a checkpoint alone. Load does not look at the lease.
type Journal interface {
	graph.Store
	// Append keeps events for the next commit.
	Append(events ...runs.Event)
	// Commit writes the changes and what Append took, in order, and renews the lease, or ends
	// it, all of it or nothing: also where the process or the store dies meanwhile. Where the
	// lease was lost it gives runs.ErrLost, where it is disturbed a *DisturbedError, and where
	// a delivery that is confirmed was not recorded runs.ErrUnknownDelivery: then nothing is
	// written. After another error it can't be known whether it was; the next commit that
	// succeeds has appended each event once, and is never overwritten by the one that failed.
	Commit(ctx context.Context, changes Commit) (Committed, error)
	// Show hands the event to those who follow the thread at this moment and keeps
	// nothing: for tokens, and for steps that begin. Some may miss it.
	Show(ctx context.Context, event runs.Event) error
}

// Commit is what a worker changes at once under its lease. A field that is zero changes
// nothing; the zero Commit writes the events that wait.
type Commit struct {
	Checkpoint *Checkpoint
	// Records take the place of those of their runs, all but the ratings. They are of the
	// lease's thread.
	Records []runs.Record
	Session *session.Session // of the lease's thread, under a lease of runs.LaneMessages
	// Delivery is recorded in the outbox, unless its key is known there.
	Delivery  *runs.Delivery
	Confirmed *Confirmation
	Unless    Unless
	Result    *runs.Result // ends the lease; nil: it is renewed
}

// IsZero reports whether the commit changes nothing.
func (c Commit) IsZero() bool {
	return c.Checkpoint == nil && len(c.Records) == 0 && c.Session == nil && c.Delivery == nil && c.Confirmed == nil && c.Result == nil
}

// Check refuses what no store keeps: a delivery without a key, one that is too large
// (runs.ErrTooLarge), a session of another thread than the lease's, or one under a lease of
// another lane than runs.LaneMessages.
func (c Commit) Check(lease runs.Lease) error {
	if c.Session != nil && c.Session.Thread != lease.Thread {
		return errors.New("commit the session of thread " + string(c.Session.Thread) + " under a lease of thread " + string(lease.Thread))
	}
	if c.Session != nil && lease.Lane != runs.LaneMessages {
		return fmt.Errorf("commit the session of thread %s under a lease of its lane %s", lease.Thread, lease.Lane)
	}
	if c.Delivery != nil {
		return c.Delivery.Check()
	}
	return nil
}

// Unless has nothing written in a case that the worker does not know of yet.
type Unless struct {
	Stopped bool // a person stopped the job
	Behind  bool // other jobs wait behind it
}

// Checkpoint is the position of a run, as the engine gave it.
type Checkpoint struct {
	Run  chat.RunID
	Body []byte
}

// Confirmation is a delivery that was posted, and the platform's id of it. To confirm twice is
// no error.
type Confirmation struct {
	Key    runs.DeliveryKey
	Posted chat.MessageID
}

// Committed is what a commit gives.
type Committed struct {
	// Delivery is as the outbox has it: where its key was known, what was recorded before. The
	// caller posts it only if Posted is "".
	Delivery runs.Delivery
}

// DisturbedError is why a commit was not made, where Commit.Unless says so.
type DisturbedError struct{ Renewal runs.Renewal }

func (*DisturbedError) Error() string {
	return "the job was stopped, or other jobs wait behind it"
}
