// Package echo is the flow that answers with the text it was given: the cheapest
// proof that an installation receives, runs and replies.
package echo

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// Name is the flow's name in checkpoints, traces and commands.
const Name = "echo"

// State is the text, before and after.
type State struct {
	Text   string
	Answer string
}

var (
	text   = graph.Replace("text", func(s *State) *string { return &s.Text })
	answer = graph.Replace("answer", func(s *State) *string { return &s.Answer })
)

// Flow echoes. Make one with New.
type Flow struct{ graph *graph.Compiled[State] }

var _ flows.Flow = (*Flow)(nil)

// New makes the flow.
func New() (*Flow, error) {
	g := graph.New(Name, 1, text, answer)
	g.Node(Name, func(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
		return graph.Update(answer.Set(step.State.Text)), nil
	}, graph.Policy{Description: "Repeating the text"})
	g.Start(Name)
	g.Edge(Name, graph.End)
	compiled, err := g.Compile()
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	return &Flow{graph: compiled}, nil
}

// Name implements flows.Flow.
func (f *Flow) Name() string { return Name }

// Shape implements flows.Flow.
func (f *Flow) Shape() graph.Shape { return f.graph.Shape() }

// Start implements flows.Flow.
func (f *Flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	return outcome(f.graph.Start(ctx, request.Run, State{Text: request.Text}, runtime.Options(runtime.Observe)))
}

// Resume implements flows.Flow.
func (f *Flow) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	return outcome(f.graph.Resume(ctx, run, answers, runtime.Options(runtime.Observe)))
}

func outcome(run graph.Outcome[State], err error) (flows.Outcome, error) {
	return flows.Outcome{Kind: flows.Answered, Text: run.State.Answer}, err
}
