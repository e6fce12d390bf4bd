package telemetry

import (
	"context"
	"time"

	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/runs"
)

// queue is a store of runs with measurements.
type queue struct {
	bot.Runs
	t *Telemetry
}

// Runs measures the store of what is to be done.
func (t *Telemetry) Runs(next bot.Runs) bot.Runs {
	if t == nil {
		return next
	}
	return queue{next, t}
}

// Enqueue implements runs.Queue.
func (q queue) Enqueue(ctx context.Context, job runs.Job) (bool, error) {
	began := time.Now()
	isNew, err := q.Runs.Enqueue(ctx, job)
	if err == nil {
		q.t.recordEnqueued(ctx, job, began, isNew)
	}
	return isNew, err
}

// EnqueueAfter implements runs.Queue.
func (q queue) EnqueueAfter(ctx context.Context, job runs.Job, delay time.Duration) (bool, error) {
	ctx, span := q.t.beginSpan(ctx, "enqueue.later")
	isNew, err := q.Runs.EnqueueAfter(ctx, job, delay)
	endSpan(span, err)
	return isNew, err
}

// Finish implements runs.Leases.
func (q queue) Finish(ctx context.Context, lease runs.Lease, result runs.Result) error {
	if at, ok := workOf(ctx); ok && at.span != nil {
		next := result.Next
		if next == "" {
			next = runs.Finished
		}
		at.span.SetAttributes(outcomeKey.String(string(next)))
	}
	ctx, span := q.t.beginSpan(ctx, "store.finish")
	err := q.Runs.Finish(ctx, lease, result)
	endSpan(span, err)
	return err
}

// Release implements runs.Leases.
func (q queue) Release(ctx context.Context, lease runs.Lease) error {
	ctx, span := q.t.beginSpan(ctx, "store.release")
	err := q.Runs.Release(ctx, lease)
	endSpan(span, err)
	return err
}

// Record implements runs.Outbox.
func (q queue) Record(ctx context.Context, lease runs.Lease, delivery runs.Delivery, recorded func(runs.Delivery)) error {
	ctx, span := q.t.beginSpan(ctx, "store.record")
	err := q.Runs.Record(ctx, lease, delivery, recorded)
	endSpan(span, err)
	return err
}

// Confirm implements runs.Outbox.
func (q queue) Confirm(ctx context.Context, lease runs.Lease, key runs.DeliveryKey, posted chat.MessageID) error {
	ctx, span := q.t.beginSpan(ctx, "store.confirm")
	err := q.Runs.Confirm(ctx, lease, key, posted)
	endSpan(span, err)
	return err
}

// Journal implements runs.Journals.
func (q queue) Journal(lease runs.Lease) runs.Journal {
	if q.t.tracer == nil {
		return q.Runs.Journal(lease)
	}
	return journal{q.Runs.Journal(lease), q.t}
}

// journal is a journal whose writes are spans.
type journal struct {
	runs.Journal
	t *Telemetry
}

var _ graph.Store = journal{}

// Save implements graph.Store.
func (j journal) Save(ctx context.Context, run string, checkpoint []byte) error {
	ctx, span := j.t.beginSpan(ctx, "store.checkpoint")
	err := j.Journal.Save(ctx, run, checkpoint)
	endSpan(span, err)
	return err
}

// Flush implements runs.Journal.
func (j journal) Flush(ctx context.Context) error {
	ctx, span := j.t.beginSpan(ctx, "store.flush")
	err := j.Journal.Flush(ctx)
	endSpan(span, err)
	return err
}
