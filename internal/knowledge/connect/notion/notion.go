// Package notion is the connector for Notion: the pages that were shared with an integration, rows
// of databases among them.
//
// Each sync lists them all with the time of their last edit, 100 in a response, and reads the
// blocks of those that changed. Notion does not tell who may read a page, so that all of them are
// for one audience.
package notion

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

// Options say what to read.
type Options struct {
	Source knowledge.SourceID
	// URL is https://www.notion.so, or the address of a gateway to its API.
	URL          string
	Token        string // the secret of an integration
	MaxBytes     int64  // of one document; 0: 32 MiB
	AllowPrivate bool
	TLS          *tls.Config // nil: the system's certificates
	// Audience is whom all documents are for. It is required: Notion does not tell.
	Audience knowledge.Audience
	Kind     knowledge.Kind // "": documentation
	Owner    string         // of all documents; "": none
	// Pause is the time between two requests; 0: a third of a second, as Notion allows on average.
	Pause time.Duration
}

const (
	defaultMaxBytes = 32 << 20
	defaultPause    = time.Second / 3
)

// Connector reads what one integration may read. Its methods may be called concurrently.
type Connector struct {
	options Options

	mu      sync.Mutex
	skipped []connect.Skipped
}

var _ interface {
	connect.Connector
	connect.Skipper
	connect.Checker
} = (*Connector)(nil)

// New returns the connector for an integration. Options are checked by Sync.
func New(options Options) *Connector {
	if options.MaxBytes == 0 {
		options.MaxBytes = defaultMaxBytes
	}
	if options.Kind == "" {
		options.Kind = knowledge.KindDocumentation
	}
	if options.Pause == 0 {
		options.Pause = defaultPause
	}
	return &Connector{options: options}
}

// Source returns the source that the documents belong to.
func (c *Connector) Source() knowledge.SourceID { return c.options.Source }

// Skipped returns what the last finished Sync passed over, by reason.
func (c *Connector) Skipped() []connect.Skipped {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.skipped)
}

// errNoAudience is that nobody said whom the pages are for.
var errNoAudience = errors.New("it has no audience: Notion does not tell who may read a page, so say with audience whom the pages are for that are shared with the integration")

// errStopped is that the caller wants no more changes.
var errStopped = errors.New("stopped")

// Sync yields the pages in order of their ids, then what is gone.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		err := c.sync(ctx, known, yield)
		if err != nil && !errors.Is(err, errStopped) {
			yield(connect.Change{}, fmt.Errorf("read %s: %w", c.options.URL, explainError(err)))
		}
	}
}

func (c *Connector) sync(ctx context.Context, known connect.Known, yield func(connect.Change, error) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.options.Audience == "" {
		return errNoAudience
	}
	a, err := c.newAsker()
	if err != nil {
		return err
	}
	defer a.client.Close()
	s := &syncing{connector: c, asker: a, known: known, yield: yield, began: time.Now()}
	if s.catalog, err = a.listPages(ctx); err != nil {
		return err
	}
	for _, one := range s.catalog.sorted() {
		if err := s.passPage(ctx, one); err != nil {
			return err
		}
	}
	if err := s.passGone(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped = nil
	if s.catalog.trashed > 0 {
		c.skipped = []connect.Skipped{{Reason: "pages in the trash", Count: s.catalog.trashed}}
	}
	return nil
}

// syncing is one Sync. It is one goroutine's.
type syncing struct {
	connector *Connector
	asker     *asker
	catalog   *catalog
	known     connect.Known
	yield     func(connect.Change, error) bool
	began     time.Time
}

func (s *syncing) pass(change connect.Change) error {
	if !s.yield(change, nil) {
		return errStopped
	}
	return nil
}

// settled is how old the last edit of a page has to be for its time to stand for its content:
// Notion gives that time in whole minutes, so that an edit may follow another with the same time.
const settled = 2 * time.Minute

// unsettledMark ends the hash of a page that was read too soon after an edit: it is read again.
const unsettledMark = " unsettled"

// passPage yields one page, with its content where it changed.
func (s *syncing) passPage(ctx context.Context, one page) error {
	document := s.connector.document(one)
	unsettled := s.began.Sub(one.Edited) < settled
	if !unsettled && s.known[document.ID] == document.Hash {
		return s.pass(connect.Change{Kind: connect.Unchanged, Document: document})
	}
	if unsettled {
		document.Hash += unsettledMark
	}
	text, err := s.asker.readPage(ctx, s.catalog, one)
	if err != nil {
		if !isRefused(err) && !remote.IsFinal(err) && !errors.Is(err, errUnreadable) {
			return err
		}
		return s.pass(connect.Change{Kind: connect.Failed, Document: document, Reason: err})
	}
	return s.pass(connect.Change{
		Kind: connect.Upserted, Document: document, Content: text, MediaType: "text/markdown", Link: linkAddress,
	})
}

// maxAsked is how many pages that the list lacks are asked for one by one before they count as
// gone. More of them are left to the one who confirms that much is gone.
const maxAsked = 200

// passGone yields what the list lacks as gone, unless it is there when it is asked for: Notion's
// search may lag behind. What an incomplete list lacks, and is too much to ask for, stays.
func (s *syncing) passGone(ctx context.Context) error {
	source := s.connector.options.Source
	var missing []knowledge.DocumentID
	for id := range s.known {
		if _, ok := s.catalog.pages[localID(source, id)]; !ok && connect.IsFrom(id, source) {
			missing = append(missing, id)
		}
	}
	slices.Sort(missing)
	var gone []connect.Change
	for at, id := range missing {
		key := localID(source, id)
		document := knowledge.Document{ID: id, Source: source, Path: key}
		there := s.catalog.incomplete && at >= maxAsked
		if at < maxAsked && isPageID(key) {
			found, err := s.asker.findPage(ctx, key)
			if err != nil && !isGone(err) {
				return err
			}
			there = err == nil && !found.isTrashed()
		}
		if !there {
			gone = append(gone, connect.Change{Kind: connect.Deleted, Document: document})
			continue
		}
		document.Hash = s.known[id]
		if err := s.pass(connect.Change{Kind: connect.Unchanged, Document: document}); err != nil {
			return err
		}
	}
	for _, change := range gone {
		if err := s.pass(change); err != nil {
			return err
		}
	}
	return nil
}

// localID gives the id of the page of a document.
func localID(source knowledge.SourceID, id knowledge.DocumentID) string {
	return strings.TrimPrefix(string(id), string(source)+":")
}

// document describes a page.
func (c *Connector) document(one page) knowledge.Document {
	title := one.title()
	return knowledge.Document{
		ID: connect.NewDocumentID(c.options.Source, one.ID), Source: c.options.Source, Kind: c.options.Kind,
		Path: strings.ReplaceAll(title, "/", "-"), Title: title, URL: one.address(), Owner: c.options.Owner,
		Modified: one.Edited.UTC(), Hash: c.hashOf(one), Audience: c.options.Audience, State: knowledge.StateLive,
	}
}

// hashVersion begins the hashes of this form. One of another is of a page that is read anew.
const hashVersion = "n1"

// hashOf stands for a page as it is, and whom it is for.
func (c *Connector) hashOf(one page) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", one.title(), one.address(), c.options.Audience, c.options.Owner))
	return fmt.Sprintf("%s %d %s", hashVersion, one.Edited.Unix(), hex.EncodeToString(sum[:12]))
}

// Check asks Notion for one page: whether it changed, or is gone.
func (c *Connector) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	key := localID(c.options.Source, document.ID)
	if !connect.IsFrom(document.ID, c.options.Source) || !isPageID(key) {
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, c.options.Source)
	}
	a, err := c.newAsker()
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	defer a.client.Close()
	one, err := a.findPage(ctx, key)
	switch {
	case err != nil && isGone(err):
		return knowledge.StateGone, nil
	case err != nil:
		return "", fmt.Errorf("check document %s: %w", document.ID, explainError(err))
	case one.isTrashed():
		return knowledge.StateGone, nil
	case c.hashOf(one) == strings.TrimSuffix(document.Hash, unsettledMark):
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}

// home is where people open pages.
const home = "https://www.notion.so"

// pageAddress is where people open a page or a database by its id.
func pageAddress(id string) string { return home + "/" + strings.ReplaceAll(id, "-", "") }

// linkAddress gives the address of what a link leads to: one of Notion's own may lack the host. ""
// is that it is no address of the web or of e-mail.
func linkAddress(target string) string {
	base, err := url.Parse(home)
	if err != nil {
		return ""
	}
	to, err := base.Parse(strings.TrimSpace(target))
	switch {
	case err != nil || target == "":
		return ""
	case to.Scheme == "mailto", (to.Scheme == "https" || to.Scheme == "http") && to.Host != "":
		return to.String()
	}
	return ""
}
