package app

import (
	"slices"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/analyze"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/buildcontext"
	"github.com/cairn-bot/cairn/internal/graph/flows/echo"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/graph/flows/repo"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

// NewFlows makes every registered flow; the first, which answers, takes plain messages.
// written may be nil: there are no pages then.
func NewFlows(l *Library, written *pages.Library, models Models, answers *answer.Flow) ([]flows.Flow, error) {
	echoes, err := echo.New()
	if err != nil {
		return nil, err
	}
	folders := l.Config.Flows.Folders
	documents := document.Options{Roots: folders, Index: l.guardedIndex(), Collections: l.listSources}
	readers, err := newDocumentFlows(documents, models)
	if err != nil {
		return nil, err
	}
	reports, err := newReports(repositoryOptions{roots: folders, hosts: l.Config.Flows.Repositories, mirrors: sources{l}.listMirrors, search: l.Retriever()}, models)
	if err != nil {
		return nil, err
	}
	screens, err := newScreens(screenOptions{repositoryOptions{roots: folders, hosts: l.Config.Flows.Repositories}, l.Config.Inspect, l.relays, l.browser}, models)
	if err != nil {
		return nil, err
	}
	registered := append([]flows.Flow{answers, echoes, reports, screens}, readers...)
	if written == nil {
		return registered, nil
	}
	edits, err := page.New(page.Options{
		Library: written, Model: models.Answer, Address: l.Config.Web.URL,
		Documents: page.Documents{Passages: l.guardedIndex().Passages, ReadOriginal: l.readOriginal, Merges: mergeRequests{l}}, Search: l.Retriever().Search,
	})
	if err != nil {
		return nil, err
	}
	return append(registered, edits), nil
}

// FlowShapes makes the flows for their graphs alone, over no index.
func FlowShapes() ([]flows.Flow, error) {
	answers, err := answer.New(answer.Options{Retriever: &retrieve.Retriever{}})
	if err != nil {
		return nil, err
	}
	echoes, err := echo.New()
	if err != nil {
		return nil, err
	}
	readers, err := newDocumentFlows(document.Options{}, Models{})
	if err != nil {
		return nil, err
	}
	reports, err := newReports(repositoryOptions{}, Models{})
	if err != nil {
		return nil, err
	}
	screens, err := newScreens(screenOptions{}, Models{})
	if err != nil {
		return nil, err
	}
	edits, err := page.New(page.Options{})
	if err != nil {
		return nil, err
	}
	return append([]flows.Flow{answers, echoes, reports, screens, edits}, readers...), nil
}

// repositoryOptions say which repositories are read.
type repositoryOptions struct {
	roots []string // folders that they may be in
	hosts []string // that they may be fetched from
	// mirrors lists those that sources keep; nil: none.
	mirrors func() ([]repository.Mirror, error)
	search  repo.Searcher
}

// newOpener makes what opens repositories.
func newOpener(options repositoryOptions) *repository.Opener {
	opens := repository.Options{Roots: options.roots, Mirrors: options.mirrors}
	if len(options.hosts) > 0 {
		opens.Fetcher = git.NewFetcher(git.Options{Hosts: options.hosts})
	}
	return repository.NewOpener(opens)
}

// newReports makes the flow that reports on repositories; there may be no models.
func newReports(options repositoryOptions, models Models) (flows.Flow, error) {
	opener := newOpener(options)
	return repo.New(repo.Options{Open: repo.Reading(opener.Open), OpenNewest: repo.Reading(opener.OpenNewest), List: opener.List, Search: options.search, Model: models.Answer, Verifier: models.Verify})
}

// newDocumentFlows makes the flows that read documents as a whole; there may be no models.
func newDocumentFlows(options document.Options, models Models) ([]flows.Flow, error) {
	reader := document.NewReader(options)
	var surveyor *survey.Surveyor
	if models.Answer != nil {
		surveyor = survey.New(models.Answer, models.Verify)
	}
	analyses, err := analyze.New(analyze.Options{Reader: reader, Surveyor: surveyor})
	if err != nil {
		return nil, err
	}
	overviews, err := buildcontext.New(buildcontext.Options{Reader: reader, Surveyor: surveyor})
	if err != nil {
		return nil, err
	}
	return []flows.Flow{analyses, overviews}, nil
}

// NewRouter makes what decides which flow a message goes to; plain messages go to the first.
func NewRouter(setup Setup, registered []flows.Flow, models Models) (flows.Router, error) {
	names := make([]string, len(registered))
	for i, flow := range registered {
		names[i] = flow.Name()
	}
	options := routing.Options{Flows: names, First: names[0], Model: models.Understand, App: setup.Config.Inspect.Project != ""}
	isMirrored := func(source config.Source) bool { return source.Kind == config.SourceGit }
	if reads := setup.Config.Flows; len(reads.Folders)+len(reads.Repositories) > 0 || slices.ContainsFunc(setup.Config.Sources, isMirrored) {
		options.AsksManifests = manifest.IsAsked
	}
	if looker, err := openBrowser(setup.Config.Inspect); err == nil && looker != nil {
		options.IsPage = looker.Allows
	}
	return routing.New(options)
}
