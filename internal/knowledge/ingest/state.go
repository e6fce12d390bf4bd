package ingest

import (
	"context"
	"errors"
	"time"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// keepLimit bounds the writing of how an ingest ended, which an ingest that is stopped
// still does.
const keepLimit = 10 * time.Second

// saveBegin notes in an index that keeps such states that an ingest of a source is under way.
func (in *Ingester) saveBegin(ctx context.Context, source knowledge.SourceID, at time.Time) error {
	states, ok := in.Index.(index.IngestStates)
	if !ok {
		return nil
	}
	return states.SaveIngest(ctx, index.IngestState{Source: source, Began: at})
}

// saveEnd notes how an ingest ended, and why it failed where it did.
func (in *Ingester) saveEnd(ctx context.Context, s *syncing, failed error) error {
	states, ok := in.Index.(index.IngestStates)
	if !ok {
		return nil
	}
	report := s.report
	ended := in.now()
	state := index.IngestState{
		Source: s.source, Began: s.began, Ended: ended, Seen: s.looked, Changed: report.Added + report.Updated,
		Deleted: report.Deleted, Passages: report.Passages, Failed: len(report.Failures),
	}
	for _, failure := range report.Failures[:min(len(report.Failures), index.MaxIngestFailures)] {
		state.Failures = append(state.Failures, index.IngestFailure{Document: failure.Path, Reason: failure.Reason.Error()})
	}
	switch {
	case failed == nil:
		state.Complete = ended
	case errors.Is(failed, context.Canceled):
		state.Reason = "interrupted"
	default:
		state.Reason = failed.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	return states.SaveIngest(ctx, state)
}
