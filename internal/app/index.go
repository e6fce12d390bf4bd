package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/relay"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/index/postgres"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/pages"
)

// IndexMode is what is done to the index.
type IndexMode int

// The modes.
const (
	ReadIndex    IndexMode = iota
	ServeIndex             // reads, and makes an empty index where there is none
	WriteIndex             // by one process at a time
	RebuildIndex           // writes, after all that was there is thrown away
)

// Library is what was read in: the index, and what makes the vectors of questions to it.
type Library struct {
	Setup
	Index    index.Index
	Embedder embed.Embedder
	Written  *pages.Library // that people write; nil: none
	Channels *Channels      // that may be sources; nil: none is read here

	relays  *relay.Pool      // of running apps that may be asked
	browser *browser.Browser // that looks at web pages; nil: none may be looked at
	live    *liveSearches    // of servers that are asked while questions are answered

	recognizer *Recognizer // of text in pictures
}

// OpenLibrary opens the configured index: in PostgreSQL where a database is named, else in the
// data directory.
func OpenLibrary(ctx context.Context, setup Setup, mode IndexMode) (*Library, error) {
	embedder, err := openEmbedder(ctx, setup)
	if err != nil {
		return nil, err
	}
	relays, err := openRelays(setup.Config.Inspect)
	if err != nil {
		return nil, err
	}
	looker, err := openBrowser(setup.Config.Inspect)
	if err != nil {
		return nil, err
	}
	l := &Library{Setup: setup, Embedder: embedder, relays: relays, browser: looker}
	l.live = newLiveSearches(l)
	l.recognizer = NewRecognizer(setup.Config.OCR)
	prepare := closeDataDir
	if mode != ReadIndex || !setup.Config.Postgres.URL.IsZero() {
		prepare = makeDataDir
	}
	if err := prepare(ctx, setup.Config.DataDir, setup.Logger); err != nil {
		return nil, err
	}
	if l.Index, err = l.openIndex(ctx, mode); err != nil {
		return nil, err
	}
	return l, nil
}

// Close releases the index.
func (l *Library) Close() error {
	l.live.Close()
	err := errors.Join(l.relays.Close(), l.Index.Close())
	if l.browser != nil {
		err = errors.Join(err, l.browser.Close())
	}
	return err
}

// Retriever finds in the index what viewers may see.
func (l *Library) Retriever() *retrieve.Retriever {
	return &retrieve.Retriever{Index: l.guardedIndex(), Embedder: l.Embedder, Fusion: retrieve.Fusion{
		Method: l.Config.Search.Fusion, Dense: l.Config.Search.DenseWeight,
	}}
}

// Ingester reads documents into the index; observe may be nil.
func (l *Library) Ingester(observe func(ingest.Progress)) *ingest.Ingester {
	return &ingest.Ingester{Index: l.Index, Embedder: l.Embedder, Recognizer: l.recognizer, Observe: observe}
}

// guardedIndex is the index as questions are searched for in it: it shows what their viewers
// may see. All backends can spell.
func (l *Library) guardedIndex() index.Spelling {
	spelling, _ := l.Index.(index.Spelling)
	if l.Written != nil {
		spelling = livePages{spelling, l.Written}
	}
	return l.Telemetry.Index(index.Guard(spelling), l.indexBackend())
}

// indexBackend is what keeps the index.
func (l *Library) indexBackend() string {
	if l.Config.Postgres.URL.IsZero() {
		return "embedded"
	}
	return "postgres"
}

// visibleClasses are the classes of documents that the context's viewers may see.
func (l *Library) visibleClasses(ctx context.Context) ([]index.ClassSummary, error) {
	classes, err := l.Index.Classes(ctx)
	return index.VisibleClasses(classes, knowledge.ViewersFrom(ctx)), err
}

// Collections implements chat.Catalog over the index: each source is a collection of the
// documents that the context's viewers may see.
func (l *Library) Collections(ctx context.Context) ([]chat.Collection, error) {
	visible, err := l.visibleClasses(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the collections: %w", err)
	}
	sources := index.SummarizeSources(visible)
	collections := make([]chat.Collection, len(sources))
	for i, source := range sources {
		collections[i] = chat.Collection{Name: string(source.Source), Documents: source.Documents, Updated: source.LastSeen}
	}
	return collections, nil
}

// listSources lists the sources of the collections.
func (l *Library) listSources(ctx context.Context) ([]knowledge.SourceID, error) {
	collections, err := l.Collections(ctx)
	if err != nil {
		return nil, err
	}
	sources := make([]knowledge.SourceID, len(collections))
	for i, collection := range collections {
		sources[i] = knowledge.SourceID(collection.Name)
	}
	return sources, nil
}

// goneDocuments tells of documents that are not in the index whether they are gone. What a source
// holds that was never read to its end, or is being read, may be about to come; before anything
// was read nothing is known.
func (l *Library) goneDocuments(ctx context.Context) (bot.Gone, error) {
	keeper, ok := l.Index.(index.IngestStates)
	if !ok {
		return isNeverGone, nil
	}
	states, err := keeper.IngestStates(ctx)
	if err != nil || len(states) == 0 {
		return isNeverGone, err
	}
	return func(document string) bool {
		for _, state := range states {
			if connect.IsFrom(knowledge.DocumentID(document), state.Source) && (state.Ended.IsZero() || state.Complete.IsZero()) {
				return false
			}
		}
		return true
	}, nil
}

func isNeverGone(string) bool { return false }

// ErrNoIndex tells that nothing was read in yet.
var ErrNoIndex = errors.New("run `cairn ingest FOLDER` first")

func (l *Library) openIndex(ctx context.Context, mode IndexMode) (index.Index, error) {
	if mode != ServeIndex {
		return l.openExisting(ctx, mode)
	}
	opened, err := l.openExisting(ctx, ReadIndex)
	if !errors.Is(err, ErrNoIndex) {
		return opened, err
	}
	l.Logger.WarnContext(ctx, "there is no index yet: nothing is known until `cairn ingest` has read documents")
	return backoff.Retry(ctx, func() (index.Index, error) { return l.openEmpty(ctx) },
		backoff.WithBackOff(backoff.NewConstantBackOff(emptyPause)), backoff.WithMaxElapsedTime(emptyTime))
}

// Processes that start together have one of them make the index, and wait for it.
const (
	emptyPause = 200 * time.Millisecond
	emptyTime  = 10 * time.Second
)

// openEmpty makes an index with nothing in it, and opens it to be read. Only that another
// process is about to make it is no permanent error to backoff.
func (l *Library) openEmpty(ctx context.Context) (index.Index, error) {
	empty, err := l.openExisting(ctx, WriteIndex)
	if err == nil {
		err = empty.Close()
	}
	if err != nil && !errors.Is(err, index.ErrLocked) {
		return nil, backoff.Permanent(fmt.Errorf("make an empty index: %w", err))
	}
	opened, err := l.openExisting(ctx, ReadIndex)
	if err != nil && !errors.Is(err, ErrNoIndex) {
		return nil, backoff.Permanent(err)
	}
	return opened, err
}

func (l *Library) openExisting(ctx context.Context, mode IndexMode) (index.Index, error) {
	if l.Config.Postgres.URL.IsZero() {
		return openEmbedded(ctx, embedded.Options{
			Dir: l.Config.DataDir, Embedder: l.Embedder.Name(), Dimension: l.Embedder.Dimension(), ReadOnly: mode == ReadIndex, Logger: l.Logger,
		}, mode)
	}
	return openPostgres(ctx, PostgresOptions(l.Config, l.Embedder, l.Logger), mode)
}

func openEmbedded(ctx context.Context, options embedded.Options, mode IndexMode) (index.Index, error) {
	if mode == RebuildIndex {
		if err := embedded.Remove(options.Dir); err != nil {
			return nil, err
		}
	}
	opened, err := embedded.Open(ctx, options)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no index in %s yet: %w, or name its directory with --data", options.Dir, ErrNoIndex)
	}
	if err != nil {
		return nil, err // and no index of nil
	}
	return opened, nil
}

func openPostgres(ctx context.Context, options postgres.Options, mode IndexMode) (index.Index, error) {
	options.ReadOnly, options.Rebuild = mode == ReadIndex, mode == RebuildIndex
	opened, err := postgres.Open(ctx, options)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no index in the database of postgres.url yet: %w", ErrNoIndex)
	}
	if err != nil {
		return nil, err
	}
	if mode == RebuildIndex {
		if err := opened.Clear(ctx); err != nil {
			//nolint:contextcheck // the lock is given back even if ctx has ended
			return nil, errors.Join(err, opened.Close())
		}
	}
	return opened, nil
}

// PostgresOptions says how the configured database is used. Without an embedder the
// options serve migrations alone.
func PostgresOptions(configured config.Config, embedder embed.Embedder, logger *slog.Logger) postgres.Options {
	server, search := configured.Postgres, configured.Search
	options := postgres.Options{
		URL: server.URL.Reveal(), ReadURL: server.Read.URL.Reveal(),
		Connections: server.Connections, Statement: server.Statement, BuildMemory: server.BuildMemory,
		PlainQueries: search.QueryLog == config.QueriesPlain, KeepQueries: keepQueries(search),
		Logger: logger,
	}
	if embedder != nil {
		options.Embedder, options.Dimension = embedder.Name(), embedder.Dimension()
	}
	return options
}
