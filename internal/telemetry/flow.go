package telemetry

import (
	"context"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// flow is a flow with measurements.
type flow struct {
	flows.Flow
	t       *Telemetry
	sourced bool // its answers are to name sources
}

// Flows measures flows. The answers of the one that is named are to come from documents.
func (t *Telemetry) Flows(next []flows.Flow, answering string) []flows.Flow {
	if t == nil {
		return next
	}
	measured := make([]flows.Flow, len(next))
	for i, one := range next {
		measured[i] = &flow{one, t, one.Name() == answering}
		for _, outcome := range runOutcomes {
			t.metrics.runs.WithLabelValues(one.Name(), outcome)
		}
	}
	return measured
}

// Start implements flows.Flow.
func (f *flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	ctx, r := f.beginRun(ctx, request.Run)
	runtime.Observe = r.observeEvents(runtime.Observe)
	outcome, err := f.Flow.Start(ctx, request, runtime)
	r.endRun(outcome, err)
	return outcome, err
}

// Resume implements flows.Flow.
func (f *flow) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	ctx, r := f.beginRun(ctx, run)
	runtime.Observe = r.observeEvents(runtime.Observe)
	outcome, err := f.Flow.Resume(ctx, run, answers, runtime)
	r.endRun(outcome, err)
	return outcome, err
}

// flowRun is a running flow with the spans of its nodes. A node's function is not given the
// node's span: its calls are children of the running node's span, if only one node is running.
type flowRun struct {
	flow *flow
	span trace.Span // nil without traces

	mu    sync.Mutex
	nodes map[string]trace.Span // that work, by path
}

type nodesKey struct{}

func (f *flow) beginRun(ctx context.Context, run string) (context.Context, *flowRun) {
	r := &flowRun{flow: f}
	ctx = withRun(ctx, run)
	ctx, r.span = f.t.beginSpan(ctx, "run "+f.Name(), trace.WithAttributes(flowKey.String(f.Name()), runKey.String(run)))
	if r.span != nil {
		r.nodes = make(map[string]trace.Span)
		ctx = context.WithValue(ctx, nodesKey{}, r)
	}
	return ctx, r
}

// observeEvents passes the run's events on.
func (r *flowRun) observeEvents(next func(graph.Event)) func(graph.Event) {
	return func(event graph.Event) {
		r.recordEvent(event)
		if next != nil {
			next(event)
		}
	}
}

func (r *flowRun) recordEvent(event graph.Event) {
	switch event.Kind {
	case graph.StepFinished, graph.QuestionAsked:
		r.flow.t.metrics.node.WithLabelValues(r.flow.Name(), event.Node).Observe(event.Duration.Seconds())
		r.leaveNode(event)
	case graph.StepStarted:
		r.enterNode(event)
	case graph.StepRetried:
		r.leaveNode(event)
	case graph.Detail, graph.Token, graph.RunStarted, graph.RunFinished:
	}
}

// enterNode begins the span of an attempt of a node, below that of the node it is inside of.
func (r *flowRun) enterNode(event graph.Event) {
	if r.span == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	parent := r.span
	for path := event.Node; ; {
		slash := strings.LastIndexByte(path, '/')
		if slash < 0 {
			break
		}
		path = path[:slash]
		if outer := r.nodes[path]; outer != nil {
			parent = outer
			break
		}
	}
	_, r.nodes[event.Node] = r.flow.t.tracer.Start(trace.ContextWithSpan(context.Background(), parent), "node "+event.Node,
		trace.WithAttributes(flowKey.String(r.flow.Name()), nodeKey.String(event.Node), visitKey.Int(event.Visit), attemptKey.Int(event.Attempt)))
}

func (r *flowRun) leaveNode(event graph.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	span := r.nodes[event.Node]
	delete(r.nodes, event.Node)
	endSpan(span, event.Err)
}

// innermostSpan returns the node that works, nil where none does or several beside each other.
func (r *flowRun) innermostSpan() trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	innermost := ""
	for path := range r.nodes {
		if len(path) > len(innermost) {
			innermost = path
		}
	}
	for path := range r.nodes {
		if path != innermost && !strings.HasPrefix(innermost, path+"/") {
			return nil
		}
	}
	return r.nodes[innermost]
}

// withinNode makes the spans of a run children of the span of its node.
func withinNode(ctx context.Context) context.Context {
	r, ok := ctx.Value(nodesKey{}).(*flowRun)
	if !ok || trace.SpanFromContext(ctx) != r.span {
		return ctx
	}
	if node := r.innermostSpan(); node != nil {
		return trace.ContextWithSpan(ctx, node)
	}
	return ctx
}

// endRun ends the span of the run with its outcome.
func (r *flowRun) endRun(outcome flows.Outcome, err error) {
	if err == nil && r.flow.sourced && outcome.Kind == flows.Answered && len(outcome.Groups) == 0 {
		r.flow.t.metrics.unsourced.Inc()
	}
	if r.span == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, node := range r.nodes { // that were left behind when the run ended
		node.SetStatus(codes.Error, "left")
		node.End()
	}
	clear(r.nodes)
	if err == nil {
		r.span.SetAttributes(outcomeKey.String(string(outcome.Kind)))
	}
	endSpan(r.span, err)
}
