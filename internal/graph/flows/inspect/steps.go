package inspect

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// StepID names a research step.
type StepID string

// The research steps, in their order.
const (
	StepQuery    StepID = "query-analysis"
	StepState    StepID = "current-page-state"
	StepRetrieve StepID = "retrieve-page-files"
	StepAnalyze  StepID = "analyze-page-files"
	StepAnswer   StepID = "synthesize-answer"
)

// researchOrder are the research steps with what people are shown of them, and the node of the
// main graph that does each.
var researchOrder = []struct {
	id                StepID
	node, description string
}{
	{StepQuery, nodeQuery, "Understanding the question"},
	{StepState, nodePageState, "Looking at the app"},
	{StepRetrieve, nodeFiles, "Reading the page's files"},
	{StepAnalyze, nodeAgent, "Analysing the page's files"},
	{StepAnswer, nodeAnswer, "Writing the answer"},
}

// stepReporter tells who looks on how far the research steps of a run are.
type stepReporter struct {
	show func(flows.ResearchStep)

	mu      sync.Mutex
	running StepID                          // the step that is told to run
	ended   map[StepID]flows.ResearchStatus // how steps end, as far as nodes said
}

type reporterKey struct{}

// reportSteps has the research steps of a run told to who looks on. fresh is a run that begins.
func reportSteps(ctx context.Context, runtime flows.Runtime, fresh bool) (context.Context, flows.Runtime) {
	if runtime.ShowStep == nil {
		return ctx, runtime
	}
	r := &stepReporter{show: runtime.ShowStep, ended: make(map[StepID]flows.ResearchStatus)}
	next := runtime.Observe
	runtime.Observe = func(event graph.Event) {
		r.observe(event, fresh)
		if next != nil {
			next(event)
		}
	}
	return context.WithValue(ctx, reporterKey{}, r), runtime
}

// endStep says how a research step ends: its node, or one inside of it, knows.
func endStep(ctx context.Context, id StepID, status flows.ResearchStatus) {
	if r, ok := ctx.Value(reporterKey{}).(*stepReporter); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended[id] = status
	}
}

func (r *stepReporter) observe(event graph.Event, fresh bool) {
	switch event.Kind {
	case graph.RunStarted:
		if fresh {
			for _, step := range researchOrder {
				r.show(flows.ResearchStep{ID: string(step.id), Description: step.description, Status: flows.Pending, Seq: event.Seq})
			}
		}
	case graph.StepStarted, graph.StepFinished:
		r.reportNode(event)
	case graph.Detail, graph.Token, graph.StepRetried, graph.QuestionAsked, graph.RunFinished:
	}
}

// reportNode tells of the step that a node does, and of steps that it skipped.
func (r *stepReporter) reportNode(event graph.Event) {
	outer, _, nested := strings.Cut(event.Node, "/")
	for _, step := range researchOrder {
		told := flows.ResearchStep{ID: string(step.id), Description: step.description, Seq: event.Seq}
		switch own := step.node == outer; {
		case event.Kind == graph.StepStarted && own && r.begin(step.id):
			told.Status = flows.Running
		case event.Kind == graph.StepFinished && own && !nested:
			told.Status, told.Took = r.end(step.id, event.Err), event.Duration
		case event.Kind == graph.StepFinished && !own && !nested && r.isSkipped(step.id):
			told.Status = r.end(step.id, nil)
		default:
			continue
		}
		r.show(told)
	}
}

// begin notes that a step runs; it is false where that was noted before.
func (r *stepReporter) begin(id StepID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == id {
		return false
	}
	r.running = id
	return true
}

func (r *stepReporter) isSkipped(id StepID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended[id] == flows.Skipped
}

// end gives how a step ended, whose node had an error or none.
func (r *stepReporter) end(id StepID, err error) flows.ResearchStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	status, ok := r.ended[id]
	delete(r.ended, id)
	r.running = ""
	switch {
	case errors.Is(err, context.Canceled):
		return flows.Skipped
	case err != nil:
		return flows.Failed
	case ok:
		return status
	}
	return flows.Completed
}

// complete marks a research step, for the state, and for who looks on.
func complete(ctx context.Context, id StepID, status flows.ResearchStatus) graph.Change[State] {
	endStep(ctx, id, status)
	return researchSteps.Set(map[StepID]flows.ResearchStatus{id: status})
}
