package graph

import (
	"context"
)

// NestedGraph is a graph over another state that runs as one node of a graph over S.
type NestedGraph[S any] struct {
	name   string
	nester nestedGraph[S]
}

// Nested makes a node of sub, to be declared with Graph.Sub. in gives the state that
// sub starts with, out the changes that its final state means for the outer one.
// sub's position is part of the outer run's checkpoint, and is resumed in place.
func Nested[S, T any](name string, sub *Compiled[T], in func(S) T, out func(T) Patch[S]) NestedGraph[S] {
	return NestedGraph[S]{name: name, nester: &nesting[S, T]{sub: sub, in: in, out: out}}
}

// nestedGraph is what the engine needs of a nested graph, whatever its state is.
type nestedGraph[S any] interface {
	findMistake() string
	nestedShape() Shape
	// openNested begins the nested graph inside parent for the given outer state.
	openNested(parent scope, state S) subtask[S]
	// restoreNested takes it up from its part of a checkpoint.
	restoreNested(parent scope, doc *frameDoc) (subtask[S], error)
}

// subtask is a nested graph inside a run.
type subtask[S any] interface {
	run(ctx context.Context) (waiting bool, err error)
	canRun() bool
	appendTo(buf []byte) ([]byte, error)
	appendAsking(found []*taskCore) []*taskCore
	// outerPatch is what the finished nested graph changes outside.
	outerPatch() Patch[S]
}

type nesting[S, T any] struct {
	sub *Compiled[T]
	in  func(S) T
	out func(T) Patch[S]
}

type nestedRun[S, T any] struct {
	*frame[T]
	out func(T) Patch[S]
}

func (r nestedRun[S, T]) outerPatch() Patch[S] { return r.out(r.state) }

func (n *nesting[S, T]) openNested(parent scope, state S) subtask[S] {
	return nestedRun[S, T]{frame: newFrame(n.sub, parent, n.in(state)), out: n.out}
}

func (n *nesting[S, T]) restoreNested(parent scope, doc *frameDoc) (subtask[S], error) {
	f, err := restoreFrame(n.sub, parent, doc)
	if err != nil {
		return nil, err
	}
	return nestedRun[S, T]{frame: f, out: n.out}, nil
}

func (n *nesting[S, T]) nestedShape() Shape { return n.sub.Shape() }

func (n *nesting[S, T]) findMistake() string {
	switch {
	case n.sub == nil:
		return "has no compiled graph"
	case n.in == nil:
		return "has no function from the outer state (in)"
	case n.out == nil:
		return "has no function to the outer state (out)"
	}
	return ""
}
