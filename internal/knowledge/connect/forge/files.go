package forge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	connectgit "github.com/cairn-bot/cairn/internal/knowledge/connect/git"
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// gitReading reads the files or the wiki of a repository through the connector for git, whose
// documents are known by their paths alone.
type gitReading struct {
	*reading
	part   Part
	source *connectgit.Connector
}

// readGit yields the files of a repository or of its wiki.
func (r *reading) readGit(ctx context.Context, part Part) error {
	if err := r.checkClone(); err != nil {
		return r.yieldGitFailed(part, err)
	}
	read := &gitReading{reading: r, part: part, source: connectgit.New(r.gitOptions(part))}
	seen := false
	for change, err := range read.source.Sync(ctx, read.knownPaths()) {
		empty := false
		if err != nil {
			_, empty = errors.AsType[*files.EmptyError](err)
		}
		switch {
		case empty: // it was received whole: there is no documentation in it
			r.noteGone(r.Name, part, maps.Keys(r.known[part]))
			r.skipped["repositories without documentation"]++
			return nil
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil && (!seen || errors.Is(err, git.ErrTooLarge)):
			return r.yieldGitFailed(part, err)
		case err != nil:
			return err
		}
		seen = true
		if err := read.passChange(change); err != nil {
			return err
		}
	}
	for _, skip := range read.source.Skipped() {
		r.skipped[skip.Reason] += skip.Count
	}
	return nil
}

// checkClone checks that the token goes to the forge alone.
func (r *reading) checkClone() error {
	place, err := url.Parse(r.options.URL)
	clone, cloneErr := url.Parse(r.Clone)
	if err != nil || cloneErr != nil || clone.Scheme != place.Scheme || !strings.EqualFold(clone.Hostname(), place.Hostname()) {
		return fmt.Errorf("the forge gives the address %.200q for git, which is none of its own: correct its address (on Gitea ROOT_URL, on GitLab external_url)", r.Clone)
	}
	return nil
}

// yieldGitFailed names a part that git can't receive; what is known of it stays.
func (r *reading) yieldGitFailed(part Part, reason error) error {
	r.refused = reason
	if part == Wiki && len(r.known[part]) == 0 && errors.Is(reason, git.ErrAbsent) {
		r.skipped["without "+string(part)]++ // a wiki is made with its first page
		return nil
	}
	return r.yieldPart(part, reason)
}

func (r *reading) gitOptions(part Part) connectgit.Options {
	options := connectgit.Options{
		Mirror: git.MirrorOptions{
			Options: r.options.Git, Address: r.Clone, Branch: r.Branch, Token: r.options.Token, Folder: filepath.Join(r.connector.mirrorFolder(r.Name), string(part)),
		},
		Files: files.Options{
			Source: r.options.Source, Include: r.options.Include, Exclude: r.options.Exclude, MaxBytes: r.options.MaxBytes, Kind: r.options.Kinds,
			SourceCode: r.options.SourceCode, Audience: r.audience, Owner: r.options.Owner,
		},
	}
	if part == Wiki {
		options.Mirror.Address, options.Mirror.Branch = strings.TrimSuffix(r.Clone, ".git")+".wiki.git", ""
		options.Files.Include, options.Files.Exclude, options.Files.URLBase = nil, nil, r.wikiAddress()
		return options
	}
	options.Web = func(commit string) string { return r.Web + commitViews[r.options.Kind] + commit + "/" }
	return options
}

// commitViews are where a forge shows files at a commit, below the address of the repository.
var commitViews = map[Kind]string{GitHub: "/blob/", GitLab: "/-/blob/", Gitea: "/src/commit/"}

func (r *reading) wikiAddress() string {
	if r.options.Kind == GitLab {
		return r.Web + "/-/wikis/"
	}
	return r.Web + "/wiki/"
}

// knownPaths gives what is known of the part as the connector for git knows it.
func (g *gitReading) knownPaths() connect.Known {
	known := make(connect.Known)
	for key, hash := range g.known[g.part] {
		known[connect.NewDocumentID(g.options.Source, key)] = hash
	}
	return known
}

// passChange yields a change of the connector for git under the id that it has here.
func (g *gitReading) passChange(change connect.Change) error {
	document := &change.Document
	key := strings.TrimPrefix(string(document.ID), string(g.options.Source)+":")
	document.ID = connect.NewDocumentID(g.options.Source, localID(g.Name, g.part, key))
	document.Path = documentPath(g.Name, g.part, document.Path)
	if change.Kind == connect.Deleted {
		g.gone = append(g.gone, change)
		return nil
	}
	if g.part == Wiki {
		document.URL = pageAddress(document.URL)
		if link := change.Link; link != nil {
			at, _ := url.Parse(document.URL) //nolint:errcheck // nil gives no links
			change.Link = func(target string) string {
				if to := link(target); to != "" {
					return pageAddress(to)
				}
				return resolveLink(at, target) // pages link to one another without their files' endings
			}
		}
	}
	return g.pass(change)
}

// pageAddress gives the address of a wiki's page from that of its file.
func pageAddress(address string) string {
	address, anchor, ok := strings.Cut(address, "#")
	switch extension := path.Ext(address); strings.ToLower(extension) {
	case ".md", ".markdown", ".rst", ".asciidoc", ".adoc", ".org", ".txt":
		address = strings.TrimSuffix(address, extension)
	}
	if ok {
		address += "#" + anchor
	}
	return address
}

// yieldPart names a part that could not be read; what is known of it stays.
func (r *reading) yieldPart(part Part, reason error) error {
	return r.pass(connect.Change{Kind: connect.Failed, Reason: reason, Document: knowledge.Document{
		ID: connect.NewDocumentID(r.options.Source, r.Name+"//"+string(part)), Source: r.options.Source, Path: r.Name + "/" + string(part), Audience: r.audience,
	}})
}
