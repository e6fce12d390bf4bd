// Package git is the connector for a branch of a git repository. A mirror of its files is kept in
// a folder, which the connector for folders reads; this one adds what git knows: links to the
// commit that a document was read at, and owners by CODEOWNERS.
package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/owners"
)

// Options say what to read.
type Options struct {
	Mirror git.MirrorOptions
	// Files say what of the repository is read, and what holds for it. Root means nothing.
	// Without a URLBase links lead to the commit at the repository's own address.
	Files files.Options
	// Web gives what the addresses of files at a commit begin with; nil: as CommitURL has it.
	Web func(commit string) string
}

// Connector reads one branch.
type Connector struct {
	options Options
	mirror  *git.Mirror

	mu   sync.Mutex
	read *files.Connector // by the last Sync
}

var _ interface {
	connect.Connector
	connect.Skipper
} = (*Connector)(nil)

// New returns the connector for a branch.
func New(options Options) *Connector {
	return &Connector{options: options, mirror: git.NewMirror(options.Mirror)}
}

// Source returns the source that the documents belong to.
func (c *Connector) Source() knowledge.SourceID { return c.options.Files.Source }

// Skipped returns what the last finished Sync passed over, by reason.
func (c *Connector) Skipped() []connect.Skipped {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil {
		return nil
	}
	return c.read.Skipped()
}

// Sync receives what is new and yields the files in order of their paths, then what is gone. An
// unchanged document keeps the address at the commit that it was read at.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(connect.Change{}, err)
			return
		}
		checkout, err := c.mirror.Update(ctx)
		if err != nil {
			yield(connect.Change{}, explainError(err))
			return
		}
		sync, err := c.newSyncing(checkout)
		if err != nil {
			yield(connect.Change{}, err)
			return
		}
		for change, err := range sync.files.Sync(ctx, sync.stripOwners(known)) {
			if err == nil {
				change = sync.addGitFacts(change)
			}
			if !yield(change, err) {
				return
			}
		}
	}
}

// explainError says what helps against an error.
func explainError(err error) error {
	if errors.Is(err, git.ErrAbsent) {
		return fmt.Errorf("%w: check the address and the branch, and that the token or the deploy key may read it", err)
	}
	return err
}

// syncing is one Sync of a checkout.
type syncing struct {
	source   knowledge.SourceID
	files    *files.Connector
	fallback string // the owner where nothing names one
	owners   *owners.Owners
	base     string // of addresses at the commit, "" where the files have their own
}

func (c *Connector) newSyncing(checkout git.Checkout) (*syncing, error) {
	options := c.options.Files
	options.Root = checkout.Folder
	s := &syncing{source: options.Source, fallback: options.Owner}
	if options.URLBase == "" {
		web := c.options.Web
		if web == nil {
			web = func(commit string) string { return CommitURL(c.options.Mirror.Address, commit) }
		}
		s.base = web(checkout.Commit)
		// It stands in the hashes of documents, which a new commit must not change.
		options.URLBase, options.FallbackURL = web("HEAD"), true
	}
	s.files = files.New(options)
	// One that can't be read is an error of the sync: documents must not lose their owners for it.
	var err error
	if s.owners, err = readOwners(checkout.Folder); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = s.files
	return s, nil
}

func readOwners(folder string) (known *owners.Owners, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("read CODEOWNERS: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return owners.Read(func(name string) ([]byte, error) {
		file, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(file, owners.MaxFile+1))
		return text, errors.Join(err, file.Close())
	})
}

// path gives the path of a document of this source.
func (s *syncing) path(id knowledge.DocumentID) string {
	return strings.TrimPrefix(string(id), string(s.source)+":")
}

// stripOwners gives what is known as the connector for folders gave it: without the owners.
func (s *syncing) stripOwners(known connect.Known) connect.Known {
	kept := make(connect.Known, len(known))
	for id, hash := range known {
		content, owners, _ := strings.Cut(hash, "~")
		if owners != ownersHash(s.ownersOf(s.path(id))) {
			content = "" // it is yielded again, with its new owners
		}
		kept[id] = content
	}
	return kept
}

// addGitFacts adds what git knows to a change.
func (s *syncing) addGitFacts(change connect.Change) connect.Change {
	document := &change.Document
	if change.Kind == connect.Deleted || document.Hash == "" {
		return change
	}
	owners := s.ownersOf(document.Path)
	if owners != "" && document.Owner == s.fallback {
		document.Owner = owners
	}
	document.Hash += "~" + ownersHash(owners)
	if s.base != "" {
		document.URL = replaceBase(document.URL, s.files.URLBase(), s.base)
		if change.Link != nil {
			link, at := change.Link, s.base
			change.Link = func(target string) string { return replaceBase(link(target), s.files.URLBase(), at) }
		}
	}
	return change
}

// ownersOf gives the owners of a file as CODEOWNERS has them, "" for none.
func (s *syncing) ownersOf(name string) string {
	return strings.Join(s.owners.Of(name), ", ")
}

// ownersHash stands for the owners in a document's hash; "" for none.
func ownersHash(owners string) string {
	if owners == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(owners))
	return hex.EncodeToString(sum[:4])
}

func replaceBase(address, base, at string) string {
	if rest, ok := strings.CutPrefix(address, base); ok {
		return at + rest
	}
	return address
}

func escapePath(name string) string {
	segments := strings.Split(name, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/")
}

// CommitURL gives what the addresses of files at a commit begin with, as the repository's server
// shows them; "" where the address is none.
func CommitURL(address, commit string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host, scheme := parsed.Host, parsed.Scheme
	if scheme == "ssh" {
		host, scheme = parsed.Hostname(), "https" // its port is none of the web server
	}
	view := "src/commit" // Gitea, Forgejo, Codeberg
	switch {
	case host == "github.com" || strings.Contains(host, "github"):
		view = "blob"
	case strings.Contains(host, "gitlab"):
		view = "-/blob"
	case host == "bitbucket.org":
		view = "src"
	}
	place := strings.TrimSuffix(strings.Trim(parsed.Path, "/"), ".git")
	return scheme + "://" + host + "/" + escapePath(path.Clean(place)) + "/" + view + "/" + commit + "/"
}
