package operations

import (
	"context"
	"net/url"
	"slices"

	"cairn/internal/chat/markup"
	"cairn/internal/knowledge/index"
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
	Reason                     string
	Configured, Known          bool
}

func (p *Page) sourcesView(ctx context.Context, _ url.Values) (any, error) {
	if p.options.Ingests == nil {
		return sourcesView{Unkept: true}, nil
	}
	states, err := p.options.Ingests.IngestStates(ctx)
	if err != nil {
		return nil, err
	}
	var v sourcesView
	known := make(map[string]bool)
	for _, state := range states {
		known[string(state.Source)] = true
		shown, err := p.source(ctx, state)
		if err != nil {
			return nil, err
		}
		v.Sources = append(v.Sources, shown)
	}
	for _, name := range p.options.Sources {
		if !known[name] {
			v.Sources = append(v.Sources, sourceView{Name: markup.CleanLine(name), State: "never read", Configured: true})
		}
	}
	return v, nil
}

func (p *Page) source(ctx context.Context, state index.IngestState) (sourceView, error) {
	failures, err := p.showFailures(ctx, state)
	if err != nil {
		return sourceView{}, err
	}
	v := sourceView{
		Name: markup.CleanLine(string(state.Source)), Known: true, Configured: slices.Contains(p.options.Sources, string(state.Source)),
		Began: p.moment(state.Began), Ended: p.moment(state.Ended), Complete: p.moment(state.Complete),
		Seen: state.Seen, Changed: state.Changed, Deleted: state.Deleted, Passages: state.Passages,
		Failed: state.Failed, Unlisted: max(0, state.Failed-len(failures)), Reason: markup.CleanLine(state.Reason),
	}
	for _, failure := range failures {
		v.Failures = append(v.Failures, index.IngestFailure{Document: markup.CleanLine(failure.Document), Reason: markup.CleanLine(failure.Reason)})
	}
	switch {
	case state.Ended.IsZero():
		v.State, v.Status = "is being read, or was killed", "running"
	case state.Reason != "":
		v.State, v.Status = "broke off", "failed"
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
