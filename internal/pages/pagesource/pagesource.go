// Package pagesource has the pages that people write be a source of the index: each page is a
// document for those whom the page is for, and what answers cite of it are its blocks.
package pagesource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// ID is the source of all pages. No configured source may have its name.
const ID knowledge.SourceID = "pages"

// Source reads all pages, for whomever they are.
type Source struct {
	store   pages.Store
	address string
	pause   time.Duration
}

var (
	_ connect.Connector = (*Source)(nil)
	_ connect.Estimator = (*Source)(nil)
	_ connect.Watcher   = (*Source)(nil)
)

// watchPause is how long after a change of a page Watch tells of it, at most.
const watchPause = time.Second

// New makes the source of the pages in a store. address is where people reach the web page, ""
// for nowhere.
func New(store pages.Store, address string) *Source { return &Source{store, address, watchPause} }

// Source implements connect.Connector.
func (s *Source) Source() knowledge.SourceID { return ID }

// DocumentID is the id of a page in the index.
func DocumentID(id pages.PageID) knowledge.DocumentID {
	return knowledge.DocumentID(string(ID) + ":" + string(id))
}

// PageOf gives the page of a document; ok is false for a document of another source.
func PageOf(document knowledge.DocumentID) (id pages.PageID, ok bool) {
	name, ok := strings.CutPrefix(string(document), string(ID)+":")
	return pages.PageID(name), ok
}

// Estimate implements connect.Estimator.
func (s *Source) Estimate(ctx context.Context) (int, error) {
	all, err := s.store.List(ctx)
	return len(all), err
}

// Sync implements connect.Connector. A page is known by its version.
func (s *Source) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		all, err := s.store.List(ctx)
		if err != nil {
			yield(connect.Change{}, fmt.Errorf("list pages: %w", err))
			return
		}
		slices.SortFunc(all, func(a, b pages.Summary) int { return cmp.Compare(a.ID, b.ID) })
		there := make(map[knowledge.DocumentID]bool)
		for _, summary := range all {
			change, err := s.readPage(ctx, summary, known)
			if errors.Is(err, pages.ErrNotFound) { // it was deleted meanwhile
				continue
			}
			there[change.Document.ID] = true
			if !yield(change, err) || err != nil {
				return
			}
		}
		gone := make([]knowledge.DocumentID, 0, len(known))
		for id := range known {
			if _, ok := PageOf(id); ok && !there[id] {
				gone = append(gone, id)
			}
		}
		slices.Sort(gone)
		for _, id := range gone {
			page, _ := PageOf(id)
			if !yield(connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id, Source: ID, Path: string(page)}}, nil) {
				return
			}
		}
	}
}

// readPage gives the change of one page.
func (s *Source) readPage(ctx context.Context, summary pages.Summary, known connect.Known) (connect.Change, error) {
	if err := ctx.Err(); err != nil {
		return connect.Change{}, err
	}
	document := s.describePage(summary)
	if known[document.ID] == document.Hash {
		return connect.Change{Kind: connect.Unchanged, Document: document}, nil
	}
	page, err := s.store.Load(ctx, summary.ID)
	if err != nil {
		return connect.Change{}, fmt.Errorf("load page %s: %w", summary.ID, err)
	}
	document = s.describePage(pages.Summary{ID: page.ID, Title: page.Title, Audience: page.Audience, Version: page.Version, Updated: page.Updated})
	return connect.Change{Kind: connect.Upserted, Document: document, Content: render(page), MediaType: "text/html"}, nil
}

// describePage gives a page as a document. Where the web page has an address, a passage's is the
// page's with the block as the fragment.
func (s *Source) describePage(summary pages.Summary) knowledge.Document {
	document := knowledge.Document{
		ID: DocumentID(summary.ID), Source: ID, Kind: knowledge.KindPage, Path: string(summary.ID), Title: summary.Title,
		Modified: summary.Updated, Hash: fmt.Sprintf("v%d %s", summary.Version, summary.Audience.OrPublic()), Audience: summary.Audience, State: knowledge.StateLive,
	}
	if s.address != "" {
		document.URL = s.address + "/page/" + string(summary.ID)
	}
	return document
}

// render writes a page as HTML whose headings have the ids of their blocks.
func render(page pages.Page) []byte {
	return fmt.Appendf(nil, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%s</title></head>\n<body>\n%s</body></html>\n",
		html.EscapeString(page.Title), tree.HTML(page.Root, ""))
}

// Watch implements connect.Watcher. Pages may be written by other processes, so it looks.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	ticker := time.NewTicker(s.pause)
	defer ticker.Stop()
	last, err := s.describeState(ctx)
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		var now string
		if now, err = s.describeState(ctx); err == nil && now != last {
			last = now
			changed()
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("watch the pages: %w", err)
}

// describeState tells which pages there are, in which version.
func (s *Source) describeState(ctx context.Context) (string, error) {
	all, err := s.store.List(ctx)
	var b strings.Builder
	for _, summary := range all {
		fmt.Fprintf(&b, "%s %d\n", summary.ID, summary.Version)
	}
	return b.String(), err
}
