package flows_test

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

// begin of the example

// State is what the graph works on: one field for each thing that a node finds out.
type State struct {
	Subject string
	Size    string
	Answer  string
}

var (
	subject = graph.Replace("subject", func(s *State) *string { return &s.Subject })
	size    = graph.Replace("size", func(s *State) *string { return &s.Size })
	answer  = graph.Replace("answer", func(s *State) *string { return &s.Answer })
)

// Estimate asks how big a thing is, and says how long it will take.
type Estimate struct{ graph *graph.Compiled[State] }

var _ flows.Flow = (*Estimate)(nil)

// NewEstimate lays out the graph: ask_size → estimate → end.
func NewEstimate() (*Estimate, error) {
	g := graph.New("estimate", 1, subject, size, answer)
	g.Node("ask_size", askSize, graph.Policy{Description: "Asking how big it is", Asks: true})
	g.Node("estimate", estimate, graph.Policy{Description: "Estimating"})
	g.Start("ask_size")
	g.Edge("ask_size", "estimate")
	g.Edge("estimate", graph.End)
	compiled, err := g.Compile()
	if err != nil {
		return nil, fmt.Errorf("flow estimate: %w", err)
	}
	return &Estimate{compiled}, nil
}

// askSize waits for a person. It is run again with the answer, in whatever process.
func askSize(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	reply, answered := step.Answer("size")
	if !answered {
		return graph.Ask[State](graph.Question{
			Key: "size", Text: "How big is " + step.State.Subject + "?",
			Choices: []graph.Choice{{ID: "small", Label: "Small"}, {ID: "large", Label: "Large"}},
		}), nil
	}
	return graph.Update(size.Set(reply.Choice)), nil
}

func estimate(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	days := map[string]string{"small": "a day", "large": "a week"}
	return graph.Update(answer.Set(step.State.Subject + " takes " + days[step.State.Size] + ".")), nil
}

// Name implements flows.Flow.
func (e *Estimate) Name() string { return "estimate" }

// Shape implements flows.Flow.
func (e *Estimate) Shape() graph.Shape { return e.graph.Shape() }

// Start implements flows.Flow.
func (e *Estimate) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	watch := &flows.Watch{Observe: runtime.Observe}
	run, err := e.graph.Start(ctx, request.Run, State{Subject: request.Text}, graph.Options{Store: runtime.Store, Observe: watch.Event})
	return outcome(watch, run, err)
}

// Resume implements flows.Flow.
func (e *Estimate) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	watch := &flows.Watch{Observe: runtime.Observe}
	resumed, err := e.graph.Resume(ctx, run, answers, graph.Options{Store: runtime.Store, Observe: watch.Event})
	return outcome(watch, resumed, err)
}

func outcome(watch *flows.Watch, run graph.Outcome[State], err error) (flows.Outcome, error) {
	if err != nil {
		return flows.Outcome{}, err
	}
	made := flows.Outcome{Kind: flows.Answered, Text: run.State.Answer, Trace: flows.Trace{Steps: watch.Steps}}
	if run.Status == graph.Waiting {
		made.Kind, made.Question = flows.Asked, &run.Questions[0]
		made.Text = made.Question.Text
	}
	return made, nil
}

// end of the example

// Example_flow starts the flow, and resumes it with what the person chose.
func Example_flow() {
	flow, err := NewEstimate()
	if err != nil {
		fmt.Println(err)
		return
	}
	runtime := flows.Runtime{Store: graphtest.NewMemory()}
	asked, err := flow.Start(context.Background(), flows.Request{Run: "run-1", Text: "The new page"}, runtime)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(asked.Kind, asked.Text)
	done, err := flow.Resume(context.Background(), "run-1", []graph.Answer{{QuestionID: asked.Question.ID, Choice: "small"}}, runtime)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.Kind, done.Text)
	// Output:
	// asked How big is The new page?
	// answered The new page takes a day.
}
