// Package telemetry measures what a Cairn that serves does: metrics for Prometheus, traces
// for OpenTelemetry, ids on log lines, and whether it is ready. docs/telemetry.md lists
// every metric and span.
//
// It does so from the outside, by decorators of the contracts between the parts: the
// handler that adapters hand messages to (intake.go), the stores (queue.go, records.go,
// journal.go, sessions.go), flows and their nodes (flow.go), models (model.go), the index
// (search.go) and the platforms (post.go). work.go has what goes with the work at one job.
// ids.go says how the parts of a trace find each other over the queue. What is only looked
// at when somebody asks is in watch.go; serve.go and ready.go answer who asks.
//
// Ids, names of the program and of the configuration, counts and times are all that leaves:
// no message, no prompt, no document, no error's text.
package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/runs"
)

// Telemetry measures one process. A nil *Telemetry measures nothing: what its methods are
// given to measure they give back as it is.
type Telemetry struct {
	registry *prometheus.Registry
	metrics  *metrics
	adapters map[string]bool
	spans    *sdktrace.TracerProvider // nil: no traces
	tracer   trace.Tracer             // of spans; nil with it
	logger   *slog.Logger
}

// Options say what is measured.
type Options struct {
	Version, Commit string
	// Adapters are the names that thread ids may begin with; what comes from others is
	// counted as "other".
	Adapters []string
	Traces   *Traces // nil: none
	// Logger is told of each run that came to an outcome, and of spans that are not sent.
	Logger *slog.Logger
}

// Traces is where spans go.
type Traces struct {
	URL      string // of the collector, with its path: "https://host:4318/v1/traces"
	Headers  http.Header
	Instance string // tells this process from others: "host-pid"
}

// New begins to measure. Close it, so that the last spans are sent.
func New(ctx context.Context, options Options) (*Telemetry, error) {
	t := &Telemetry{registry: prometheus.NewRegistry(), metrics: newMetrics(), adapters: make(map[string]bool), logger: options.Logger}
	for _, adapter := range options.Adapters {
		t.adapters[adapter] = true
		t.metrics.expectAdapter(adapter)
	}
	if err := t.registerMetrics(options); err != nil {
		return nil, err
	}
	if options.Traces == nil {
		return t, nil
	}
	spans, err := openTraces(ctx, options)
	if err != nil {
		return nil, err
	}
	t.spans = spans
	t.tracer = t.spans.Tracer("cairn")
	return t, nil
}

// closeTime is the time limit for sending the last spans.
const closeTime = 3 * time.Second

// Close sends the spans that were not sent yet, whatever becomes of ctx. Where that fails
// they are lost: that a collector is away is no failure of the process.
func (t *Telemetry) Close(ctx context.Context) {
	if t == nil || t.spans == nil {
		return
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer done()
	if err := t.spans.Shutdown(ctx); err != nil {
		t.logger.WarnContext(ctx, "send last traces", "error", err)
	}
}

// adapterLabel returns the label of a thread's adapter.
func (t *Telemetry) adapterLabel(name string) string {
	if t.adapters[name] {
		return name
	}
	return "other"
}

// beginSpan begins a span below that of the context, and gives the context of what is done
// meanwhile. Without traces it does nothing, and gives a nil span.
func (t *Telemetry) beginSpan(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if t.tracer == nil {
		return ctx, nil
	}
	return t.tracer.Start(withinNode(ctx), name, options...)
}

// endSpan ends a span, which may be nil. Of the error only its kind is told: its text may quote
// what people wrote.
func endSpan(span trace.Span, err error) {
	if span == nil {
		return
	}
	if err != nil {
		span.SetAttributes(errorType.String(kindOf(err)))
		span.SetStatus(codes.Error, kindOf(err))
	}
	span.End()
}

// kindOf returns what an error is, in a word.
func kindOf(err error) string {
	switch {
	case errors.Is(err, runs.ErrLost):
		return "lease_lost"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}
