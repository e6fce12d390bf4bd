// Package postgres is the index in PostgreSQL with pgvector, for knowledge that
// outgrows one file or is searched by several processes.
//
// Documents, passages and posting lists are the business of package engine, which this package
// gives the server as its database. Vectors are half floats in one table for
// each embedder, searched exactly while few pass the filter and by HNSW indexes
// beyond: one of what everybody may read, one of the rest. Reading order: migrations,
// connect.go, database.go, vectors.go, dense.go.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

// maxDimension is what pgvector can index of half floats.
const maxDimension = 4000

const (
	defaultConnections = 8
	defaultStatement   = 10 * time.Second
	defaultBuildMemory = 512 << 20
	defaultKeepQueries = 30 * 24 * time.Hour
)

// Options say which index to open and for which embedder.
type Options struct {
	// URL is the server and database, "postgres://user@host:5432/database"; what pgx
	// takes as parameters it may hold too. A writer needs a connection that stays one
	// session: not through a pooler that gives out transactions.
	URL string
	// ReadURL, if set, is a replica that the searches and look-ups of a reader go to. It
	// may be behind: what it shows is as of one moment.
	ReadURL   string
	Embedder  string // embed.Embedder.Name
	Dimension int    // embed.Embedder.Dimension
	// ReadOnly opens without the writer's lock, beside a process that writes. Write,
	// WriteVectors and a database without an index are errors then.
	ReadOnly bool
	// Rebuild opens an index that another version of this program analysed, too, of which
	// nothing but Clear may be used then.
	Rebuild bool

	Connections int           // open to a server at most; 0 means 8
	Statement   time.Duration // limit of one look-up; 0 means 10 s
	BuildMemory int64         // bytes of the server's memory to build a vector index in; 0 means 512 MiB
	// PlainQueries keeps questions in the query log as they were searched for; else their
	// hashes alone.
	PlainQueries bool
	KeepQueries  time.Duration // how long the query log keeps a row; 0 means 30 days
	Logger       *slog.Logger
}

func (o Options) validate() error {
	switch {
	case o.URL == "" || o.Embedder == "":
		return fmt.Errorf("need a URL and an embedder, got %d characters and %q", len(o.URL), o.Embedder)
	case o.Dimension < 1 || o.Dimension > maxDimension:
		return fmt.Errorf("embedder %s has %d dimensions; PostgreSQL indexes 1 to %d: choose another embedder or have it give fewer",
			o.Embedder, o.Dimension, maxDimension)
	case o.Connections < 0 || o.Statement < 0 || o.BuildMemory < 0 || o.KeepQueries < 0:
		return errors.New("a limit is below 0")
	case o.Logger == nil:
		return errors.New("need a logger")
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Connections == 0 {
		o.Connections = defaultConnections
	}
	if o.Statement == 0 {
		o.Statement = defaultStatement
	}
	if o.BuildMemory == 0 {
		o.BuildMemory = defaultBuildMemory
	}
	if o.KeepQueries == 0 {
		o.KeepQueries = defaultKeepQueries
	}
	return o
}

// Index is an index.Index and an index.Speller over a PostgreSQL database. A read that
// loses its connection is tried again, and so is a write, which changes nothing twice.
type Index struct {
	*engine.Index

	options  Options
	embedder embedder

	primary *pgxpool.Pool
	read    *pgxpool.Pool // primary, unless there is a replica

	writer  writerSession
	vectors *vectors

	dropped atomic.Int64 // hour in which old rows of the query log were dropped last
}

// exactPassages is how many passages a search by vectors scores exactly; more go through HNSW.
const exactPassages = 20_000

var (
	_ index.Index          = (*Index)(nil)
	_ index.Speller        = (*Index)(nil)
	_ index.IngestStates   = (*Index)(nil)
	_ index.QueryLog       = (*Index)(nil)
	_ index.EmbedderKeeper = (*Index)(nil)
)

// Open opens the index of a database that Migrate has prepared. It fails with
// index.ErrLocked, with index.ErrSchema, and if read-only with index.ErrEmbedder where
// the embedder has no vectors yet while another has, and with fs.ErrNotExist where
// nothing was ever written.
func Open(ctx context.Context, options Options) (*Index, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	x := &Index{options: options.withDefaults(), writer: writerSession{url: options.URL}}
	if err := x.openPool(ctx); err != nil {
		//nolint:contextcheck // the lock is given back even if ctx has ended
		return nil, errors.Join(fmt.Errorf("open index in PostgreSQL: %w", explainError(err)), x.Close())
	}
	return x, nil
}

func (x *Index) openPool(ctx context.Context) error {
	err := checkDatabase(ctx, x.options)
	if err != nil {
		return err
	}
	if !x.options.ReadOnly {
		if err := x.openForWriting(ctx); err != nil {
			return err
		}
	}
	if x.primary, err = newPool(ctx, x.options, x.options.URL); err != nil {
		return err
	}
	x.read = x.primary
	if x.options.ReadURL != "" && x.options.ReadOnly {
		if err := x.openReplica(ctx); err != nil {
			return fmt.Errorf("read replica: %w", explainError(err))
		}
	}
	if x.options.ReadOnly {
		if x.embedder, err = findEmbedder(ctx, x.read, x.options); err != nil {
			return err
		}
	}
	db := &server{read: x.read}
	if !x.options.ReadOnly {
		db.writer = &x.writer
	}
	x.vectors = &vectors{embedder: x.embedder, exact: exactPassages}
	x.Index = engine.New(engine.Options{
		Database: db, Vectors: x.vectors, VectorTable: strings.TrimPrefix(x.embedder.table, "cairn."),
		Embedder: x.embedder.id, Dimension: x.options.Dimension,
	})
	return db.Read(ctx, func(tx engine.Tx) error { return x.checkAnalysis(ctx, transactionOf(tx)) })
}

// longestKey is the limit of PostgreSQL's index on a document's id, less some room.
const longestKey = 2600

// Write makes a batch visible as a whole, or not at all.
func (x *Index) Write(ctx context.Context, batch index.Batch) error {
	for id := range batch.Named() {
		if len(id) > longestKey {
			return fmt.Errorf("write to index: the id of document %.60q… has %d bytes, %d are the most", id, len(id), longestKey)
		}
	}
	return x.Index.Write(ctx, batch)
}

// WriteVectors stores the vectors of passages that still are what they were made from, all at
// once. When no passage lacks them any more, the HNSW index is built, if one is due.
func (x *Index) WriteVectors(ctx context.Context, vectors []index.Vectors) error {
	if err := x.Index.WriteVectors(ctx, vectors); err != nil {
		return err
	}
	if err := x.buildIfDue(ctx); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	return nil
}

func (x *Index) openReplica(ctx context.Context) error {
	replica := x.options
	replica.URL = x.options.ReadURL
	if err := checkDatabase(ctx, replica); err != nil {
		return err
	}
	var err error
	x.read, err = newPool(ctx, replica, replica.URL)
	return err
}

func (x *Index) openForWriting(ctx context.Context) error {
	if err := x.writer.acquireLock(ctx); err != nil {
		return err
	}
	return x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		var err error
		if x.embedder, err = addEmbedder(ctx, tx, x.options); err != nil {
			return err
		}
		return markAnalysis(ctx, tx)
	})
}

// Close ends the index. Searches and writes under way end first.
func (x *Index) Close() error {
	if x.read != nil && x.read != x.primary {
		x.read.Close()
	}
	if x.primary != nil {
		x.primary.Close()
	}
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	if err := x.writer.releaseLock(); err != nil {
		return fmt.Errorf("close index in PostgreSQL: %w", err)
	}
	return nil
}
