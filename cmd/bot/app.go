package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"cairn/internal/audit"
	"cairn/internal/chat/settings"
	"cairn/internal/config"
	"cairn/internal/document"
	"cairn/internal/document/survey"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/analyze"
	"cairn/internal/graph/flows/answer"
	"cairn/internal/graph/flows/answer/rerank"
	"cairn/internal/graph/flows/buildcontext"
	"cairn/internal/graph/flows/echo"
	"cairn/internal/graph/flows/repo"
	"cairn/internal/graph/flows/routing"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/embed"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/ingest"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/llm/gate"
	"cairn/internal/redis/conn"
	"cairn/internal/repository"
	"cairn/internal/repository/git"
	"cairn/internal/sqlite"
	"cairn/internal/telemetry"
)

// app is a wired Cairn. Commands open what they need of it and close it.
type app struct {
	config     config.Config
	logger     *slog.Logger
	embedder   embed.Embedder
	index      index.Index
	made       *answer.Models       // the models of conversation; nil before they are made
	judgement  *answer.Judgement    // decides when to ask and to decline; nil: the one that is built in
	budget     *gate.Budget         // nil before a model is made
	telemetry  *telemetry.Telemetry // nil where nothing is measured
	opened     stores               // what bot opened
	redis      *conn.Client         // nil before something is kept there
	data       *sqlite.DB           // of the data directory; nil before something is kept there
	slackApp   *slackApp            // nil before it is made, and where Slack is off
	discordApp *discordApp          // likewise
	places     settings.Store       // what people set in chats; nil before it is opened
	stderr     io.Writer            // that the log goes to
	audited    audit.Log            // nil before something is written down
	closers    []func() error
	// quoting is answer.Options.Quoting; nil but where weights are fitted.
	quoting func(answer.Quotable)
	// ordering is answer.Options.Ordering; nil but where weights are fitted.
	ordering func(run string, question rerank.Question, evidence []retrieve.Evidence)
}

// open reads the configuration and opens the index, to read it.
func (in *invocation) open(ctx context.Context) (*app, error) {
	configured, err := in.configuration()
	if err != nil {
		return nil, err
	}
	return openApp(ctx, configured, in.std, reads)
}

// configuration reads the file and the environment; a --data flag goes before both.
func (in *invocation) configuration() (config.Config, error) {
	configured, err := config.Load(in.global.Config)
	if err != nil {
		return config.Config{}, err
	}
	if in.global.Data != "" {
		configured.DataDir = in.global.Data
	}
	return configured, nil
}

func openApp(ctx context.Context, configured config.Config, std stdio, wanted openMode) (*app, error) {
	return openMeasured(ctx, configured, std, wanted, nil)
}

// openMeasured opens an app of which what it does is measured; by nil nothing is.
func openMeasured(ctx context.Context, configured config.Config, std stdio, wanted openMode, measured *telemetry.Telemetry) (*app, error) {
	logger := newLogger(configured.Log, std)
	embedder, err := openEmbedder(ctx, configured, logger, measured)
	if err != nil {
		return nil, err
	}
	a := &app{config: configured, embedder: embedder, logger: logger, stderr: std.Err, telemetry: measured}
	prepare := closeDataDir
	if wanted != reads || !configured.Postgres.URL.IsZero() {
		prepare = makeDataDir
	}
	if err := prepare(ctx, configured.DataDir, logger); err != nil {
		return nil, err
	}
	if a.index, err = a.openIndex(ctx, wanted); err != nil {
		return nil, err
	}
	a.closers = append(a.closers, a.index.Close)
	return a, nil
}

// close releases what was opened, the last first.
func (a *app) close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}

func newLogger(configured config.Log, std stdio) *slog.Logger {
	options := &slog.HandlerOptions{Level: configured.Level}
	if configured.Format == config.LogJSON {
		return slog.New(telemetry.LogHandler(slog.NewJSONHandler(std.Err, options)))
	}
	return slog.New(telemetry.LogHandler(slog.NewTextHandler(std.Err, options)))
}

func (a *app) retriever() *retrieve.Retriever {
	return &retrieve.Retriever{Index: a.searched(), Embedder: a.embedder, Fusion: retrieve.Fusion{
		Method: a.config.Search.Fusion, Dense: a.config.Search.DenseWeight,
	}}
}

func (a *app) ingester(observe func(ingest.Progress)) *ingest.Ingester {
	return &ingest.Ingester{Index: a.index, Embedder: a.embedder, Observe: observe}
}

// flows makes every registered flow; the first takes plain messages.
func (a *app) flows(ctx context.Context) ([]flows.Flow, error) {
	answers, err := a.answers()
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func() error { return closeFlow(ctx, answers) })
	echoes, err := echo.New()
	if err != nil {
		return nil, err
	}
	readers, err := a.readingFlows(document.Options{Roots: a.config.Flows.Folders, Index: a.searched(), Collections: a.sources})
	if err != nil {
		return nil, err
	}
	reports, err := a.reports(a.config.Flows.Folders, a.retriever())
	if err != nil {
		return nil, err
	}
	return append([]flows.Flow{a.withQueryLog(answers), echoes, reports}, readers...), nil
}

// reports makes the flow that reports on repositories: those in folders, and those that may
// be fetched. search may be nil.
func (a *app) reports(folders []string, search repo.Searcher) (flows.Flow, error) {
	models, err := a.models()
	if err != nil {
		return nil, err
	}
	opens := repository.Options{Roots: folders}
	if allowed := a.config.Flows.Repositories; len(allowed) > 0 {
		opens.Fetcher = git.NewFetcher(git.Options{Hosts: allowed})
	}
	opener := repository.NewOpener(opens)
	return repo.New(repo.Options{Open: repo.Reading(opener), List: opener.List, Search: search, Model: models.Answer})
}

// readingFlows makes the flows that read documents as a whole.
func (a *app) readingFlows(of document.Options) ([]flows.Flow, error) {
	models, err := a.models()
	if err != nil {
		return nil, err
	}
	reader := document.NewReader(of)
	var surveyor *survey.Surveyor
	if models.Answer != nil {
		surveyor = survey.New(models.Answer)
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

// sources are the collections of the index.
func (a *app) sources(ctx context.Context) ([]knowledge.SourceID, error) {
	collections, err := a.Collections(ctx)
	if err != nil {
		return nil, err
	}
	sources := make([]knowledge.SourceID, len(collections))
	for i, collection := range collections {
		sources[i] = knowledge.SourceID(collection.Name)
	}
	return sources, nil
}

// router decides which flow a message goes to.
func (a *app) router(registered []flows.Flow) (flows.Router, error) {
	models, err := a.models()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(registered))
	for i, flow := range registered {
		names[i] = flow.Name()
	}
	return routing.New(routing.Options{Flows: names, First: names[0], Model: models.Understand})
}

// closing joins what a command failed with and what closing failed with.
func closing(err error, a *app) error { return errors.Join(err, a.close()) }
