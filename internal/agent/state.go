package agent

import (
	"fmt"
	"time"
)

// State is how an agent is.
type State string

// The states. A stuck agent still takes requests, one that is down refuses them at
// once. Both recover: a lost slot when its handler returns, the rest with a heartbeat.
const (
	StateIdle  State = "idle"
	StateBusy  State = "busy"
	StateStuck State = "stuck" // lost a slot, or missed two heartbeats
	StateDown  State = "down"  // lost all slots, missed three heartbeats, or was closed
)

// The missed heartbeats after which an agent is stuck, and down.
const (
	stuckBeats = 2
	downBeats  = 3
)

// Status is what can be seen of an agent from outside.
type Status struct {
	Name     Name
	State    State
	Waiting  int // requests in its mailbox
	Running  int // tasks, the lost ones too
	Lost     int // slots held by handlers that ignore the end of their context
	LastBeat time.Time
	Counts   Counts
	Problem  error // why it is stuck or down; nil otherwise
}

// Counts is what an agent did since it was registered. Each request that it accepted
// ends in exactly one of Completed, Failed, Panicked, TimedOut, Displaced, Unserved and
// Cancelled.
type Counts struct {
	Accepted  int
	Completed int
	Failed    int
	Panicked  int
	TimedOut  int
	Displaced int // pushed out of the mailbox by something more urgent
	Unserved  int // waiting when the agent went down
	Cancelled int // by the requester, or because the bus was closed

	Refused   int // not accepted: mailbox full, or down
	Doubled   int // not accepted: known already
	Abandoned int // results that came after their request had timed out or was cancelled
}

// currentState returns how the agent is, and why where that is not well. The caller holds w.mu.
func (w *worker) currentState(now time.Time) (State, error) {
	silence := now.Sub(w.lastBeat)
	switch {
	case w.closed:
		return StateDown, ErrClosed
	case w.lost == w.agent.Concurrency:
		return StateDown, fmt.Errorf("all %d slots are held by handlers that do not return", w.lost)
	case silence >= downBeats*w.bus.interval:
		return StateDown, w.checkSilence(silence)
	case silence >= stuckBeats*w.bus.interval:
		return StateStuck, w.checkSilence(silence)
	case w.lost > 0:
		return StateStuck, fmt.Errorf("%d of %d slots are held by handlers that do not return", w.lost, w.agent.Concurrency)
	case w.running > 0:
		return StateBusy, nil
	}
	return StateIdle, nil
}

func (w *worker) checkSilence(silence time.Duration) error {
	why := w.problem
	if why == nil {
		why = errNoBeat
	}
	return fmt.Errorf("no heartbeat for %s: %w", silence.Round(time.Millisecond), why)
}

func (w *worker) currentStatus(now time.Time) Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	state, problem := w.currentState(now)
	return Status{
		Name: w.agent.Name, State: state, Waiting: w.mailbox.size, Running: w.running, Lost: w.lost,
		LastBeat: w.lastBeat, Counts: w.counts, Problem: problem,
	}
}
