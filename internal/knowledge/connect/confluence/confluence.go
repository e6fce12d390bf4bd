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
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// Connector reads one site. Its methods may be called concurrently.
type Connector struct{ options atlassian.Options }

var _ interface {
	connect.Connector
	connect.Checker
	connect.Granter
} = (*Connector)(nil)

// New returns the connector for a site: https://SITE.atlassian.net/wiki for all spaces that the token
// may read, with /spaces/KEY for one. Options are checked by Sync.
func New(options atlassian.Options) *Connector { return &Connector{options.WithDefaults()} }

// Source returns the source that the documents belong to.
func (c *Connector) Source() knowledge.SourceID { return c.options.Source }

// site is where a source is.
type site struct {
	base  string // https://SITE.atlassian.net/wiki
	space string // its key; "": all spaces
}

// parseSite reads the address of a source.
func parseSite(address string) (site, error) {
	root, path, ok := atlassian.ParseURL(address)
	at := site{base: root + "/wiki"}
	switch {
	case !ok || len(path) == 0 || path[0] != "wiki":
	case len(path) == 1:
		return at, nil
	case len(path) > 2 && path[1] == "spaces" && atlassian.IsSafeName(path[2]):
		at.space = path[2]
		return at, nil
	}
	return site{}, errors.New("its address is not that of a Confluence site: want https://SITE.atlassian.net/wiki or https://SITE.atlassian.net/wiki/spaces/KEY")
}

// Sync yields the documents of one space after another, then what is gone.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return atlassian.Run(ctx, c.options, known, c.sync)
}

func (c *Connector) sync(ctx context.Context, s *atlassian.Sync) error {
	a, err := c.newAsker()
	if err != nil {
		return err
	}
	defer a.Close()
	catalog, err := a.listContents(ctx)
	if err != nil {
		return err
	}
	for _, one := range catalog.contents {
		entry, err := c.entry(a, catalog, one)
		if err != nil {
			return err
		}
		if err := s.Pass(ctx, entry); err != nil {
			return err
		}
	}
	return s.PassMissing(ctx, c.finder(a))
}

// entry is a page with what reads it.
func (c *Connector) entry(a *asker, in *catalog, one content) (atlassian.Entry, error) {
	document, err := c.document(in, one)
	return atlassian.Entry{Document: document, Read: func(ctx context.Context) ([]byte, error) { return a.readBody(ctx, one) }}, err
}

// finder asks for one page by its id.
func (c *Connector) finder(a *asker) atlassian.Finder {
	return func(ctx context.Context, id string) (atlassian.Entry, error) {
		one, err := a.findContent(ctx, id)
		if err == nil && a.at.space != "" && one.Space.Key != a.at.space {
			err = atlassian.ErrElsewhere
		}
		if err != nil {
			return atlassian.Entry{}, err
		}
		in := newCatalog(a.at.base)
		in.add(one)
		if err := a.addAncestors(ctx, in, one); err != nil {
			return atlassian.Entry{}, err
		}
		return c.entry(a, in, one)
	}
}

// document describes a page or blog post.
func (c *Connector) document(in *catalog, one content) (knowledge.Document, error) {
	audience, err := c.audienceOf(in, one)
	if err != nil {
		return knowledge.Document{}, err
	}
	owner := c.options.Owner
	if owner == "" {
		owner = atlassian.OneLine(one.History.Author.Name)
	}
	return knowledge.Document{
		ID: connect.NewDocumentID(c.options.Source, one.ID), Source: c.options.Source, Kind: c.options.Kind,
		Path: one.Space.Key + "/" + strings.ReplaceAll(atlassian.OneLine(one.Title), "/", "-"), Title: atlassian.OneLine(one.Title), URL: in.base + one.webPath(),
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
	a, err := c.newAsker()
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	defer a.Close()
	return atlassian.Check(ctx, c.options.Source, document, c.finder(a))
}

// catalog is what Confluence lists, with what decides who may read it.
type catalog struct {
	base     string
	contents []content          // in order of their spaces and ids
	byID     map[string]content // ancestors included
}

func newCatalog(base string) *catalog {
	return &catalog{base: base, byID: make(map[string]content)}
}

// add adds what was listed, once.
func (in *catalog) add(one content) {
	if _, ok := in.byID[one.ID]; ok {
		return
	}
	in.byID[one.ID] = one
	in.contents = append(in.contents, one)
}
