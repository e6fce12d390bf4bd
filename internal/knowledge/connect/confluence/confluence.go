// Package confluence is the connector for Confluence Cloud: the pages and blog posts of one space
// or of all spaces.
//
// Each sync lists them all with their versions, ancestors and restrictions, 200 in a response, and
// reads the content of those that changed. A document is for a group: of those who may read its
// space, or its nearest page with restrictions. Access gives the members of groups, so that who
// comes and goes changes no document.
package confluence

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

// Options say what to read.
type Options struct {
	Source knowledge.SourceID
	// URL is https://SITE.atlassian.net/wiki for all spaces that the token may read, with
	// /spaces/KEY for one.
	URL string
	// Token is an e-mail address, a colon and an API token, or a token alone, which is sent as a
	// bearer token.
	Token        string
	MaxBytes     int64 // of one document; 0: 32 MiB
	AllowPrivate bool
	TLS          *tls.Config // nil: the system's certificates
	// Audience is whom all documents are for; "": those who may read them in Confluence.
	Audience knowledge.Audience
	Kind     knowledge.Kind // "": documentation
	Owner    string         // of all documents; "": who made the page
	// People are the e-mail addresses of accounts, by account id; they go before what Confluence says.
	People map[string]string
}

const defaultMaxBytes = 32 << 20

// Connector reads one site. Its methods may be called concurrently.
type Connector struct {
	options Options

	mu      sync.Mutex
	skipped []connect.Skipped
}

var _ interface {
	connect.Connector
	connect.Skipper
	connect.Checker
	connect.Granter
} = (*Connector)(nil)

// New returns the connector for a site. Options are checked by Sync.
func New(options Options) *Connector {
	if options.MaxBytes == 0 {
		options.MaxBytes = defaultMaxBytes
	}
	if options.Kind == "" {
		options.Kind = knowledge.KindDocumentation
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

// site is where a source is.
type site struct {
	base  string // https://SITE.atlassian.net/wiki
	space string // its key; "": all spaces
}

// parseSite reads the address of a source.
func parseSite(address string) (site, error) {
	parsed, err := url.Parse(address)
	wanted := errors.New("its address is not that of a Confluence site: want https://SITE.atlassian.net/wiki or https://SITE.atlassian.net/wiki/spaces/KEY")
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return site{}, wanted
	}
	folder, rest, ok := strings.Cut(strings.TrimRight(parsed.Path, "/")+"/", "/wiki/")
	if !ok || folder != "" {
		return site{}, wanted
	}
	at := site{base: parsed.Scheme + "://" + parsed.Host + "/wiki"}
	rest = strings.TrimSuffix(rest, "/")
	if rest == "" {
		return at, nil
	}
	key, ok := strings.CutPrefix(rest, "spaces/")
	key, _, _ = strings.Cut(key, "/")
	if !ok || !isSafeName(key) {
		return site{}, wanted
	}
	at.space = key
	return at, nil
}

// isSafeName reports whether a key or an id can be part of a path, a query in quotes and a principal.
func isSafeName(name string) bool {
	const longest = 128
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, func(r rune) bool {
		return r > '~' || r <= ' ' || strings.ContainsRune(`"'\/?#%,&=`, r)
	})
}

// errStopped is that the caller wants no more changes.
var errStopped = errors.New("stopped")

// Sync yields the documents of one space after another, then what is gone.
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
	a, err := c.newAsker()
	if err != nil {
		return err
	}
	defer a.client.Close()
	catalog, err := a.listContents(ctx)
	if err != nil {
		return err
	}
	s := &syncing{connector: c, asker: a, known: known, yield: yield, listed: make(map[knowledge.DocumentID]bool)}
	for _, one := range catalog.contents {
		if err := s.passContent(ctx, catalog, one); err != nil {
			return err
		}
	}
	if err := s.passGone(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped = catalog.skipped()
	return nil
}

// syncing is one Sync. It is one goroutine's.
type syncing struct {
	connector *Connector
	asker     *asker
	known     connect.Known
	yield     func(connect.Change, error) bool
	listed    map[knowledge.DocumentID]bool
}

func (s *syncing) pass(change connect.Change) error {
	if !s.yield(change, nil) {
		return errStopped
	}
	return nil
}

// passContent yields one page, with its content where it changed.
func (s *syncing) passContent(ctx context.Context, in *catalog, one content) error {
	document, err := s.connector.document(in, one)
	if err != nil {
		return err
	}
	s.listed[document.ID] = true
	if s.known[document.ID] == document.Hash {
		return s.pass(connect.Change{Kind: connect.Unchanged, Document: document})
	}
	text, err := s.asker.readBody(ctx, one)
	if err != nil {
		if _, refused := refusedStatus(err); !refused && !remote.IsFinal(err) && !errors.Is(err, errUnreadable) {
			return err
		}
		return s.pass(connect.Change{Kind: connect.Failed, Document: document, Reason: err})
	}
	return s.pass(connect.Change{
		Kind: connect.Upserted, Document: document, Content: text, MediaType: "text/markdown",
		Link: func(target string) string { return resolveLink(document.URL, target) },
	})
}

// maxAsked is how many pages that the list lacks are asked for one by one before they count as
// gone. More of them are left to the one who confirms that much is gone.
const maxAsked = 200

// passGone yields what the list lacks as gone, unless it is there when it is asked for: the search
// of Confluence may lag behind.
func (s *syncing) passGone(ctx context.Context) error {
	var missing []knowledge.DocumentID
	for id := range s.known {
		if connect.IsFrom(id, s.connector.options.Source) && !s.listed[id] {
			missing = append(missing, id)
		}
	}
	slices.Sort(missing)
	var gone []connect.Change
	for at, id := range missing {
		key := strings.TrimPrefix(string(id), string(s.connector.options.Source)+":")
		document := knowledge.Document{ID: id, Source: s.connector.options.Source, Path: key}
		if at < maxAsked && isSafeName(key) {
			found, err := s.asker.findContent(ctx, key)
			if err == nil && s.asker.covers(found) {
				document.Hash = s.known[id]
				if err := s.pass(connect.Change{Kind: connect.Unchanged, Document: document}); err != nil {
					return err
				}
				continue
			}
			if _, refused := refusedStatus(err); err != nil && !refused {
				return err
			}
		}
		gone = append(gone, connect.Change{Kind: connect.Deleted, Document: document})
	}
	for _, change := range gone {
		if err := s.pass(change); err != nil {
			return err
		}
	}
	return nil
}

// document describes a page or blog post.
func (c *Connector) document(in *catalog, one content) (knowledge.Document, error) {
	audience, err := c.audienceOf(in, one)
	if err != nil {
		return knowledge.Document{}, err
	}
	owner := c.options.Owner
	if owner == "" {
		owner = oneLine(one.History.Author.Name)
	}
	return knowledge.Document{
		ID: connect.NewDocumentID(c.options.Source, one.ID), Source: c.options.Source, Kind: c.options.Kind,
		Path: one.Space.Key + "/" + strings.ReplaceAll(oneLine(one.Title), "/", "-"), Title: oneLine(one.Title), URL: in.base + one.webPath(),
		Owner: owner, Modified: one.Version.When.UTC(), Hash: hashOf(one, audience, owner), Audience: audience, State: knowledge.StateLive,
	}, nil
}

// hashVersion begins the hashes of this form. One of another is of a page that is read anew.
const hashVersion = "c1"

// hashOf stands for a page as it is, and whom it is for.
func hashOf(one content, audience knowledge.Audience, owner string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", one.Title, one.webPath(), audience, owner))
	return fmt.Sprintf("%s %d %d %s", hashVersion, one.Version.Number, one.Version.When.Unix(), hex.EncodeToString(sum[:12]))
}

// Check asks Confluence for one page: whether it changed, and whether it is for others now.
func (c *Connector) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	key := strings.TrimPrefix(string(document.ID), string(c.options.Source)+":")
	if !connect.IsFrom(document.ID, c.options.Source) || !isSafeName(key) {
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, c.options.Source)
	}
	a, err := c.newAsker()
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	defer a.client.Close()
	one, err := a.findContent(ctx, key)
	if status, refused := refusedStatus(err); refused && (status == http.StatusNotFound || status == http.StatusGone) {
		return knowledge.StateGone, nil
	}
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	in := newCatalog(a.at.base)
	in.add(one)
	if err := a.addAncestors(ctx, in, one); err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	now, err := c.document(in, one)
	switch {
	case err != nil:
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	case now.Hash == document.Hash:
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}

// resolveLink gives the address of what a link in a page leads to.
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

// oneLine makes a text one line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
}

// catalog is what Confluence lists, with what decides who may read it.
type catalog struct {
	base     string
	contents []content          // in order of their spaces and ids
	byID     map[string]content // ancestors included
	left     map[string]int     // what is no document, by reason
}

func newCatalog(base string) *catalog {
	return &catalog{base: base, byID: make(map[string]content), left: make(map[string]int)}
}

// add adds what was listed, once.
func (in *catalog) add(one content) {
	if _, ok := in.byID[one.ID]; ok {
		return
	}
	in.byID[one.ID] = one
	in.contents = append(in.contents, one)
}

func (in *catalog) skipped() []connect.Skipped {
	var skipped []connect.Skipped
	for _, reason := range slices.Sorted(maps.Keys(in.left)) {
		skipped = append(skipped, connect.Skipped{Reason: reason, Count: in.left[reason]})
	}
	return skipped
}
