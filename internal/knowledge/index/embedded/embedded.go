// Package embedded is the index in one SQLite file: no server, no C compiler.
//
// The file holds everything; what every search needs is also kept in memory as an
// immutable snapshot (where each passage stands and how long it is, the sign bits
// of each vector), loaded by Open and brought up to date from the file by the
// first search after a change, no matter which process made it. Text is found
// through posting lists of our own, scored exactly; vectors by the Hamming distance
// of their sign bits, the nearest scored exactly from the file. Reading order:
// schema.go, write.go, postings.go, snapshot.go, search.go, lexical.go, dense.go.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"

	"cairn/internal/knowledge/index"
	"cairn/internal/sqlite"
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
}

// Index is an index.Index and an index.Speller over one SQLite file.
type Index struct {
	path      string
	dimension int

	lock    *flock.Flock // nil when read-only
	write   *sql.DB      // one connection; nil when read-only
	read    *sql.DB
	writing sync.Mutex

	refreshing sync.Mutex // held to make the next snapshot
	snapshot   atomic.Pointer[snapshot]

	dictionary dictionary
}

var (
	_ index.Index   = (*Index)(nil)
	_ index.Speller = (*Index)(nil)
)

var errReadOnly = errors.New("index is open for reading only")

// Open opens the index in a directory, making it if there is none, and loads what
// searches keep in memory. It fails with index.ErrLocked, index.ErrEmbedder or
// index.ErrSchema, and with fs.ErrNotExist if read-only and nothing is there.
func Open(ctx context.Context, options Options) (*Index, error) {
	if options.Dir == "" || options.Embedder == "" || options.Dimension < 1 {
		return nil, fmt.Errorf("open index: need a directory, an embedder and its dimension, got %q, %q and %d",
			options.Dir, options.Embedder, options.Dimension)
	}
	x := &Index{path: filepath.Join(options.Dir, fileName), dimension: options.Dimension}
	if err := x.openFile(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("open index in %s: %w", options.Dir, err), x.Close())
	}
	return x, nil
}

func (x *Index) openFile(ctx context.Context, options Options) error {
	if options.ReadOnly {
		if _, err := os.Stat(x.path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no index yet, run `cairn ingest` first: %w", err)
		} else if err != nil {
			return err
		}
	} else if err := x.openForWriting(ctx, options); err != nil {
		return err
	}
	read, err := sqlite.OpenExisting(x.path, "mode=ro&_pragma=busy_timeout(10000)&_pragma=cache_size(-16000)")
	if err != nil {
		return err
	}
	x.read = read
	x.read.SetMaxOpenConns(maxReaders)
	x.read.SetMaxIdleConns(maxReaders)
	if err := checkMeta(ctx, x.read, options); err != nil {
		return err
	}
	return x.readSnapshot(ctx, func(*sql.Tx, *snapshot) error { return nil })
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
	write, err := sqlite.Open(x.path, "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=synchronous(normal)"+
		"&_pragma=cache_size(-32000)&_pragma=temp_store(memory)&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(67108864)")
	if err != nil {
		return err
	}
	x.write = write
	x.write.SetMaxOpenConns(1)
	return createSchema(ctx, x.write, options)
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
	for _, db := range []*sql.DB{x.read, x.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if x.lock != nil {
		errs = append(errs, x.lock.Unlock())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close index %s: %w", x.path, err)
	}
	return nil
}
