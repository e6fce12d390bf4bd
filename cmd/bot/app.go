package main

import (
	"context"
	"errors"
	"log/slog"

	"cairn/internal/config"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/echo"
	"cairn/internal/knowledge/embed"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/ingest"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/llm/gate"
)

// app is a wired Cairn. Commands open what they need of it and close it.
type app struct {
	config   config.Config
	logger   *slog.Logger
	embedder embed.Embedder
	index    index.Index
	budget   *gate.Budget // nil before a model is made
	slackApp *slackApp    // nil before it is made, and where Slack is off
	closers  []func() error
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

func openApp(ctx context.Context, configured config.Config, std stdio, wanted access) (*app, error) {
	logger := newLogger(configured.Log, std)
	embedder, err := openEmbedder(ctx, configured, logger)
	if err != nil {
		return nil, err
	}
	a := &app{config: configured, embedder: embedder, logger: logger}
	if wanted != reads || !configured.Postgres.URL.IsZero() {
		if err := makeDataDir(configured.DataDir); err != nil {
			return nil, err
		}
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
		return slog.New(slog.NewJSONHandler(std.Err, options))
	}
	return slog.New(slog.NewTextHandler(std.Err, options))
}

func (a *app) retriever() *retrieve.Retriever {
	return &retrieve.Retriever{Index: a.index, Embedder: a.embedder, Fusion: retrieve.Fusion{
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
	return []flows.Flow{a.withQueryLog(answers), echoes}, nil
}

// closing joins what a command failed with and what closing failed with.
func closing(err error, a *app) error { return errors.Join(err, a.close()) }
