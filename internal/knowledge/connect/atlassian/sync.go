package atlassian

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

var (
	// ErrUnreadable is that the content of one document can't be read.
	ErrUnreadable = errors.New("it can't be read")
	// ErrElsewhere is that a document is in no part of the site that the source reads.
	ErrElsewhere = errors.New("it is in a part of the site that the source does not read")

	// errStopped is that the caller wants no more changes.
	errStopped = errors.New("stopped")
)

// maxAsked is how many documents that the list lacks are asked for one by one before they count as
// gone. More of them are left to the one who confirms that much is gone.
const maxAsked = 200

// Entry is a document of a site, as a list has it.
type Entry struct {
	Document knowledge.Document
	// Read reads its content as Markdown. An error that wraps ErrUnreadable concerns it alone.
	Read func(ctx context.Context) ([]byte, error)
}

// Finder asks for one document by what its source knows it by.
type Finder func(ctx context.Context, key string) (Entry, error)

// Sync passes on what a site lists. It is one goroutine's.
type Sync struct {
	source knowledge.SourceID
	known  connect.Known
	yield  func(connect.Change, error) bool
	listed map[knowledge.DocumentID]bool
}

// Run gives the changes of a source that read passes.
func Run(ctx context.Context, options Options, known connect.Known, read func(context.Context, *Sync) error) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		err := ctx.Err()
		if err == nil {
			err = read(ctx, &Sync{source: options.Source, known: known, yield: yield, listed: make(map[knowledge.DocumentID]bool)})
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(connect.Change{}, fmt.Errorf("read %s: %w", options.URL, explainError(err)))
		}
	}
}

func (s *Sync) pass(change connect.Change) error {
	if !s.yield(change, nil) {
		return errStopped
	}
	return nil
}

// Pass yields one document, with its content where it changed.
func (s *Sync) Pass(ctx context.Context, one Entry) error {
	document := one.Document
	s.listed[document.ID] = true
	if s.known[document.ID] == document.Hash {
		return s.pass(connect.Change{Kind: connect.Unchanged, Document: document})
	}
	text, err := one.Read(ctx)
	if err != nil {
		if _, refused := RefusedStatus(err); !refused && !remote.IsFinal(err) && !errors.Is(err, ErrUnreadable) {
			return err
		}
		return s.pass(connect.Change{Kind: connect.Failed, Document: document, Reason: err})
	}
	return s.pass(connect.Change{
		Kind: connect.Upserted, Document: document, Content: text, MediaType: "text/markdown",
		Link: func(target string) string { return resolveLink(document.URL, target) },
	})
}

// PassMissing yields what was not passed as gone, unless it is there when it is asked for: the search
// of a site may lag behind.
func (s *Sync) PassMissing(ctx context.Context, find Finder) error {
	var missing []knowledge.DocumentID
	for id := range s.known {
		if connect.IsFrom(id, s.source) && !s.listed[id] {
			missing = append(missing, id)
		}
	}
	slices.Sort(missing)
	var gone []connect.Change
	for at, id := range missing {
		key := localKey(s.source, id)
		if at < maxAsked && IsSafeName(key) {
			one, err := find(ctx, key)
			if err == nil {
				if err := s.Pass(ctx, one); err != nil {
					return err
				}
				continue
			}
			if _, refused := RefusedStatus(err); !refused && !errors.Is(err, ErrElsewhere) {
				return err
			}
		}
		gone = append(gone, connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id, Source: s.source, Path: key}})
	}
	for _, change := range gone {
		if err := s.pass(change); err != nil {
			return err
		}
	}
	return nil
}

// localKey gives what a source knows a document by.
func localKey(source knowledge.SourceID, id knowledge.DocumentID) string {
	return strings.TrimPrefix(string(id), string(source)+":")
}

// Check asks for one document: whether it changed, and whether it is for others now.
func Check(ctx context.Context, source knowledge.SourceID, document knowledge.Document, find Finder) (knowledge.State, error) {
	key := localKey(source, document.ID)
	if !connect.IsFrom(document.ID, source) || !IsSafeName(key) {
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, source)
	}
	one, err := find(ctx, key)
	status, refused := RefusedStatus(err)
	switch {
	case refused && (status == http.StatusNotFound || status == http.StatusGone), errors.Is(err, ErrElsewhere):
		return knowledge.StateGone, nil
	case err != nil:
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	case one.Document.Hash == document.Hash:
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}

// resolveLink gives the address of what a link in a document leads to.
func resolveLink(from, target string) string {
	base, err := url.Parse(from)
	if err != nil {
		return ""
	}
	to, err := base.Parse(target)
	if err != nil || to.Host == "" {
		return ""
	}
	return to.String()
}
