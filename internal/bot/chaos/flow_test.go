package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// state is of the flow that works here: it fans out, asks where the text says so, and
// answers with what it was told.
type state struct {
	Text  string
	Parts []string
	Color string
}

var (
	text  = graph.Replace("text", func(s *state) *string { return &s.Text })
	parts = graph.Append("parts", func(s *state) *[]string { return &s.Parts })
	color = graph.Replace("color", func(s *state) *string { return &s.Color })
	// tint is what the next program calls color.
	tint = graph.Replace("tint", func(s *state) *string { return &s.Color }).Was("color")
)

// asks begins the texts that are asked back about.
const asks = "paint"

// dwells begins the texts that are worked at for long.
const dwells = "dwell"

// stepTime is how long a step works: long enough to be killed in.
const stepTime = 5 * time.Millisecond

type flow struct{ graph *graph.Compiled[state] }

func newFlow() (*flow, error) { return build(graph.New("chaos", 1, text, parts, color), "ask", color) }

// nextFlow is the flow after an upgrade: a node and a field have other names, and parts
// are in capitals, those in old checkpoints too.
func nextFlow() (*flow, error) {
	g := graph.New("chaos", 2, text, parts, tint)
	g.Alias("ask", "choose")
	g.Migrate(1, func(fields map[string]json.RawMessage) error {
		if kept, ok := fields["parts"]; ok {
			fields["parts"] = bytes.ToUpper(kept)
		}
		return nil
	})
	return build(g, "choose", tint)
}

func build(g *graph.Graph[state], ask string, color graph.Field[state, string]) (*flow, error) {
	work := func(ctx context.Context, step graph.Step[state]) (graph.Result[state], error) {
		takes := stepTime
		if strings.HasPrefix(step.State.Text, dwells) {
			takes = 20 * stepTime
		}
		timer := time.NewTimer(takes)
		defer timer.Stop()
		part := step.Node
		if ask == "choose" {
			part = strings.ToUpper(part)
		}
		select {
		case <-ctx.Done():
			return graph.Result[state]{}, ctx.Err()
		case <-timer.C:
			return graph.Update(parts.Set([]string{part})), nil
		}
	}
	g.Node("split", work)
	for _, branch := range []string{"a", "b", "c"} {
		g.Node(branch, work)
		g.Edge("split", branch)
	}
	g.Node(ask, func(_ context.Context, step graph.Step[state]) (graph.Result[state], error) {
		answer, answered := step.Answer("color")
		switch {
		case !strings.HasPrefix(step.State.Text, asks):
			return graph.Update[state](), nil
		case !answered:
			return graph.Ask[state](graph.Question{Key: "color", Text: "Which color for " + step.State.Text + "?", FreeText: true}), nil
		}
		return graph.Update(color.Set(" " + answer.Text)), nil
	}, graph.Policy{Asks: true})
	g.Join(ask, "a", "b", "c")
	g.Start("split")
	g.Edge(ask, graph.End)
	compiled, err := g.Compile()
	if err != nil {
		return nil, err
	}
	return &flow{graph: compiled}, nil
}

func (f *flow) Name() string       { return "chaos" }
func (f *flow) Shape() graph.Shape { return f.graph.Shape() }

func (f *flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	return outcome(f.graph.Start(ctx, request.Run, state{Text: request.Text}, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func (f *flow) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	return outcome(f.graph.Resume(ctx, run, answers, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func outcome(run graph.Outcome[state], err error) (flows.Outcome, error) {
	switch {
	case err != nil:
		return flows.Outcome{}, err
	case run.Status == graph.Waiting:
		return flows.Outcome{Kind: flows.Asked, Question: &run.Questions[0]}, nil
	}
	// Parts are part of what is said: a branch that was run again would show.
	return flows.Outcome{Kind: flows.Answered, Text: run.State.Text + run.State.Color + " by " + strings.Join(run.State.Parts, "")}, nil
}
