package operations

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// sourcesView is what templates/sources.html shows.
type sourcesView struct {
	Unkept  bool // the index keeps no states
	Sources []sourceView
}

// sourceView is how a source was read last.
type sourceView struct {
	Name, State, Status        string // Status is a class: done, failed, running or none
	Began, Ended, Complete     momentView
	Took                       string
	Seen, Changed, Deleted     int
	Passages, Failed, Unlisted int
	Failures                   []index.IngestFailure
	Held                       int
	Reason, Next               string
	Configured, Known          bool
}

// sourcesScreen lists the sources.
type sourcesScreen struct {
	ingests    Ingests                  // nil: the index keeps no states
	configured func() ([]Source, error) // nil: none are
	viewer     viewer
	now        clock
}

func (s *sourcesScreen) view(ctx context.Context, _ url.Values) (any, error) {
	if s.ingests == nil {
		return sourcesView{Unkept: true}, nil
	}
	states, err := s.ingests.IngestStates(ctx)
	if err != nil {
		return nil, err
	}
	var configured []Source
	if s.configured != nil {
		if configured, err = s.configured(); err != nil {
			return nil, err
		}
	}
	var v sourcesView
	known := make(map[string]bool)
	for _, state := range states {
		known[string(state.Source)] = true
		shown, err := s.viewSource(ctx, state)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(configured, func(c Source) bool { return c.Name == string(state.Source) }); at >= 0 {
			shown.Configured, shown.Next = true, nextSync(configured[at], state, s.now())
		}
		v.Sources = append(v.Sources, shown)
	}
	for _, source := range configured {
		if !known[source.Name] {
			v.Sources = append(v.Sources, sourceView{
				Name: markup.CleanLine(source.Name), State: "never read", Configured: true, Next: nextSync(source, index.IngestState{}, s.now()),
			})
		}
	}
	return v, nil
}

// nextSync says when a configured source is read next.
func nextSync(source Source, last index.IngestState, now time.Time) string {
	switch {
	case source.Paused:
		return "paused"
	case source.Every == 0:
		return "" // by hand, or when it changes
	}
	wait := last.NextAt(source.Every).Sub(now)
	if wait <= 0 {
		return "now"
	}
	return "in " + wait.Round(time.Second).String()
}

func (s *sourcesScreen) viewSource(ctx context.Context, state index.IngestState) (sourceView, error) {
	failures, err := s.viewer.showFailures(ctx, state)
	if err != nil {
		return sourceView{}, err
	}
	v := sourceView{
		Name: markup.CleanLine(string(state.Source)), Known: true,
		Began: s.now.moment(state.Began), Ended: s.now.moment(state.Ended), Complete: s.now.moment(state.Complete),
		Seen: state.Seen, Changed: state.Changed, Deleted: state.Deleted, Passages: state.Passages,
		Failed: state.Failed, Unlisted: max(0, state.Failed-len(failures)), Held: state.Held, Reason: markup.CleanLine(state.Reason),
	}
	for _, failure := range failures {
		v.Failures = append(v.Failures, index.IngestFailure{Document: markup.CleanLine(failure.Document), Reason: markup.CleanLine(failure.Reason)})
	}
	switch {
	case state.Ended.IsZero():
		v.State, v.Status = "is being read, or was killed", "running"
	case state.Reason != "":
		v.State, v.Status = "broke off", "failed"
	case state.Held > 0:
		v.State, v.Status = "read, but for what is gone", "failed"
	case state.Failed > 0:
		v.State, v.Status = "read, but for some documents", "failed"
	default:
		v.State, v.Status = "read", "done"
	}
	if !state.Ended.IsZero() {
		v.Took = took(state.Ended.Sub(state.Began))
	}
	return v, nil
}
