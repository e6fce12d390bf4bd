package telemetry

import (
	"context"
	"time"

	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/graph/flows"
	"cairn/internal/runs"
	"cairn/internal/session"
)

// records are a store of records that is measured: a run is counted when the record that
// says how it ended is saved.
type records struct {
	bot.Records
	t *Telemetry
}

// Records measures the store of what is remembered of runs.
func (t *Telemetry) Records(next bot.Records) bot.Records {
	if t == nil {
		return next
	}
	return records{next, t}
}

// Save implements runs.Records.
func (r records) Save(ctx context.Context, record runs.Record) error {
	writing, span := r.t.beginSpan(ctx, "store.record.save")
	err := r.Records.Save(writing, record)
	endSpan(span, err)
	if outcome := outcomeOf(record); err == nil && outcome != "" && record.Flow != "" {
		countOnce(ctx, func() {
			r.t.metrics.runs.WithLabelValues(record.Flow, outcome).Inc()
			took := workDuration(record)
			r.t.metrics.ran.WithLabelValues(record.Flow, outcome).Observe(took.Seconds())
			r.t.logger.InfoContext(ctx, "run finished", "run", string(record.ID), "flow", record.Flow, "outcome", outcome, "seconds", took.Seconds())
		})
	}
	return err
}

// Load implements runs.Records.
func (r records) Load(ctx context.Context, run chat.RunID) (runs.Record, error) {
	ctx, span := r.t.beginSpan(ctx, "store.record.load")
	record, err := r.Records.Load(ctx, run)
	endSpan(span, nil) // that there is none is mostly no failure
	return record, err
}

// Rate implements runs.Records.
func (r records) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	err := r.Records.Rate(ctx, run, rating)
	if err == nil {
		verdict := string(rating.Verdict)
		if rating.Verdict == chat.Unrated {
			verdict = "none"
		}
		r.t.metrics.rated.WithLabelValues(verdict).Inc()
	}
	return err
}

// outcomeOf returns how a run ended or that it asked, "" where it goes on.
func outcomeOf(record runs.Record) string {
	switch record.Status() {
	case runs.Done:
		if record.Transitions[len(record.Transitions)-1].Reason == string(flows.Abstained) {
			return abstained
		}
		return answered
	case runs.Waiting:
		return asked
	case runs.Failed:
		return failed
	case runs.Cancelled:
		return cancelled
	case runs.Expired:
		return expired
	}
	return ""
}

// workDuration returns how long a run was queued and running, all in all.
func workDuration(record runs.Record) time.Duration {
	var sum time.Duration
	for i, transition := range record.Transitions[:max(0, len(record.Transitions)-1)] {
		if transition.To == runs.Queued || transition.To == runs.Running {
			sum += record.Transitions[i+1].At.Sub(transition.At)
		}
	}
	return max(0, sum)
}

// sessions are a store of sessions whose reads and writes are spans.
type sessions struct {
	session.Store
	t *Telemetry
}

// Sessions measures the store of threads.
func (t *Telemetry) Sessions(next session.Store) session.Store {
	if t == nil || t.tracer == nil {
		return next
	}
	return sessions{next, t}
}

// Load implements session.Store.
func (s sessions) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	ctx, span := s.t.beginSpan(ctx, "store.session.load")
	loaded, err := s.Store.Load(ctx, thread)
	endSpan(span, err)
	return loaded, err
}

// Save implements session.Store.
func (s sessions) Save(ctx context.Context, saved session.Session) error {
	ctx, span := s.t.beginSpan(ctx, "store.session.save")
	err := s.Store.Save(ctx, saved)
	endSpan(span, err)
	return err
}
