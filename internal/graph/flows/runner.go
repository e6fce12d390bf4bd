package flows

import (
	"context"

	"github.com/cairn-bot/cairn/internal/graph"
)

// Runner runs the graph of a flow. A flow that embeds one has Shape and Resume by it, and
// begins runs with Begin.
type Runner[S any] struct {
	Graph *graph.Compiled[S]
	// Conclude makes the outcome of what the graph came to, which is done or waits for a
	// person, and of the steps that were finished since the run was begun or resumed.
	Conclude func(steps []Step, run graph.Outcome[S]) Outcome
}

// Shape implements Flow.
func (r Runner[S]) Shape() graph.Shape { return r.Graph.Shape() }

// Begin starts a run from a state.
func (r Runner[S]) Begin(ctx context.Context, run string, initial S, runtime Runtime) (Outcome, error) {
	watch := &Watch{Observe: runtime.Observe}
	outcome, err := r.Graph.Start(ctx, run, initial, runtime.Options(watch.Event))
	if err != nil {
		return Outcome{}, err
	}
	return r.Conclude(watch.Steps, outcome), nil
}

// Resume implements Flow.
func (r Runner[S]) Resume(ctx context.Context, run string, answers []graph.Answer, runtime Runtime) (Outcome, error) {
	watch := &Watch{Observe: runtime.Observe}
	outcome, err := r.Graph.Resume(ctx, run, answers, runtime.Options(watch.Event))
	if err != nil {
		return Outcome{}, err
	}
	return r.Conclude(watch.Steps, outcome), nil
}
