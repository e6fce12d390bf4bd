package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"cairn/internal/config"
	"cairn/internal/knowledge/embed"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/embedded"
	"cairn/internal/knowledge/index/postgres"
)

// openMode is what a command does to the index.
type openMode int

const (
	reads  openMode = iota
	serves          // reads, and makes an empty index where there is none
	writes
	rebuilds // writes, after all that was there is thrown away
)

// errNoIndex tells that nothing was read in yet.
var errNoIndex = errors.New("run `cairn ingest FOLDER` first")

// openIndex opens the index that is configured: in PostgreSQL where a database is named,
// else in the data directory.
func (a *app) openIndex(ctx context.Context, wanted openMode) (index.Index, error) {
	if wanted != serves {
		return a.openExisting(ctx, wanted)
	}
	opened, err := a.openExisting(ctx, reads)
	if !errors.Is(err, errNoIndex) {
		return opened, err
	}
	a.logger.WarnContext(ctx, "there is no index yet: nothing is known until `cairn ingest` has read documents")
	return backoff.Retry(ctx, func() (index.Index, error) { return a.openEmpty(ctx) },
		backoff.WithBackOff(backoff.NewConstantBackOff(emptyPause)), backoff.WithMaxElapsedTime(emptyTime))
}

// Processes that start together have one of them make the index, and wait for it.
const (
	emptyPause = 200 * time.Millisecond
	emptyTime  = 10 * time.Second
)

// openEmpty makes an index with nothing in it, and opens it to be read. Only that another
// process is about to make it is no permanent error to backoff.
func (a *app) openEmpty(ctx context.Context) (index.Index, error) {
	empty, err := a.openExisting(ctx, writes)
	if err == nil {
		err = empty.Close()
	}
	if err != nil && !errors.Is(err, index.ErrLocked) {
		return nil, backoff.Permanent(fmt.Errorf("make an empty index: %w", err))
	}
	opened, err := a.openExisting(ctx, reads)
	if err != nil && !errors.Is(err, errNoIndex) {
		return nil, backoff.Permanent(err)
	}
	return opened, err
}

func (a *app) openExisting(ctx context.Context, wanted openMode) (index.Index, error) {
	if a.config.Postgres.URL.IsZero() {
		return openEmbedded(ctx, a.config.DataDir, a.embedder, wanted)
	}
	return openPostgres(ctx, postgresOptions(a.config.Postgres, a.embedder, a.logger), wanted)
}

func openEmbedded(ctx context.Context, dir string, embedder embed.Embedder, wanted openMode) (index.Index, error) {
	if wanted == rebuilds {
		if err := embedded.Remove(dir); err != nil {
			return nil, err
		}
	}
	opened, err := embedded.Open(ctx, embedded.Options{
		Dir: dir, Embedder: embedder.Name(), Dimension: embedder.Dimension(), ReadOnly: wanted == reads,
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no index in %s yet: %w, or name its directory with --data", dir, errNoIndex)
	}
	if err != nil {
		return nil, err // and no index of nil
	}
	return opened, nil
}

func openPostgres(ctx context.Context, options postgres.Options, wanted openMode) (index.Index, error) {
	options.ReadOnly, options.Rebuild = wanted == reads, wanted == rebuilds
	opened, err := postgres.Open(ctx, options)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no index in the database of postgres.url yet: %w", errNoIndex)
	}
	if err != nil {
		return nil, err
	}
	if wanted == rebuilds {
		if err := opened.Clear(ctx); err != nil {
			//nolint:contextcheck // the lock is given back even if ctx has ended
			return nil, errors.Join(err, opened.Close())
		}
	}
	return opened, nil
}

// postgresOptions says how the configured database is used. Without an embedder the
// options serve migrations alone.
func postgresOptions(configured config.Postgres, embedder embed.Embedder, logger *slog.Logger) postgres.Options {
	options := postgres.Options{
		URL: configured.URL.Reveal(), ReadURL: configured.Read.URL.Reveal(),
		Connections: configured.Connections, Statement: configured.Statement, BuildMemory: configured.BuildMemory,
		PlainQueries: configured.QueryLog == config.QueriesPlain, KeepQueries: time.Duration(configured.QueryDays) * 24 * time.Hour,
		Logger: logger,
	}
	if embedder != nil {
		options.Embedder, options.Dimension = embedder.Name(), embedder.Dimension()
	}
	return options
}
