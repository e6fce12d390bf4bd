// Package connect is the contract of what brings documents in. A connector knows
// one kind of place and nothing of parsing or indexing. Sync is what every connector has;
// Estimator, Skipper, Watcher, Checker and Granter are optional, and probed by the callers that have a use for
// them.
package connect

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Change is one thing that a connector found. Exactly one of Upsert, Delete,
// Unchanged and Failure is meant, by Kind.
type Change struct {
	Kind ChangeKind
	// Document is set for every kind; for Deleted and Failed its ID and Path suffice.
	Document knowledge.Document
	// Content is the document's bytes, for Upserted; MediaType says what they are,
	// by content first and name second, e.g. "text/markdown".
	Content   []byte
	MediaType string
	// Link gives the address of what a link in the document's source leads to, by the link's
	// target, such as "../install.md#linux"; "" where it is not known. It may be nil.
	Link   func(target string) string
	Reason error // for Failed: why it could not be read, fit to show to a person
}

// ChangeKind is what happened to a document since the state that the caller knows.
type ChangeKind int

// The kinds of changes.
const (
	Upserted ChangeKind = iota + 1
	Deleted
	Unchanged
	Failed
)

// Known tells a connector what the caller has already: the hash of each document. A connector
// may read its own hashes: they are what it gave with the document.
type Known map[knowledge.DocumentID]string

// Connector yields what changed. Sync stops at the first error that concerns the
// place as a whole (a folder that is not there, a listing that fails half-way); what concerns
// one document is a Failed change. A document that Known holds and the place no longer has is
// yielded as Deleted, after everything else: a sync that ends with an error yields none.
type Connector interface {
	Source() knowledge.SourceID
	Sync(ctx context.Context, known Known) iter.Seq2[Change, error]
}

// Estimator is an optional interface: the number of documents a Sync will look at,
// for progress.
type Estimator interface {
	Estimate(ctx context.Context) (int, error)
}

// Skipped counts what a Sync passed over without a look, for one reason.
type Skipped struct {
	Reason string // "hidden", "images"
	Count  int
}

// Skipper is an optional interface: what the last finished Sync passed over, by reason.
type Skipper interface {
	Skipped() []Skipped
}

// Watcher is an optional interface of a connector whose place tells when it changes.
type Watcher interface {
	// Watch calls changed, never concurrently, each time that a document may have changed,
	// until ctx ends, which is no error. What changes before Watch began is not told.
	Watch(ctx context.Context, changed func()) error
}

// Checker is an optional interface of a connector that can tell cheaply whether a document changed
// since it was read, before an answer is posted that cites it.
type Checker interface {
	// Check tells how a document of the index stands to the place: live, changed since, or gone.
	// An error means that this could not be found out.
	Check(ctx context.Context, document knowledge.Document) (knowledge.State, error)
}

// Grants are the members of groups that audiences of a source's documents name.
type Grants map[knowledge.Principal][]knowledge.Principal

// Granter is an optional interface of a connector whose place says who may read what is there: its
// documents are for groups, one of each thing that is shared as a whole.
type Granter interface {
	// Access gives the members of groups, or of all groups of the source where none is named. A
	// group that the place does not tell of has no members. An error means that nothing could be
	// found out: what was known stays.
	Access(ctx context.Context, groups []knowledge.Principal) (Grants, error)
}

// NewDocumentID makes the id of a document of a source from what the source knows it by. All
// connectors make their ids so.
func NewDocumentID(source knowledge.SourceID, local string) knowledge.DocumentID {
	return knowledge.DocumentID(string(source) + ":" + local)
}

// IsFrom reports whether NewDocumentID made an id for a source. Names of sources hold no colon.
func IsFrom(id knowledge.DocumentID, source knowledge.SourceID) bool {
	return strings.HasPrefix(string(id), string(source)+":")
}

// UnavailableError ends a Sync of a place that asks to be left alone for some time.
type UnavailableError struct {
	After  time.Duration // from now on; positive
	Reason error         // fit to show to a person
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%v; it is asked again in %s", e.Reason, e.After)
}

// Unwrap returns the reason.
func (e *UnavailableError) Unwrap() error { return e.Reason }

// TooLargeError is the reason of a Failed change for a document over the limit.
type TooLargeError struct {
	Size, Limit int64 // bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d bytes, over the limit of %d bytes for one document (raise max_document_bytes to read it)", e.Size, e.Limit)
}
