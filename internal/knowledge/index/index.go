// Package index is the contract of the store that keeps documents, passages and
// vectors and finds passages for a question. The backends are below it; indextest
// is the suite that each of them passes.
package index

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Entry is one document with all its passages, in order of position.
type Entry struct {
	Document knowledge.Document
	Passages []knowledge.Passage
	// Rest yields what follows Passages of a document that is too large to be held whole, some
	// passages at a time. A write may call it more than once, each time from its beginning, and fails
	// with the first error it yields. nil: nothing follows.
	Rest iter.Seq2[[]knowledge.Passage, error]
}

// Batch is a set of changes that become visible together. A document in Put
// replaces the one of the same id with all its passages; a passage whose Hash the
// stored document already had keeps its vectors. Deleting what is not there is no error.
// A batch is refused whole if it names a document twice or a passage has no Hash or
// another ID than knowledge.MakePassageID gives, what Entry.Rest yields included. Times are kept to the microsecond.
type Batch struct {
	Put    []Entry
	Delete []knowledge.DocumentID
	// Seen marks documents as unchanged at their source: only LastSeen is written.
	Seen []knowledge.Document
	// Cursors are advanced in the same transaction as the changes they stand for.
	Cursors map[knowledge.SourceID]string
}

// Vectors are the embeddings of one passage: one or more windows of its text, each
// of the index's dimension and of length 1. None at all says that the passage has
// no text that can be embedded.
type Vectors struct {
	Passage knowledge.PassageID
	Hash    string // the Passage.Hash the vectors were made from; a stale one is ignored
	Windows [][]float32
}

// Term is an analysed word of a question (see lexical.Analyze) and how much it
// counts: 1 for a word the person wrote, less for an expansion; 0 or less is an error.
// A term named twice counts for the sum.
type Term struct {
	Text   string
	Weight float64
}

// Filter restricts a search; the zero Filter lets everything pass that is public. It is
// part of the query, never applied after ranking.
type Filter struct {
	Sources   []knowledge.SourceID
	Kinds     []knowledge.Kind
	Documents []knowledge.DocumentID
	// Viewers are the people who will see what is found: a document passes only if every
	// one of them may read it. It is decided once for each Class, so that its cost grows
	// with them and not with documents. It is never stored: who holds what may change.
	Viewers knowledge.Viewers `json:"-"`
}

// Query asks for candidates by words, by meaning, or by both.
type Query struct {
	Terms  []Term    // empty: no lexical search
	Vector []float32 // of length 1 and of the index's dimension; nil: no dense search
	Filter Filter
	Limit  int // best of each side; 0 means 100
}

// Hit is a passage and its score: BM25 on the lexical side, the cosine of the best
// window on the dense side. Higher is better.
type Hit struct {
	Passage knowledge.PassageID
	Score   float64
	// Unembedded says of a passage found by words, where meaning was asked for too, that
	// it has no vectors yet, so that meaning could not find it.
	Unembedded bool
}

// Candidates are the best of each side, best first; ties by passage id.
type Candidates struct {
	Lexical []Hit
	Dense   []Hit
	// Used are the terms that the index holds and passages were searched by, Pruned
	// those too common to bring a passage in, which only added to scores.
	Used, Pruned []string
}

// TermStats says how common a term is: the number of passages that contain it.
type TermStats struct {
	Term     string
	Passages int
}

// Stats describes the whole index.
type Stats struct {
	Documents int
	Passages  int
	Embedded  int   // passages that have their vectors
	Bytes     int64 // on disk
}

// Found is a stored passage with its document.
type Found struct {
	Document knowledge.Document
	Passage  knowledge.Passage
}

// Writer changes an index. One writer at a time; a call is atomic.
type Writer interface {
	Write(ctx context.Context, batch Batch) error
	// Unembedded gives up to limit passages that have no vectors yet, with their
	// documents, in a stable order.
	Unembedded(ctx context.Context, limit int) ([]Found, error)
	WriteVectors(ctx context.Context, vectors []Vectors) error
	// Cursor is what was last stored for a source, "" at first: how far its sync came,
	// or for a folder where it is.
	Cursor(ctx context.Context, source knowledge.SourceID) (string, error)
}

// Reader looks things up. All methods may be called concurrently with each other
// and with a writer.
type Reader interface {
	Search(ctx context.Context, query Query) (Candidates, error)
	// Passages gives the stored passages of these ids, in the same order; ids that
	// are not there (any more) are left out.
	Passages(ctx context.Context, ids []knowledge.PassageID) ([]Found, error)
	// Documents yields every document of a source ("" for all), ordered by id.
	Documents(ctx context.Context, source knowledge.SourceID) iter.Seq2[knowledge.Document, error]
	// Terms gives the statistics of these terms, in the same order.
	Terms(ctx context.Context, terms []string) ([]TermStats, error)
	// Definitions gives what an abbreviation stands for, most often defined first;
	// letter case does not matter. Only documents that the viewers may see count.
	Definitions(ctx context.Context, short string, viewers knowledge.Viewers) ([]knowledge.Definition, error)
	Stats(ctx context.Context) (Stats, error)
}

// Index is a whole backend.
type Index interface {
	Writer
	Reader
	Catalog
	Close() error
}

// Speller is an optional interface of a Reader: the terms of the index that are
// spelled nearly like one that it does not hold, likeliest first, at most limit.
type Speller interface {
	Similar(ctx context.Context, term string, limit int) ([]TermStats, error)
}

// EmbedderKeeper is an optional interface of an Index that can hold the vectors of several
// embedders, of which it is opened for one.
type EmbedderKeeper interface {
	// DropOtherEmbedders removes the vectors of all others, and says of how many embedders
	// they were. It fails while any passage lacks its vectors.
	DropOtherEmbedders(ctx context.Context) (int, error)
}

// QueryRecord is one question as a query log keeps it.
type QueryRecord struct {
	At       time.Time
	Run      string // the run that answered it
	Question string // what was searched for
	Lexical  int    // candidates found by words
	Dense    int    // candidates found by meaning
	Shown    int    // documents shown to the person
	Search   time.Duration
	Total    time.Duration
}

// QueryLog keeps the questions that were asked, for a limited time. An Index on a server is
// one itself, also where it is open for reading; see querylog for the others.
type QueryLog interface {
	// LogQuery adds a row. A run that is logged again keeps its last row alone.
	LogQuery(ctx context.Context, record QueryRecord) error
	// ForgetQueries removes what is logged of these runs, and says of how many it was.
	ForgetQueries(ctx context.Context, runs []string) (int, error)
}

// Errors that callers branch on. Backends wrap them with the name of the thing and
// the remedy.
var (
	// ErrLocked: another process has the index open for writing.
	ErrLocked = errors.New("index is in use by another process")
	// ErrEmbedder: the index was built with another embedder or dimension.
	ErrEmbedder = errors.New("index was built with another embedder")
	// ErrSchema: the index has a schema this program does not know.
	ErrSchema = errors.New("index has an unknown schema")
	// ErrFull: the disk has no room left.
	ErrFull = errors.New("no space left for the index")
)
