// Package inspect is the flow that answers questions about the screens of a running app: what
// a control does, where it stands in the code, why it looks as it does. What the app shows comes
// from a layer, such as a recorded session, or a browser for web pages; what it does comes from its
// project's files, which are read and never run. All of it is found by rules; a language model words the answer where
// there is one, and says nothing that was not found.
//
// Reading order: state.go, steps.go, inspect.go (the graph), query.go, pagestate.go (the first nested
// graph), resolve.go, files.go, agent.go (the second), facts.go, synthesize.go; then, for web pages,
// web.go, press.go and webfacts.go.
package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/repository"
)

// Name is the flow's name in checkpoints, traces and commands.
const Name = "inspect"

// schemaVersion is the version of State in checkpoints.
const schemaVersion = 1

// The nodes, by the names of the flow's contract.
const (
	nodeQuery     = "query_analyzer"
	nodePageState = "current_page_state"
	nodeResolve   = "resolve_page_name"
	nodeFiles     = "file_operations"
	nodeControl   = "resolve_control"
	nodeApprove   = "approve_press"
	nodePress     = "press_control"
	nodeAgent     = "page_agent"
	nodeAnswer    = "answer_synthesis"
)

// Open opens a project by its folder or address. One that may not be opened is a
// *repository.RefusedError. The caller closes it.
type Open func(ctx context.Context, name string) (*repository.Checkout, error)

// Options is what the flow works with.
type Options struct {
	Open Open // required
	// Project is opened where a request and its thread name none; "" for none.
	Project string
	// Layer shows the app where a request brings no session and names no channel; nil for none.
	Layer inspect.Layer
	// Join returns the app that joined a channel of the relay at a host, "" for the configured
	// one; nil: there are no relays.
	Join func(channel, host string) (inspect.Layer, error)
	// Web looks at web pages; nil: none may be looked at.
	Web   Web
	Model llm.Model // words the answer; nil: there is none
	// Verifier checks what the model wrote; nil: words alone are compared.
	Verifier llm.Model
	// Now gives the time; nil: time.Now.
	Now func() time.Time
}

// Flow answers questions about screens. Make one with New.
type Flow struct {
	flows.Runner[State]

	options Options
	reader  *project.Reader
	tickets tickets
}

var _ flows.Flow = (*Flow)(nil)

// New makes the flow.
func New(options Options) (*Flow, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	f := &Flow{options: options, reader: project.NewReader()}
	compiled, err := f.plan()
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	f.Runner = flows.Runner[State]{Graph: compiled, Conclude: f.outcome}
	return f, nil
}

// plan lays out the graph of the flow's contract.
func (f *Flow) plan() (*graph.Compiled[State], error) {
	pageState, err := f.planPageState().Compile()
	if err != nil {
		return nil, err
	}
	agent, err := f.planAgent().Compile()
	if err != nil {
		return nil, err
	}
	g := graph.New(Name, schemaVersion, fields...)
	g.Node(nodeQuery, f.analyzeQuery, graph.Policy{Description: "Understanding the question", Timeout: 10 * time.Minute})
	g.Sub(graph.Nested(nodePageState, pageState, beginPageState, endPageState), graph.Policy{Description: "Looking at the app", Timeout: 2 * time.Minute})
	g.Node(nodeResolve, f.resolvePageName, graph.Policy{Description: "Asking which page is open", Asks: true})
	g.Node(nodeControl, f.resolveControl, graph.Policy{Description: "Asking which control is meant", Asks: true})
	g.Node(nodeApprove, f.approvePress, graph.Policy{Description: "Asking whether it may be pressed", Asks: true})
	g.Node(nodePress, f.pressControl, graph.Policy{Description: "Pressing the control", Timeout: 2 * time.Minute})
	g.Node(nodeFiles, f.readPageFiles, graph.Policy{Description: "Reading the page's files", Timeout: 10 * time.Minute})
	g.Sub(graph.Nested(nodeAgent, agent, beginAgent, endAgent), graph.Policy{Description: "Analysing the page's files", Timeout: 5 * time.Minute})
	g.Node(nodeAnswer, f.synthesize, graph.Policy{Description: "Writing the answer", Timeout: 5 * time.Minute})
	g.Start(nodeQuery)
	g.Route(nodeQuery, afterQuery, nodePageState, nodeAnswer)
	g.Route(nodePageState, afterPageState, nodeFiles, nodeResolve, nodeControl, nodeApprove, nodeAnswer)
	g.Edge(nodeControl, nodePageState)
	g.Route(nodeApprove, afterApproval, nodePress, nodeFiles)
	g.Route(nodePress, afterPress, nodeFiles, nodeApprove)
	g.Route(nodeResolve, afterResolving, nodeFiles, nodeResolve, nodeAnswer)
	g.Edge(nodeFiles, nodeAgent)
	g.Edge(nodeAgent, nodeAnswer)
	g.Edge(nodeAnswer, graph.End)
	g.Label(nodePageState, nodeResolve, "page not known")
	g.Label(nodePageState, nodeControl, "control not known")
	g.Label(nodePageState, nodeApprove, "to be pressed")
	g.Label(nodePageState, nodeAnswer, "page not seen")
	g.Label(nodeApprove, nodePress, "approved")
	g.Label(nodeApprove, nodeFiles, "declined")
	g.Label(nodePress, nodeApprove, "interrupted")
	g.Label(nodeResolve, nodeResolve, "no such page")
	g.Label(nodeResolve, nodeAnswer, "given up")
	g.Label(nodeQuery, nodeAnswer, "no project")
	return g.Compile()
}

func afterQuery(s State) string {
	if s.Failure != "" {
		return nodeAnswer
	}
	return nodePageState
}

func afterPageState(s State) string {
	if s.WebPage.Address != "" {
		return afterWebState(s)
	}
	if s.Page != nil || !s.needsPage() {
		return nodeFiles
	}
	return nodeResolve
}

func afterResolving(s State) string {
	switch {
	case s.Page != nil:
		return nodeFiles
	case s.Failure != "":
		return nodeAnswer
	}
	return nodeResolve
}

// Name implements flows.Flow.
func (f *Flow) Name() string { return Name }

// Start implements flows.Flow. The project is the request's Location, stands in its text, was
// named before in the thread, or is the configured one.
func (f *Flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	ctx, runtime = reportSteps(ctx, runtime, true)
	return f.Begin(ctx, request.Run, f.begin(request), runtime)
}

// Resume implements flows.Flow.
func (f *Flow) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	ctx, runtime = reportSteps(ctx, runtime, false)
	return f.Runner.Resume(ctx, run, answers, runtime)
}

// outcome says how a run ended.
func (f *Flow) outcome(steps []flows.Step, run graph.Outcome[State]) flows.Outcome {
	s := run.State
	made := flows.Outcome{Kind: flows.Abstained, Text: s.Failure, Trace: flows.Trace{
		Steps: steps, Models: s.Models, Notes: s.describeRun(), Took: f.options.Now().Sub(s.StartTime),
	}}
	switch {
	case run.Status == graph.Waiting:
		made.Kind, made.Question, made.Text = flows.Asked, &run.Questions[0], run.Questions[0].Text
	case s.FinalAnswer != "":
		made.Kind, made.Text, made.Note = flows.Answered, s.FinalAnswer, s.note()
	}
	return made
}

// describeRun says how the run went, for people who ask why.
func (s State) describeRun() []string {
	var made []string
	for _, step := range researchOrder {
		status := s.ResearchSteps[step.id]
		if status == "" {
			status = flows.Pending
		}
		made = append(made, fmt.Sprintf("step %s: %s", step.id, status))
	}
	for _, use := range s.ToolUsage {
		line := fmt.Sprintf("%s(%s): %s", use.Tool, use.Arguments, use.Result)
		if use.Error != "" {
			line = fmt.Sprintf("%s(%s) failed: %s", use.Tool, use.Arguments, use.Error)
		}
		made = append(made, line)
	}
	for _, problem := range s.Errors {
		made = append(made, fmt.Sprintf("%s: %s; %s", problem.Step, problem.Error, problem.RecoveryAction))
	}
	return made
}
