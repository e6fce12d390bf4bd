package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/chunk"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

const (
	contentBytes = 16 << 20 // of documents that are read at once, but for one that is larger
	largeBytes   = 4 << 20  // a document from this size on is read while no other one is fetched
	largeTimeout = 10 * time.Minute
)

// memory bounds the content of documents that were fetched and are not written yet.
type memory struct{ free *semaphore.Weighted }

func newMemory() *memory { return &memory{free: semaphore.NewWeighted(contentBytes)} }

// reserve waits until there is room for the content of a document, which release gives back.
func (m *memory) reserve(ctx context.Context, size int) error {
	return m.free.Acquire(ctx, int64(min(size, contentBytes)))
}

func (m *memory) release(size int) { m.free.Release(int64(min(size, contentBytes))) }

// awaitLarge waits, where a document was large, until nothing is reserved any more: the next one is
// not fetched beside it.
func (m *memory) awaitLarge(ctx context.Context, size int) error {
	if size < largeBytes {
		return nil
	}
	if err := m.reserve(ctx, contentBytes); err != nil {
		return err
	}
	m.release(contentBytes)
	return nil
}

// largeDocument is a document that is read in parts: the first to know what it is, all of them while
// they are written, so that they are never held together.
type largeDocument struct {
	*syncing
	ctx      context.Context //nolint:containedctx // of the sync
	size     int
	source   parse.Document
	document knowledge.Document
	first    int // passages of the first part
	passages int // of all parts that were read the last time
}

// unreadError says that a document could not be read to its end.
type unreadError struct{ reason error }

func (e *unreadError) Error() string { return e.reason.Error() }

// Unwrap returns the reason.
func (e *unreadError) Unwrap() error { return e.reason }

// explainTimeout says so where a document was not read to its end because that took too long.
func explainTimeout(ctx context.Context, err error, limit time.Duration) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("reading it took longer than %s: split it, or read it while the machine does less: %w", limit, err)
	}
	return err
}

// readFirst reads the first part, and whether there are more.
func (l *largeDocument) readFirst(ctx context.Context) (text parse.Text, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	for part, err := range parse.Parts(ctx, l.source, l.Limits) {
		if err != nil {
			return parse.Text{}, false, explainTimeout(ctx, err, parseTimeout)
		}
		if text.Title != "" {
			return text, true, nil
		}
		text = part
	}
	return text, false, nil
}

// readRest yields the passages of all parts but the first. It implements index.Entry.Rest.
func (l *largeDocument) readRest(yield func([]knowledge.Passage, error) bool) {
	ctx, cancel := context.WithTimeout(l.ctx, largeTimeout)
	defer cancel()
	l.passages = l.first
	first := true
	for part, err := range parse.Parts(ctx, l.source, l.Limits) {
		if err != nil {
			yield(nil, &unreadError{reason: explainTimeout(ctx, err, largeTimeout)})
			return
		}
		if first {
			first = false
			continue
		}
		passages := chunk.PassagesFrom(l.passages, l.document, part, l.Chunk)
		l.passages += len(passages)
		if !yield(passages, nil) {
			return
		}
	}
}

// writeLarge writes a document that is read in parts, by itself: what turns out not to be readable
// leaves other documents as they are, and failed says why.
func (s *syncing) writeLarge(ctx context.Context, o outcome) (outcome, error) {
	if err := s.flushBatch(ctx); err != nil {
		return o, err
	}
	defer s.memory.release(o.large.size)
	err := s.Index.Write(ctx, index.Batch{Put: []index.Entry{o.entry}})
	var unread *unreadError
	if errors.As(err, &unread) && ctx.Err() == nil {
		return outcome{change: o.change, failed: unread.reason}, nil
	}
	if err != nil {
		return o, err
	}
	s.report.Passages += o.large.passages
	return o, nil
}
