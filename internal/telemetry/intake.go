package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// intake is a bot whose messages are measured on their way into the queue.
type intake struct {
	*bot.Bot // and with it all that an adapter may want beside
	t        *Telemetry
}

var (
	_ chat.Handler = intake{}
	_ chat.Changes = intake{}
)

// Intake measures what adapters hand over.
func (t *Telemetry) Intake(next *bot.Bot) chat.Handler {
	if t == nil {
		return next
	}
	return intake{next, t}
}

// messageArrival is a message on its way into the queue. It ends once the message is durable or
// dropped; the conversation after that is not part of it.
type messageArrival struct {
	t       *Telemetry
	adapter string
	began   time.Time
	span    trace.Span // nil without traces
	over    bool
}

type arrivalKey struct{}

// beginArrival begins the trace of a message.
func (t *Telemetry) beginArrival(ctx context.Context, thread chat.ThreadID, message chat.MessageID) (context.Context, *messageArrival) {
	a := &messageArrival{t: t, adapter: t.adapterLabel(thread.Adapter()), began: time.Now()}
	if t.tracer != nil {
		ctx = withIDs(ctx, wantedIDs{trace: traceOf(thread, message)})
		ctx, a.span = t.tracer.Start(ctx, "intake", trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(adapterKey.String(a.adapter), threadKey.String(string(thread))))
		ctx = withIDs(ctx, wantedIDs{})
	}
	return context.WithValue(ctx, arrivalKey{}, a), a
}

// endArrival ends the span of the message with its outcome, once.
func (a *messageArrival) endArrival(outcome string, err error) {
	if a.over {
		return
	}
	a.over = true
	a.t.metrics.events.WithLabelValues(a.adapter, outcome).Inc()
	a.t.metrics.ack.WithLabelValues(a.adapter).Observe(secondsSince(a.began))
	if a.span != nil {
		a.span.SetAttributes(outcomeKey.String(outcome))
	}
	endSpan(a.span, err)
}

// endWith ends the span of a message that was not enqueued.
func (a *messageArrival) endWith(err error) {
	switch {
	case errors.Is(err, chat.ErrForbidden):
		a.endArrival(refused, nil)
	case err != nil:
		a.endArrival(failed, err)
	default:
		a.endArrival(accepted, nil)
	}
}

// Handle implements chat.Handler.
func (i intake) Handle(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	ctx, a := i.t.beginArrival(ctx, message.Thread, message.ID)
	err := i.Bot.Handle(ctx, message, conversation)
	a.endWith(err)
	return err
}

// Edited implements chat.Changes.
func (i intake) Edited(ctx context.Context, message chat.Message) error {
	ctx, a := i.t.beginArrival(ctx, message.Thread, message.ID)
	err := i.Bot.Edited(ctx, message)
	a.endWith(err)
	return err
}

// Deleted implements chat.Changes.
func (i intake) Deleted(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	ctx, a := i.t.beginArrival(ctx, thread, message)
	err := i.Bot.Deleted(ctx, thread, message)
	a.endWith(err)
	return err
}

// recordEnqueued records a job that was enqueued, or was there already. The span has the ids
// by which the work at the job finds its parent.
func (t *Telemetry) recordEnqueued(ctx context.Context, job runs.Job, began time.Time, isNew bool) {
	if t.tracer != nil {
		ids := wantedIDs{trace: traceOfJob(job)}
		if isNew {
			ids.span = enqueuedSpan(job)
		}
		_, span := t.tracer.Start(withIDs(withinNode(ctx), ids), "enqueue", trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindProducer),
			trace.WithAttributes(threadKey.String(string(job.Thread())), kindKey.String(jobKind(job.Kind)), acceptedKey.Bool(isNew)))
		span.End()
	}
	a, ok := ctx.Value(arrivalKey{}).(*messageArrival)
	switch {
	case !ok:
	case isNew:
		a.endArrival(accepted, nil)
	default:
		a.endArrival(duplicate, nil)
	}
}
