// Package jira is the connector for Jira Cloud: the issues of one project or of all projects, with
// their comments.
//
// Each sync lists them all with when they were updated, their projects and security levels, and
// reads those that changed. An issue is for a group: of those who may read its project, or the issue
// itself where it has a security level. Access gives the members of groups, so that who comes and
// goes changes no document.
package jira

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"

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

// New returns the connector for a site: https://SITE.atlassian.net for all projects that the token may
// read, with /projects/KEY, or the address of a project's board, for one. Options are checked by Sync.
func New(options atlassian.Options) *Connector { return &Connector{options.WithDefaults()} }

// Source returns the source that the documents belong to.
func (c *Connector) Source() knowledge.SourceID { return c.options.Source }

// site is where a source is.
type site struct {
	base    string // https://SITE.atlassian.net
	project string // its key; "": all projects
}

var projectKey = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,99}$`)

// parseSite reads the address of a source.
func parseSite(address string) (site, error) {
	root, path, ok := atlassian.ParseURL(address)
	at := site{base: root}
	isRoot := len(path) == 0 || len(path) == 1 && path[0] == "jira"
	named := slices.IndexFunc(path, func(segment string) bool { return segment == "projects" || segment == "browse" }) + 1
	switch {
	case !ok:
	case isRoot:
		return at, nil
	case (named == 1 || path[0] == "jira") && 0 < named && named < len(path) && projectKey.MatchString(path[named]):
		at.project = path[named]
		return at, nil
	}
	return site{}, errors.New("its address is not that of a Jira site: want https://SITE.atlassian.net or https://SITE.atlassian.net/projects/KEY")
}

// Sync yields the issues of one project after another, then what is gone.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return atlassian.Run(ctx, c.options, known, c.sync)
}

func (c *Connector) sync(ctx context.Context, s *atlassian.Sync) error {
	a, err := c.newAsker(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	listed, err := a.listIssues(ctx)
	if err != nil {
		return err
	}
	for _, one := range listed {
		entry, err := c.entry(a, one)
		if err != nil {
			return err
		}
		if err := s.Pass(ctx, entry); err != nil {
			return err
		}
	}
	if err := a.checkToken(ctx); err != nil { // or what is missing would be what nobody may see
		return err
	}
	return s.PassMissing(ctx, c.finder(a))
}

// entry is an issue with what reads it.
func (c *Connector) entry(a *asker, one issue) (atlassian.Entry, error) {
	document, err := c.document(a.at, one)
	return atlassian.Entry{Document: document, Read: func(ctx context.Context) ([]byte, error) {
		read, err := a.readIssue(ctx, one)
		if err != nil {
			return nil, err
		}
		now, err := c.audienceOf(read)
		if err != nil || now != document.Audience {
			return nil, fmt.Errorf("%w: it was moved or restricted while it was read; the next sync reads it again", atlassian.ErrUnreadable)
		}
		comments, err := a.listComments(ctx, one)
		if err != nil {
			return nil, err
		}
		return renderIssue(read, comments, a.limit)
	}}, err
}

// finder asks for one issue by its id.
func (c *Connector) finder(a *asker) atlassian.Finder {
	return func(ctx context.Context, id string) (atlassian.Entry, error) {
		one, err := a.findIssue(ctx, id)
		if err == nil && !a.covers(one) {
			err = atlassian.ErrElsewhere
		}
		if err != nil {
			return atlassian.Entry{}, err
		}
		return c.entry(a, one)
	}
}

// document describes an issue.
func (c *Connector) document(at site, one issue) (knowledge.Document, error) {
	audience, err := c.audienceOf(one)
	if err != nil {
		return knowledge.Document{}, err
	}
	owner := c.options.Owner
	if owner == "" {
		owner = atlassian.OneLine(one.Fields.Assignee.Name)
	}
	return knowledge.Document{
		ID: connect.NewDocumentID(c.options.Source, one.ID), Source: c.options.Source, Kind: c.options.Kind,
		Path: one.Fields.Project.Key + "/" + one.Key, Title: one.title(), URL: at.base + "/browse/" + one.Key,
		Owner: owner, Modified: one.Fields.Updated.UTC(), Hash: hashOf(one, audience, c.options.Owner), Audience: audience, State: knowledge.StateLive,
	}, nil
}

// hashVersion begins the hashes of this form. One of another is of an issue that is read anew.
const hashVersion = "j1"

// hashOf stands for an issue as it is, and whom it is for; owner is the one of all documents.
func hashOf(one issue, audience knowledge.Audience, owner string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", one.Key, audience, owner))
	return fmt.Sprintf("%s %d %s", hashVersion, one.Fields.Updated.UnixMilli(), hex.EncodeToString(sum[:12]))
}

// Check asks Jira for one issue: whether it changed, and whether it is for others now.
func (c *Connector) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	a, err := c.newAsker(ctx)
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	defer a.Close()
	return atlassian.Check(ctx, c.options.Source, document, c.finder(a))
}
