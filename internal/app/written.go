package app

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagesource"
)

// pagesPlace is where the source of pages says to be: see claimSource.
const pagesPlace = "the pages that people write"

// newPagesSource makes what reads the pages that people write.
func newPagesSource(l *Library) *pagesource.Source {
	return pagesource.New(l.Written.Store(), l.Config.Web.URL)
}

// schedulePages has the pages read as they change, from the first one on.
func (s sources) schedulePages(ctx context.Context) ([]ingest.Scheduled, error) {
	if s.Written == nil {
		return nil, nil
	}
	all, err := s.Written.Store().List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	claimed, err := s.Index.Cursor(ctx, pagesource.ID)
	if err != nil || claimed == "" && len(all) == 0 {
		return nil, err
	}
	return []ingest.Scheduled{{Source: pagesource.ID, Watch: newPagesSource(s.Library)}}, nil
}

// IndexPages reads the pages that changed into the index. While another process writes to the index it
// does nothing: a process that serves reads the pages itself.
func IndexPages(ctx context.Context, l *Library) error {
	scheduled, err := sources{l}.schedulePages(ctx)
	if err != nil || len(scheduled) == 0 {
		return err
	}
	err = (&syncer{sources: sources{l}}).syncScheduled(ctx, pagesource.ID)
	if errors.Is(err, index.ErrLocked) {
		return nil
	}
	return err
}

// syncPages brings the index, which is open for writing, up to date with the pages.
func syncPages(ctx context.Context, l *Library, options SyncOptions) (ingest.Report, error) {
	if err := claimName(ctx, l.Index, pagesource.ID, pagesPlace); err != nil {
		return ingest.Report{}, err
	}
	reader := l.Ingester(options.Observe)
	reader.Prune, reader.Readers = true, options.Readers
	return reader.Sync(ctx, newPagesSource(l))
}

// livePages is an index that shows nothing of pages which were deleted since they were read in.
// Whom a page is for never changes.
type livePages struct {
	index.Spelling
	written *pages.Library
}

// Search implements index.Reader.
func (p livePages) Search(ctx context.Context, query index.Query) (index.Candidates, error) {
	found, err := p.Spelling.Search(ctx, query)
	if err != nil {
		return found, err
	}
	live := p.newFilter(ctx)
	for _, side := range []*[]index.Hit{&found.Lexical, &found.Dense} {
		kept := (*side)[:0:0]
		for _, hit := range *side {
			document, _, _ := hit.Passage.Split()
			ok, err := live(document)
			if err != nil {
				return index.Candidates{}, err
			}
			if ok {
				kept = append(kept, hit)
			}
		}
		*side = kept
	}
	return found, nil
}

// Passages implements index.Reader.
func (p livePages) Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	all, err := p.Spelling.Passages(ctx, ids)
	if err != nil {
		return nil, err
	}
	live := p.newFilter(ctx)
	kept := all[:0:0]
	for _, found := range all {
		ok, err := live(found.Document.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, found)
		}
	}
	return kept, nil
}

// Documents implements index.Reader.
func (p livePages) Documents(ctx context.Context, source knowledge.SourceID) iter.Seq2[knowledge.Document, error] {
	return func(yield func(knowledge.Document, error) bool) {
		live := p.newFilter(ctx)
		for document, err := range p.Spelling.Documents(ctx, source) {
			ok := true
			if err == nil {
				ok, err = live(document.ID)
			}
			if ok && !yield(document, err) {
				return
			}
		}
	}
}

// newFilter gives what tells whether a document is no page, or one that is there. The pages are
// listed once, and only where there is a page at all.
func (p livePages) newFilter(ctx context.Context) func(knowledge.DocumentID) (bool, error) {
	var there map[pages.PageID]bool
	return func(document knowledge.DocumentID) (bool, error) {
		id, ok := pagesource.PageOf(document)
		if !ok {
			return true, nil
		}
		if there == nil {
			all, err := p.written.Store().List(ctx)
			if err != nil {
				return false, fmt.Errorf("look which pages are there: %w", err)
			}
			there = make(map[pages.PageID]bool, len(all))
			for _, summary := range all {
				there[summary.ID] = true
			}
		}
		return there[id], nil
	}
}
