// Package embedded is the index in one SQLite file: no server, no C compiler.
//
// Documents, passages and posting lists are the business of package engine, which this package
// gives the file as its database. Vectors are found by the Hamming distance of their sign bits,
// which are kept in memory, the nearest of them scored exactly from the file. Reading order:
// schema.go, database.go, vectors.go, dense.go.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

const (
	fileName = "index.db"
	lockName = "index.lock"
)

// maxReaders is how many searches run at once; more of them wait.
const maxReaders = 4

// Options say which index to open and what it must have been built with.
type Options struct {
	Dir       string // data directory; made if it is not there
	Embedder  string // embed.Embedder.Name
	Dimension int    // embed.Embedder.Dimension
	// ReadOnly opens without the lock, beside a process that writes. Write,
	// WriteVectors and a Dir without an index are errors then.
	ReadOnly bool
	Logger   *slog.Logger // told when a file of a former version is converted; nil: nobody is
}

// Index is an index.Index, an index.Speller and an index.IngestStates over one SQLite file.
type Index struct {
	*engine.Index

	db   database
	lock *flock.Flock // nil when read-only
}

var (
	_ index.Index        = (*Index)(nil)
	_ index.Speller      = (*Index)(nil)
	_ index.IngestStates = (*Index)(nil)
)

// Open opens the index in a directory, making it if there is none, and converting one of a
// former version. It fails with index.ErrLocked, index.ErrEmbedder or
// index.ErrSchema, and with fs.ErrNotExist if read-only and nothing is there.
func Open(ctx context.Context, options Options) (*Index, error) {
	if options.Dir == "" || options.Embedder == "" || options.Dimension < 1 {
		return nil, fmt.Errorf("open index: need a directory, an embedder and its dimension, got %q, %q and %d",
			options.Dir, options.Embedder, options.Dimension)
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	x := &Index{db: database{path: filepath.Join(options.Dir, fileName)}}
	if err := x.openFile(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("open index in %s: %w", options.Dir, err), x.Close())
	}
	return x, nil
}

func (x *Index) openFile(ctx context.Context, options Options) error {
	if options.ReadOnly {
		if _, err := os.Stat(x.db.path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no index yet, run `cairn ingest` first: %w", err)
		} else if err != nil {
			return err
		}
	} else if err := x.openForWriting(ctx, options); err != nil {
		return err
	}
	read, err := sqlite.OpenExisting(x.db.path, "mode=ro&_pragma=busy_timeout(10000)&_pragma=cache_size(-16000)")
	if err != nil {
		return err
	}
	x.db.read = read
	x.db.read.SetMaxOpenConns(maxReaders)
	x.db.read.SetMaxIdleConns(maxReaders)
	if options.ReadOnly {
		if err := x.convertFormer(ctx, options); err != nil {
			return err
		}
	}
	if err := checkMeta(ctx, x.db.read, options); err != nil {
		return err
	}
	x.Index = engine.New(engine.Options{
		Database: &x.db, Vectors: &vectors{dimension: options.Dimension}, VectorTable: "sign",
		Embedder: embedderID, Dimension: options.Dimension,
	})
	return nil
}

func (x *Index) openForWriting(ctx context.Context, options Options) error {
	if err := os.MkdirAll(options.Dir, 0o700); err != nil {
		return err
	}
	lock, err := acquireLock(options.Dir)
	if err != nil {
		return err
	}
	x.lock = lock
	write, err := sqlite.Open(x.db.path, "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=synchronous(normal)"+
		"&_pragma=temp_store(memory)&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(67108864)")
	if err != nil {
		return err
	}
	x.db.write = write
	x.db.write.SetMaxOpenConns(1)
	if err := x.prepareSchema(ctx, options); err != nil {
		return err
	}
	// Only now is the size of pages known: with another one the cache of a transaction grows without bound.
	if _, err := x.db.write.ExecContext(ctx, "PRAGMA cache_size = -32000"); err != nil { // KiB
		return fmt.Errorf("bound the cache: %w", explainError(err))
	}
	return nil
}

// acquireLock takes the writer's lock of a data directory; the system releases it when
// the process ends in any way.
func acquireLock(dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, lockName))
	free, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	if !free {
		return nil, fmt.Errorf("%w: wait until the other `cairn` that uses %s ends, or stop it, or give this one its own data directory",
			index.ErrLocked, dir)
	}
	return lock, nil
}

// Remove deletes the index in a directory, to build it anew. It fails with
// index.ErrLocked while a process has it open for writing. What is not there is no error.
func Remove(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := acquireLock(dir)
	if err != nil {
		return fmt.Errorf("remove index in %s: %w", dir, err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(dir, fileName+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("remove index in %s: %w", dir, err), lock.Unlock())
		}
	}
	return lock.Unlock()
}

// Close ends the index. Searches and writes under way end first.
func (x *Index) Close() error {
	var errs []error
	for _, db := range []*sql.DB{x.db.read, x.db.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if x.lock != nil {
		errs = append(errs, x.lock.Unlock())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close index %s: %w", x.db.path, err)
	}
	return nil
}
