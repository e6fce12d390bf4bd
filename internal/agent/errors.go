package agent

import (
	"errors"
	"fmt"
)

// Kind is why an agent gave no reply.
type Kind string

// The kinds. Timeout, Failed and Full are retried where a request says how often.
const (
	Timeout   Kind = "timeout"   // no reply in the requester's time, or no result in the agent's
	Failed    Kind = "failed"    // its handler, or the way to it, returned an error
	Panicked  Kind = "panicked"  // its handler did
	Full      Kind = "full"      // its mailbox is, or was, when something more urgent came
	Stuck     Kind = "stuck"     // it lost its last slot while the request waited
	Down      Kind = "down"      // no slots left, no heartbeats, or the bus is closed
	Unknown   Kind = "unknown"   // no such agent, or it does not take such requests
	Cancelled Kind = "cancelled" // the requester's context was
)

// Error is why there is no reply from an agent. As a payload it is the reply.
type Error struct {
	Agent Name // that was asked
	Kind  Kind
	Cause error
}

func (e *Error) Error() string { return fmt.Sprintf("agent %s: %s: %v", e.Agent, e.Kind, e.Cause) }

func (e *Error) Unwrap() error { return e.Cause }

// MessageType is Failure.
func (*Error) MessageType() Type { return Failure }

// isTransient reports whether the same request may fare better a little later. An agent
// that is down says so itself, and a handler that panicked will again.
func (e *Error) isTransient() bool { return e.Kind == Timeout || e.Kind == Failed || e.Kind == Full }

// ErrClosed is the cause of errors from a bus that is closed.
var ErrClosed = errors.New("the bus is closed")

var (
	errCancelled = errors.New("the requester gave up")
	errExited    = errors.New("the handler ended its goroutine")
	errNoBeat    = errors.New("no heartbeats")
)

// panicError is a handler's panic.
type panicError struct{ text string }

func (e *panicError) Error() string { return "panic: " + e.text }

func newPanicError(value any) error { return &panicError{text: fmt.Sprint(value)} }
