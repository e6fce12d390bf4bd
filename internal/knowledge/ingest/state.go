package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// keepLimit bounds the writing of how an ingest ended, which an ingest that is stopped
// still does.
const keepLimit = 10 * time.Second

// saveBegin notes in an index that keeps such states that an ingest of the source is under way.
// Until it has ended well it counts as one that failed: its process may die.
func (s *syncing) saveBegin(ctx context.Context) error {
	states, ok := s.Index.(index.IngestStates)
	if !ok {
		return nil
	}
	all, err := states.IngestStates(ctx)
	if err != nil {
		return err
	}
	s.attempts = 1
	for _, state := range all {
		if state.Source == s.source {
			s.attempts = state.Attempts + 1
		}
	}
	return states.SaveIngest(ctx, index.IngestState{Source: s.source, Began: s.began, Attempts: s.attempts})
}

// saveEnd notes how an ingest ended, and why it failed where it did.
func (s *syncing) saveEnd(ctx context.Context, failed error) error {
	states, ok := s.Index.(index.IngestStates)
	if !ok {
		return nil
	}
	report := s.report
	ended := s.now()
	state := index.IngestState{
		Source: s.source, Began: s.began, Ended: ended, Seen: s.looked, Changed: report.Added + report.Updated,
		Deleted: report.Deleted, Passages: report.Passages, Failed: len(report.Failures), Held: report.Held, Attempts: s.attempts,
	}
	for _, failure := range report.Failures[:min(len(report.Failures), index.MaxIngestFailures)] {
		state.Failures = append(state.Failures, index.IngestFailure{Document: failure.Path, Reason: failure.Reason.Error()})
	}
	switch {
	case failed == nil:
		state.Complete, state.Attempts = ended, 0
	case errors.Is(failed, context.Canceled):
		state.Reason = "interrupted"
	default:
		state.Reason = failed.Error()
	}
	if unavailable, ok := errors.AsType[*connect.UnavailableError](failed); ok {
		state.NotBefore = ended.Add(unavailable.After)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	return states.SaveIngest(ctx, state)
}
