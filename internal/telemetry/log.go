package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// The keys of ids on log lines.
const (
	logThread = "thread"
	logRun    = "run"
	logTrace  = "trace_id"
	logSpan   = "span_id"
)

// logHandler adds to log lines the ids of what their context is about.
type logHandler struct {
	slog.Handler
	thread, run bool // they are among the attributes already
}

// LogHandler has log lines name the thread, the run, the trace and the span that their
// context is about, where they do not name them themselves.
func LogHandler(next slog.Handler) slog.Handler { return &logHandler{Handler: next} }

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	thread, run := h.thread, h.run
	record.Attrs(func(attribute slog.Attr) bool {
		thread, run = thread || attribute.Key == logThread, run || attribute.Key == logRun
		return true
	})
	record = record.Clone() // what is added is no business of other handlers
	if at, ok := workOf(ctx); ok && !thread {
		record.AddAttrs(slog.String(logThread, string(at.thread)))
	}
	if id := runOf(ctx); id != "" && !run {
		record.AddAttrs(slog.String(logRun, id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record.AddAttrs(slog.String(logTrace, span.TraceID().String()), slog.String(logSpan, span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	with := logHandler{h.Handler.WithAttrs(attributes), h.thread, h.run}
	for _, attribute := range attributes {
		with.thread, with.run = with.thread || attribute.Key == logThread, with.run || attribute.Key == logRun
	}
	return &with
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.Handler.WithGroup(name), h.thread, h.run}
}
