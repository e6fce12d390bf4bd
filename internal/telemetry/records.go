package telemetry

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// records are a store of records that is measured.
type records struct {
	store.Records
	t *Telemetry
}

// countRun counts a run whose record says how it ended.
func (t *Telemetry) countRun(ctx context.Context, record runs.Record) {
	outcome := outcomeOf(record)
	if outcome == "" || record.Flow == "" {
		return
	}
	t.metrics.runs.WithLabelValues(record.Flow, outcome).Inc()
	took := workDuration(record)
	t.metrics.ran.WithLabelValues(record.Flow, outcome).Observe(took.Seconds())
	t.logger.InfoContext(ctx, "run finished", "run", string(record.ID), "flow", record.Flow, "outcome", outcome, "seconds", took.Seconds())
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

// sessions are a store of sessions whose reads are spans.
type sessions struct {
	session.Store
	t *Telemetry
}

// Load implements session.Store.
func (s sessions) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	ctx, span := s.t.beginSpan(ctx, "store.session.load")
	loaded, err := s.Store.Load(ctx, thread)
	endSpan(span, err)
	return loaded, err
}
