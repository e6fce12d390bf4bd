package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/report"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// searchManifests looks for a dependency in all repositories that may be opened. One that
// can't be read is named.
func (f *Flow) searchManifests(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	run := toolRun{now: f.options.Now, say: step.Detail}
	found := callTool(&run, DependencyTool, s.Wanted.Name, func() ([]report.Searched, string, error) {
		found, err := f.searchAll(ctx, *s.Wanted, step.Detail)
		return found, fmt.Sprintf("%d repositories", len(found)), err
	})
	if ctx.Err() != nil {
		return graph.Result[State]{}, fmt.Errorf("search the repositories: %w", ctx.Err())
	}
	changes := []graph.Change[State]{toolUsage.Set(run.uses)}
	switch {
	case found == nil:
	case len(*found) == 0:
		changes = append(changes, failure.Set(s.speaker().Text(phrases.RepositoryNone)))
	default:
		changes = append(changes, searched.Set(*found))
	}
	return graph.Update(changes...), nil
}

func (f *Flow) searchAll(ctx context.Context, wanted manifest.Wanted, say func(string)) ([]report.Searched, error) {
	names, err := f.options.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the repositories: %w", err)
	}
	var all []report.Searched
	for i, name := range names {
		say(fmt.Sprintf("Reading manifests: repository %d of %d…", i+1, len(names)))
		one, err := f.searchOne(ctx, name, wanted)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, refused := errors.AsType[*repository.RefusedError](err); refused {
			continue // it is gone, or not for those who see the answer
		}
		if err != nil {
			one.Failure = shorten.Line(err.Error(), maxError)
		}
		all = append(all, one)
	}
	return all, nil
}

func (f *Flow) searchOne(ctx context.Context, name string, wanted manifest.Wanted) (made report.Searched, err error) {
	made.Name = lastOf(name)
	opened, err := f.options.OpenNewest(ctx, name)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	made.Name, made.Commit, made.Web, made.Outdated = opened.Name, opened.Commit, opened.Web, shorten.Line(opened.Outdated, maxError)
	made.Usages, err = opened.Tools.FindDependency(ctx, wanted)
	return made, err //nolint:wrapcheck // it names the tool
}

// lastOf is the last part of a path or address.
func lastOf(name string) string {
	name = strings.TrimSuffix(strings.TrimRight(name, "/"), ".git")
	return name[strings.LastIndexByte(name, '/')+1:]
}

// stepsOfSearch is the reasoning of a search over repositories.
func stepsOfSearch(s State) []string {
	manifests, fitting, failed := 0, 0, 0
	for _, one := range s.Searched {
		manifests += one.Usages.Manifests
		if slices.ContainsFunc(one.Usages.Found, func(u analysis.Usage) bool { return u.Fit == manifest.Fits }) {
			fitting++
		}
		if one.Failure != "" {
			failed++
		}
	}
	return []string{
		fmt.Sprintf("Repositories that may be read: %d; of them could not be: %d.", len(s.Searched), failed),
		fmt.Sprintf("Manifests in them: %d.", manifests),
		fmt.Sprintf("Repositories that name what was asked for: %d.", fitting),
	}
}

// maxRecent is how many repositories are offered.
const maxRecent = 5

// recentRepositories lists the repositories that may be meant where none is named: those of the thread,
// the latest first, and then those that may be opened.
func (f *Flow) recentRepositories(ctx context.Context, request flows.Request) []string {
	var names []string
	add := func(name string) {
		if name != "" && len(names) < maxRecent && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, turn := range slices.Backward(request.History) {
		if turn.Role == flows.User {
			add(namedIn(turn.Text))
		}
	}
	if f.options.List == nil {
		return names
	}
	known, err := f.options.List(ctx)
	if err != nil {
		return names // a question without these choices is as good
	}
	for _, name := range known {
		if !slices.ContainsFunc(names, func(named string) bool { return strings.HasPrefix(named, ".") && lastOf(named) == lastOf(name) }) {
			add(name)
		}
	}
	return names
}
