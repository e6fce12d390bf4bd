// Package engine is the index that both databases run: what a passage's words become, how
// posting lists are stored and merged, how passages are scored, how documents replace one
// another. A backend brings a [Database], which runs the statements that SQLite and PostgreSQL
// share, and the [Vectors], which each of them searches in its own way.
//
// The database holds everything. Posting lists are kept in segments that never change: a write
// adds one, and now and then some are merged. A search fetches the lists of its words and
// scores passages exactly. What it needs of each passage on them (class and length, 8 bytes) it
// reads from blocks of 4,096 passages, of which a process keeps the last 32 MB; what it keeps
// besides are the classes of documents, the totals, and a generation for each block, by which it
// learns which ones have changed. So the memory of a process does not grow with the passages.
// The words of the index are kept as well, from the first one that was spelled wrong.
//
// Reading order: database.go, write.go, round.go, rows.go, analysis.go, posting.go, segment.go, merge.go, block.go,
// snapshot.go, search.go, score.go.
package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Options say what an index is over.
type Options struct {
	Database Database
	Vectors  Vectors
	// VectorTable has a row of each passage that has its vectors, by slot.
	VectorTable string
	Embedder    int // row of the table embedder
	Dimension   int // of vectors
}

// Index is an index.Index but for Close, an index.Speller and an index.IngestStates.
type Index struct {
	options Options
	// PageSize is how many bytes a page of posting lists has before the next begins.
	PageSize int

	refreshing sync.Mutex // held to make the next snapshot
	snapshot   atomic.Pointer[snapshot]
	blocks     blockCache
	dictionary dictionary
}

const defaultPageSize = 1500

// New makes an index of a database that has its tables.
func New(options Options) *Index {
	return &Index{options: options, PageSize: defaultPageSize, blocks: blockCache{limit: maxBlockBytes}}
}

// ErrReadOnly is what a Database that was opened for reading gives to those who write.
var ErrReadOnly = errors.New("index is open for reading only")

// ErrMoved says that memory has a later generation than a transaction: the read is tried again.
var ErrMoved = errors.New("index changed under a read")

// ErrDamaged says that stored bytes are not what was written.
var ErrDamaged = errors.New("damaged index: build it anew with `cairn ingest --rebuild`")

// read runs a read with the snapshot of its transaction's generation.
func (x *Index) read(ctx context.Context, use func(tx Tx, snap *snapshot) error) error {
	for {
		err := x.options.Database.Read(ctx, func(tx Tx) error {
			snap, err := x.loadSnapshot(ctx, tx)
			if err != nil {
				return err
			}
			return use(tx, snap)
		})
		if !errors.Is(err, ErrMoved) {
			return err
		}
	}
}
