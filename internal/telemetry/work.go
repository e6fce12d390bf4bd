package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// work is the work at one job, carried in its context.
type work struct {
	thread chat.ThreadID
	span   trace.Span // nil without traces
}

type workKey struct{}

func workOf(ctx context.Context) (work, bool) {
	found, ok := ctx.Value(workKey{}).(work)
	return found, ok
}

// Accompany is for bot.Options.Accompany: the log lines of the work at a job name its
// thread, and the spans of it are below the one that put the job into the queue. Without
// telemetry it is only about log lines.
func (t *Telemetry) Accompany(ctx context.Context, lease runs.Lease) (context.Context, func(lost bool)) {
	at := work{thread: lease.Job.Thread()}
	if t == nil {
		return context.WithValue(ctx, workKey{}, at), func(bool) {}
	}
	ctx, at.span = t.beginWork(ctx, lease)
	return context.WithValue(ctx, workKey{}, at), func(lost bool) {
		var err error
		if lost {
			t.metrics.lost.Inc()
			err = runs.ErrLost
		}
		endSpan(at.span, err)
	}
}

// beginWork begins the span of the work at a job, and tells of the wait before it.
func (t *Telemetry) beginWork(ctx context.Context, lease runs.Lease) (context.Context, trace.Span) {
	if t.tracer == nil {
		return ctx, nil
	}
	job := lease.Job
	attributes := trace.WithAttributes(threadKey.String(string(job.Thread())), kindKey.String(jobKind(job.Kind)), attemptKey.Int(job.Attempt))
	if job.Message.ID == "" { // nobody handed it over
		ctx = withIDs(ctx, wantedIDs{trace: traceOfJob(job)})
		ctx, span := t.tracer.Start(ctx, "work", attributes, trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer))
		return withIDs(ctx, wantedIDs{}), span
	}
	ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceOfJob(job), SpanID: enqueuedSpan(job), TraceFlags: trace.FlagsSampled, Remote: true,
	}))
	if job.Attempt <= 1 && !lease.Given.Before(job.Enqueued) {
		_, waited := t.tracer.Start(ctx, "queue", trace.WithTimestamp(job.Enqueued))
		waited.End(trace.WithTimestamp(lease.Given))
	}
	return t.tracer.Start(ctx, "work", attributes, trace.WithSpanKind(trace.SpanKindConsumer))
}

// jobKind returns the kind of a job. Those of other programs count as one.
func jobKind(kind runs.Kind) string {
	switch kind {
	case "":
		return string(runs.Said)
	case runs.Said, runs.Retry, runs.Remind, "edited", "deleted", "aside", "drop", "forget":
		return string(kind)
	}
	return "other"
}

// runningKey finds the id of the run that a context works at.
type runningKey struct{}

func withRun(ctx context.Context, run string) context.Context {
	return context.WithValue(ctx, runningKey{}, run)
}

func runOf(ctx context.Context) string {
	run, _ := ctx.Value(runningKey{}).(string)
	return run
}

// secondsSince returns how long ago something began, in seconds.
func secondsSince(began time.Time) float64 { return time.Since(began).Seconds() }
