// Package ingest brings a source's documents into an index: connect, parse, chunk
// and write, then embed what has no vectors yet. Text can be searched as soon as it
// is written; vectors follow. Every stage is bounded, and an ingest that is killed
// goes on where it was: what is written is not read again, what is embedded is not
// embedded again.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/chunk"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

const (
	batchPassages = 512              // passages written in one transaction
	batchWait     = 2 * time.Second  // a batch is written at the latest after this
	parseTimeout  = 60 * time.Second // for one document, or the first parts of a large one

	// More documents than a fifth of a source are not removed at once, unless they are few.
	heldShare = 5
	heldLeast = 10
)

// Ingester reads sources into one index.
type Ingester struct {
	Index    index.Index
	Embedder embed.Embedder // nil: no vectors are made
	Limits   parse.Limits   // of one document; zero values are parse's defaults
	Chunk    chunk.Options
	// Recognizer reads pictures and scans; nil: they are not read.
	Recognizer parse.Recognizer
	// Prune removes what is gone at the source however much it is.
	Prune bool
	// Readers is how many documents are parsed at once; 0 means one for each processor.
	Readers int
	// Observe is told how far the ingest is, at most some times a second and never
	// concurrently. May be nil.
	Observe func(Progress)
	Now     func() time.Time // nil: time.Now
}

// Phase is what an ingest is doing.
type Phase string

// Reading makes text searchable; embedding adds the vectors.
const (
	Reading   Phase = "reading"
	Embedding Phase = "embedding"
)

// Progress is how far an ingest is.
type Progress struct {
	Phase     Phase
	Documents int // looked at
	Total     int // documents to look at, 0 when not known
	Passages  int // written while reading; embedded while embedding
	Pending   int // passages still to be embedded, while embedding
}

// Failure is a document that could not be read, and why.
type Failure struct {
	Path   string
	Reason error
}

// Report is what one sync of a source did.
type Report struct {
	Added, Updated, Unchanged, Deleted int // documents
	Drafts                             int // documents left out, for they are not to be published yet
	// Held is how many documents are gone at the source and were not removed: they are more
	// than a fifth of it, which a listing that went wrong looks like. Ingester.Prune removes them.
	Held     int
	Passages int // written
	Embedded int // passages given vectors, of any source
	Failures []Failure
	Took     time.Duration
}

// Sync brings the index up to date with a source and embeds what has no vectors. The
// report is true also when an error is returned: what it counts is in the index.
func (in *Ingester) Sync(ctx context.Context, connector connect.Connector) (Report, error) {
	started := in.now()
	sync := &syncing{Ingester: in, source: connector.Source(), began: started, known: connect.Known{}, audiences: make(map[knowledge.DocumentID]knowledge.Audience), memory: newMemory()}
	err := sync.saveBegin(ctx)
	if err == nil {
		err = sync.readSource(ctx, connector)
	}
	if err == nil {
		err = in.embedAll(ctx, &sync.report)
	}
	sync.report.Took = in.now().Sub(started)
	err = errors.Join(err, sync.saveEnd(ctx, err))
	if err != nil {
		return sync.report, fmt.Errorf("ingest %s: %w", connector.Source(), err)
	}
	return sync.report, nil
}

// Embed gives vectors to every passage that has none and returns how many it did.
func (in *Ingester) Embed(ctx context.Context) (int, error) {
	var report Report
	err := in.embedAll(ctx, &report)
	return report.Embedded, err
}

func (in *Ingester) now() time.Time {
	if in.Now != nil {
		return in.Now()
	}
	return time.Now()
}

// syncing is one Sync under way. Its fields are touched by the writing goroutine
// alone, known by the connector before that.
type syncing struct {
	*Ingester
	source knowledge.SourceID
	began  time.Time
	known  connect.Known
	// audiences are whom the documents in the index are for.
	audiences map[knowledge.DocumentID]knowledge.Audience
	total     int
	looked    int
	batch     index.Batch
	held      int // passages in batch
	gone      []knowledge.DocumentID
	unlisted  error // why the source was not listed to its end
	attempts  int   // that did not end well, this one included
	report    Report
	memory    *memory
}

// outcome is a change after parsing: an entry to write, or why there is none.
type outcome struct {
	change connect.Change
	entry  index.Entry
	large  *largeDocument // of whose passages the entry has the first alone; nil: it has them all
	draft  bool           // left out, for it is not to be published yet
	failed error
}

func (s *syncing) readSource(ctx context.Context, connector connect.Connector) error {
	for document, err := range s.Index.Documents(ctx, s.source) {
		if err != nil {
			return fmt.Errorf("list what is indexed: %w", err)
		}
		s.known[document.ID] = document.Hash
		s.audiences[document.ID] = document.Audience.OrPublic()
	}
	if estimator, ok := connector.(connect.Estimator); ok {
		total, err := estimator.Estimate(ctx)
		if err != nil {
			return err
		}
		s.total = total
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	outcomes := s.startReaders(ctx, connector)
	err := s.writeBatches(ctx, outcomes)
	if err != nil {
		stop(err)
	}
	for range outcomes { // the readers end once nobody waits for room
	}
	if err := cmp.Or(err, s.unlisted, context.Cause(ctx)); err != nil {
		return err
	}
	return s.removeGone(ctx)
}

// removeGone removes what the source no longer has, after it was listed to its end. Very many
// documents at once are left for a person to confirm.
func (s *syncing) removeGone(ctx context.Context) error {
	if len(s.gone) >= heldLeast && len(s.gone)*heldShare > len(s.known) && !s.Prune {
		s.report.Held = len(s.gone)
		return nil
	}
	for some := range slices.Chunk(s.gone, batchPassages) {
		if err := s.Index.Write(ctx, index.Batch{Delete: some}); err != nil {
			return err
		}
		s.report.Deleted += len(some)
	}
	return nil
}

// startReaders lists the source in one goroutine and parses in some more. The
// channel closes when all of them have ended; then s.unlisted is set.
func (s *syncing) startReaders(ctx context.Context, connector connect.Connector) <-chan outcome {
	workers := cmp.Or(s.Readers, runtime.GOMAXPROCS(0))
	changes := make(chan connect.Change, workers)
	outcomes := make(chan outcome, workers)
	var readers sync.WaitGroup
	readers.Go(func() {
		defer close(changes)
		for change, err := range connector.Sync(ctx, s.known) {
			if err != nil {
				s.unlisted = err
				return
			}
			size := len(change.Content)
			if s.memory.reserve(ctx, size) != nil {
				return
			}
			select {
			case changes <- change:
			case <-ctx.Done():
				return
			}
			if s.memory.awaitLarge(ctx, size) != nil {
				return
			}
		}
	})
	for range workers {
		readers.Go(func() {
			for change := range changes {
				select {
				case outcomes <- s.parseChange(ctx, &change):
				case <-ctx.Done():
				}
			}
		})
	}
	go func() {
		readers.Wait()
		close(outcomes)
	}()
	return outcomes
}

// parseChange takes the content out of the change: it may be large. Of a document that is read in
// parts the first is read here, and the others where they are written.
func (s *syncing) parseChange(ctx context.Context, change *connect.Change) outcome {
	if change.Kind != connect.Upserted {
		return outcome{change: *change, failed: change.Reason}
	}
	document := change.Document
	large := &largeDocument{syncing: s, ctx: ctx, size: len(change.Content), source: parse.Document{
		MediaType: change.MediaType, Name: document.Path, Content: change.Content, Links: change.Link, Recognizer: s.Recognizer,
	}}
	change.Content = nil
	text, more, err := large.readFirst(ctx)
	if !more || text.Draft {
		s.memory.release(large.size)
	}
	if err != nil {
		return outcome{change: *change, failed: err}
	}
	if text.Draft {
		return outcome{change: *change, draft: true}
	}
	if document.Title == "" {
		document.Title = text.Title
	}
	if document.Owner == "" {
		document.Owner = text.Owner
	}
	if document.Language == "" {
		document.Language = languageOf(text)
	}
	document.Indexed = s.now()
	document.LastSeen = document.Indexed
	document.State = knowledge.StateLive
	read := outcome{change: *change, entry: index.Entry{Document: document, Passages: chunk.Passages(document, text, s.Chunk)}}
	if more {
		large.document, large.first = document, len(read.entry.Passages)
		read.large, read.entry.Rest = large, large.readRest
	}
	return read
}

// writeBatches collects outcomes into batches. What a person waits for is text that can be
// searched, so a batch is also written when it has waited long.
func (s *syncing) writeBatches(ctx context.Context, outcomes <-chan outcome) error {
	wait := time.NewTicker(batchWait)
	defer wait.Stop()
	for {
		select {
		case o, ok := <-outcomes:
			if !ok {
				return s.flushBatch(ctx)
			}
			if o.large != nil {
				var err error
				if o, err = s.writeLarge(ctx, o); err != nil {
					return err
				}
			}
			s.addOutcome(o)
			s.reportProgress(Progress{Phase: Reading, Documents: s.looked, Total: s.total, Passages: s.report.Passages + s.held})
			if s.held >= batchPassages {
				if err := s.flushBatch(ctx); err != nil {
					return err
				}
			}
		case <-wait.C:
			if err := s.flushBatch(ctx); err != nil {
				return err
			}
		}
	}
}

// addOutcome adds one outcome to the batch and to the report.
func (s *syncing) addOutcome(o outcome) {
	document := o.change.Document
	_, ok := s.known[document.ID]
	switch {
	case o.change.Kind == connect.Deleted:
		s.gone = append(s.gone, document.ID)
		return
	case o.change.Kind == connect.Unchanged:
		document.LastSeen = s.now()
		s.batch.Seen = append(s.batch.Seen, document)
		s.report.Unchanged++
	case o.draft:
		s.report.Drafts++
		if ok {
			s.batch.Delete = append(s.batch.Delete, document.ID)
		}
	case o.failed != nil:
		s.report.Failures = append(s.report.Failures, Failure{Path: document.Path, Reason: o.failed})
		// What was there before is no longer what the document says. One that can't
		// be opened may still say it, so its text stays, unless it is for others now.
		if ok && (o.change.Kind == connect.Upserted || s.audiences[document.ID] != document.Audience.OrPublic()) {
			s.batch.Delete = append(s.batch.Delete, document.ID)
		}
	case ok:
		s.report.Updated++
		s.putEntry(o)
	default:
		s.report.Added++
		s.putEntry(o)
	}
	s.looked++
}

// putEntry adds a document to the batch, unless it was written by itself.
func (s *syncing) putEntry(o outcome) {
	if o.large == nil {
		s.batch.Put = append(s.batch.Put, o.entry)
		s.held += len(o.entry.Passages)
	}
}

func (s *syncing) flushBatch(ctx context.Context) error {
	if len(s.batch.Put)+len(s.batch.Delete)+len(s.batch.Seen) == 0 {
		return nil
	}
	if err := s.Index.Write(ctx, s.batch); err != nil {
		return err
	}
	s.report.Passages += s.held
	s.batch, s.held = index.Batch{}, 0
	return nil
}

func (in *Ingester) reportProgress(progress Progress) {
	if in.Observe != nil {
		in.Observe(progress)
	}
}
