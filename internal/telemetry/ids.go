package telemetry

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// A job carries no trace through the queue. Instead the ids are made from what every
// process knows of it: all that is done about a message, by whatever process, is one trace,
// and the span that put the job into the queue is the parent of the work at it. That costs
// the store nothing, and needs no change of what is stored; each process has to have traces
// switched on for its part of the tree.

// traceOf returns the trace of a message.
func traceOf(thread chat.ThreadID, message chat.MessageID) trace.TraceID {
	sum := sha256.Sum256(fmt.Appendf(nil, "trace %q %q", thread, message))
	return trace.TraceID(sum[:16])
}

// traceOfJob returns the trace that the work at a job belongs to. One that is about no message,
// such as a reminder, has a trace of its own.
func traceOfJob(job runs.Job) trace.TraceID {
	thread := job.Thread()
	if job.Message.ID == "" {
		return traceOf(thread, chat.MessageID("event "+job.Event))
	}
	return traceOf(thread, job.Message.ID)
}

// enqueuedSpan returns the span that put a job into its queue.
func enqueuedSpan(job runs.Job) trace.SpanID {
	sum := sha256.Sum256(fmt.Appendf(nil, "enqueue %q %q", job.Thread(), job.Event))
	return trace.SpanID(sum[:8])
}

// wantedIDs are the ids for the next span; a zero id is chosen at random.
type wantedIDs struct {
	trace trace.TraceID
	span  trace.SpanID
}

type wantedKey struct{}

func withIDs(ctx context.Context, ids wantedIDs) context.Context {
	return context.WithValue(ctx, wantedKey{}, ids)
}

// generator gives spans the ids that their context wants, or random ones.
type generator struct{}

// NewIDs implements sdktrace.IDGenerator.
func (g generator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	ids, _ := ctx.Value(wantedKey{}).(wantedIDs)
	for !ids.trace.IsValid() {
		fillRandom(ids.trace[:8])
		fillRandom(ids.trace[8:])
	}
	return ids.trace, g.NewSpanID(ctx, ids.trace)
}

// NewSpanID implements sdktrace.IDGenerator.
func (generator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	ids, _ := ctx.Value(wantedKey{}).(wantedIDs)
	for !ids.span.IsValid() {
		fillRandom(ids.span[:])
	}
	return ids.span
}

// fillRandom writes eight random bytes. They name spans, and keep no secret.
func fillRandom(id []byte) {
	n := rand.Uint64() //nolint:gosec // see above
	for i := range 8 {
		id[i] = byte(n >> (8 * i))
	}
}
