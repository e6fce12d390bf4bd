package graph

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoCheckpoint is what Store.Load returns for a run that was never saved.
var ErrNoCheckpoint = errors.New("no checkpoint")

// Reasons of an AnswerError.
var (
	// ErrNoQuestion: the run has not asked this question.
	ErrNoQuestion = errors.New("the run has no such question")
	// ErrAnswered: the question has had a different answer already.
	ErrAnswered = errors.New("the question was answered already, differently")
	// ErrNotOffered: the choice is none of the question's.
	ErrNotOffered = errors.New("the choice was not offered")
	// ErrNoFreeText: the question takes one of its choices only.
	ErrNoFreeText = errors.New("the question takes no free text, one of its choices is needed")
	// ErrEmptyAnswer: neither a choice nor text.
	ErrEmptyAnswer = errors.New("the answer has neither a choice nor text")
)

// AnswerError says why an answer was refused. The run is as it was before.
type AnswerError struct {
	Run      string
	Question string // the question's id
	Err      error
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("answer question %q of run %s: %v", e.Question, e.Run, e.Err)
}

func (e *AnswerError) Unwrap() error { return e.Err }

// NodeError is the failure of a node, or of the choice among its ways on. What other
// nodes finished is kept: Resume runs the failed node again.
type NodeError struct {
	Run     string
	Node    string // "outer/inner" inside a nested graph
	Attempt int    // of how many attempts this was the last
	Err     error  // a *PanicError where the node panicked
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("run %s: node %q (attempt %d): %v", e.Run, e.Node, e.Attempt, e.Err)
}

func (e *NodeError) Unwrap() error { return e.Err }

// PanicError is a recovered panic. Its text leaves out the stack, which is for logs.
type PanicError struct {
	Value string // what was panicked with
	Stack []byte
}

func (e *PanicError) Error() string { return "panicked: " + e.Value }

// StepLimitError is a run that did not end within Options.MaxSteps. A Resume with a
// higher limit goes on.
type StepLimitError struct {
	Run   string
	Graph string
	Limit int
	Loop  []string // the nodes that were gone round, in order of declaration; none if there was no loop
}

func (e *StepLimitError) Error() string {
	if len(e.Loop) == 0 {
		return fmt.Sprintf("run %s: graph %q took more than %d steps without a loop: raise MaxSteps", e.Run, e.Graph, e.Limit)
	}
	return fmt.Sprintf("run %s: graph %q took more than %d steps going round %s: give the loop a way out or raise MaxSteps",
		e.Run, e.Graph, e.Limit, strings.Join(e.Loop, ", "))
}

// StalledError is a join that can never be complete: nothing is left to run, and
// some of the nodes it waits for did not.
type StalledError struct {
	Run     string
	Node    string // the join
	Missing []string
}

func (e *StalledError) Error() string {
	return fmt.Sprintf("run %s: join %q waits for %s, which the run never reached: use plain edges where a branch is optional",
		e.Run, e.Node, strings.Join(e.Missing, ", "))
}

// SaveError is a checkpoint that could not be written. The run was stopped; it can be
// resumed from the last checkpoint that was.
type SaveError struct {
	Run string
	Err error
}

func (e *SaveError) Error() string {
	return fmt.Sprintf("save checkpoint of run %s: %v", e.Run, e.Err)
}

func (e *SaveError) Unwrap() error { return e.Err }

// CheckpointError is a checkpoint that cannot be read: it is damaged, or another run's.
type CheckpointError struct {
	Run string
	Err error
}

func (e *CheckpointError) Error() string {
	return fmt.Sprintf("read checkpoint of run %s: %v", e.Run, e.Err)
}

func (e *CheckpointError) Unwrap() error { return e.Err }

// SchemaError is a checkpoint of a version that this program does not read: newer, or
// older with no Migrate. The checkpoint is left as it is.
type SchemaError struct {
	Run       string
	Graph     string // the graph whose version it is; "" for the checkpoint format itself
	Got, Want int
}

func (e *SchemaError) Error() string {
	what := "the checkpoint format"
	if e.Graph != "" {
		what = fmt.Sprintf("graph %q", e.Graph)
	}
	remedy := "add the missing migration"
	if e.Got > e.Want {
		remedy = "resume it with the program that wrote it, or a newer one"
	}
	return fmt.Sprintf("run %s: checkpoint has version %d of %s, this program has %d: %s", e.Run, e.Got, what, e.Want, remedy)
}

// UnknownNodeError is a checkpoint that stands at a node which the graph does not
// have. The checkpoint is left as it is: the run goes on once the graph has the node
// or an alias for it.
type UnknownNodeError struct {
	Run   string
	Graph string
	Node  string
}

func (e *UnknownNodeError) Error() string {
	return fmt.Sprintf("run %s: checkpoint stands at node %q, which graph %q does not have: add the node or an Alias for it",
		e.Run, e.Node, e.Graph)
}

// UnknownFieldError is a checkpoint with a state field that the graph does not have.
// The checkpoint is left as it is.
type UnknownFieldError struct {
	Run   string
	Graph string
	Field string
}

func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("run %s: checkpoint has the field %q, which graph %q does not have: name it in Was, Retired or a Migrate",
		e.Run, e.Field, e.Graph)
}
