package telemetry

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// measuredStore is a store with measurements.
type measuredStore struct {
	store.Store
	t *Telemetry
}

// Store measures the store of threads and runs.
func (t *Telemetry) Store(next store.Store) store.Store {
	if t == nil {
		return next
	}
	return measuredStore{next, t}
}

// Sessions implements store.Store.
func (m measuredStore) Sessions() session.Store {
	if m.t.tracer == nil {
		return m.Store.Sessions()
	}
	return sessions{m.Store.Sessions(), m.t}
}

// Records implements store.Store.
func (m measuredStore) Records() store.Records { return records{m.Store.Records(), m.t} }

// Enqueue implements runs.Queue.
func (m measuredStore) Enqueue(ctx context.Context, job runs.Job) (bool, error) {
	began := time.Now()
	isNew, err := m.Store.Enqueue(ctx, job)
	if err == nil {
		m.t.recordEnqueued(ctx, job, began, isNew)
	}
	return isNew, err
}

// EnqueueAfter implements runs.Queue.
func (m measuredStore) EnqueueAfter(ctx context.Context, job runs.Job, delay time.Duration) (bool, error) {
	ctx, span := m.t.beginSpan(ctx, "enqueue.later")
	isNew, err := m.Store.EnqueueAfter(ctx, job, delay)
	endSpan(span, err)
	return isNew, err
}

// Finish implements runs.Leases.
func (m measuredStore) Finish(ctx context.Context, lease runs.Lease, result runs.Result) error {
	recordOutcome(ctx, result)
	ctx, span := m.t.beginSpan(ctx, "store.finish")
	err := m.Store.Finish(ctx, lease, result)
	endSpan(span, err)
	return err
}

// Release implements runs.Leases.
func (m measuredStore) Release(ctx context.Context, lease runs.Lease) error {
	ctx, span := m.t.beginSpan(ctx, "store.release")
	err := m.Store.Release(ctx, lease)
	endSpan(span, err)
	return err
}

// Journal implements store.Store.
func (m measuredStore) Journal(lease runs.Lease) store.Journal {
	return journal{m.Store.Journal(lease), m.t}
}

// journal is a journal whose commits are spans. A run is counted when the record that says how it
// ended is committed.
type journal struct {
	store.Journal
	t *Telemetry
}

// Save implements graph.Store.
func (j journal) Save(ctx context.Context, run string, checkpoint []byte) error {
	ctx, span := j.t.beginSpan(ctx, "store.checkpoint")
	err := j.Journal.Save(ctx, run, checkpoint)
	endSpan(span, err)
	return err
}

// Commit implements store.Journal.
func (j journal) Commit(ctx context.Context, changes store.Commit) (store.Committed, error) {
	if changes.Result != nil {
		recordOutcome(ctx, *changes.Result)
	}
	committing, span := j.t.beginSpan(ctx, commitSpan(changes))
	committed, err := j.Journal.Commit(committing, changes)
	endSpan(span, err)
	if err == nil {
		for _, record := range changes.Records {
			j.t.countRun(ctx, record)
		}
	}
	return committed, err
}

// commitSpan returns the name of a commit's span.
func commitSpan(changes store.Commit) string {
	switch {
	case changes.Result != nil:
		return "store.finish"
	case changes.Session == nil && changes.Checkpoint != nil:
		return "store.checkpoint"
	}
	return "store.commit"
}

// recordOutcome says on the span of the work at a job what becomes of the job.
func recordOutcome(ctx context.Context, result runs.Result) {
	if at, ok := workOf(ctx); ok && at.span != nil {
		next := result.Next
		if next == "" {
			next = runs.Finished
		}
		at.span.SetAttributes(outcomeKey.String(string(next)))
	}
}
