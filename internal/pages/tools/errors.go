package tools

import (
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Code says why a call was refused.
type Code string

// The codes. All of them are told to the model, which can do better.
const (
	UnknownTool      Code = "unknown_tool"
	InvalidArguments Code = "invalid_arguments" // they break the tool's schema
	NoSuchNode       Code = "no_such_node"
	WrongKind        Code = "wrong_kind" // the tool does not work on such a node
	InvalidContent   Code = "invalid_content"
	InvalidPlace     Code = "invalid_place" // a node can't stand there
	NoSuchText       Code = "no_such_text"
	NoSuchSnapshot   Code = "no_such_snapshot"
	SnapshotExists   Code = "snapshot_exists"
	NotEmpty         Code = "not_empty"
	UnknownAddress   Code = "unknown_address" // a link leads where nobody said
	TooLarge         Code = "too_large"
	NotRun           Code = "not_run" // the run has reached one of its limits
)

// Error is a call that was refused.
type Error struct {
	Tool   string
	Code   Code
	Node   string // id, "" for none
	Reason string
}

func (e *Error) Error() string {
	where := e.Tool
	if e.Node != "" {
		where += ", node " + e.Node
	}
	return fmt.Sprintf("%s: %s: %s", where, e.Code, e.Reason)
}

// locate gives an error the tool that it is of. What a tree refuses can't stand there.
func locate(name string, err error) error {
	if refused, ok := errors.AsType[*tree.Error](err); ok {
		return &Error{Tool: name, Code: InvalidPlace, Node: refused.Node, Reason: refused.Reason}
	}
	if refused, ok := errors.AsType[*Error](err); ok {
		refused.Tool = name
		return refused
	}
	return err
}
