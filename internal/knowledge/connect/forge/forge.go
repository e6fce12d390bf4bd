// Package forge is the connector for repositories on GitHub, GitLab and Gitea: their documentation
// files and wikis, by way of the connector for git, and their issues, discussions and releases with
// what people wrote to them.
//
// One connector reads all three; a dialect says how each of them is asked (github.go, gitlab.go,
// gitea.go). What changed is asked for since the last sync, and what is gone is found by counting;
// a whole listing follows where the count differs, and once a day. What private repositories hold
// is for a group of each, whose members Access gives.
package forge

import (
	"context"
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
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// Kind is a kind of forge.
type Kind string

// The kinds of forges. Forgejo is a Gitea.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea"
)

// Part is a part of a repository that is read.
type Part string

// The parts. Discussions are GitHub's alone.
const (
	Files       Part = "files"
	Wiki        Part = "wiki"
	Issues      Part = "issues"
	Discussions Part = "discussions"
	Releases    Part = "releases"
)

// Parts are all parts, in the order in which they are read.
var Parts = []Part{Files, Wiki, Issues, Discussions, Releases}

// Options say what to read.
type Options struct {
	Source knowledge.SourceID
	Kind   Kind
	// URL is where people open it: that of one repository, or of an owner (a person, an
	// organization, a group) for all repositories of theirs.
	URL   string
	Token string // "": public repositories alone
	Parts []Part // none: all
	// Include and Exclude are patterns of paths in each repository, see files.Options. No Include
	// means its README, and what is in docs folders.
	Include, Exclude []string
	SourceCode       bool
	MaxBytes         int64 // of one document; 0: 32 MiB
	// Folder is the connector's own, for mirrors of repositories and for what it knows of their
	// state; what is lost in it is read again.
	Folder string
	// Git bounds what is received of repositories. Its AllowPrivate and TLS hold for all requests.
	Git git.Options
	// Audience is whom all documents are for; "": public repositories' are public, and private
	// ones' are for those who may read them there.
	Audience knowledge.Audience
	Kinds    knowledge.Kind // that documents are shown under but for issues and discussions; "": documentation
	Owner    string
	// People are the addresses of accounts, by their names on the forge; they go before what the
	// forge says.
	People map[string]string
	// Every is how often the source is read: a repository that was looked at since is left where
	// Changed names others.
	Every time.Duration
	// Changed are what the forge told to have changed; none: everything is looked at.
	Changed []Event
	Now     func() time.Time // nil: time.Now
}

const defaultMaxBytes = 32 << 20

// defaultInclude is read of a repository where nothing else is said.
var defaultInclude = []string{"README*", "*.md", "docs/**", "doc/**", "documentation/**", "**/README.md"}

// Connector reads one forge. Its methods may be called concurrently.
type Connector struct {
	options Options
	speaks  dialect

	mu      sync.Mutex
	skipped []connect.Skipped
}

var _ interface {
	connect.Connector
	connect.Skipper
	connect.Checker
	connect.Granter
} = (*Connector)(nil)

// New returns the connector for a forge. Options are checked by Sync.
func New(options Options) *Connector {
	if options.MaxBytes == 0 {
		options.MaxBytes = defaultMaxBytes
	}
	if options.Kinds == "" {
		options.Kinds = knowledge.KindDocumentation
	}
	if len(options.Parts) == 0 {
		options.Parts = Parts
	}
	if len(options.Include) == 0 {
		options.Include = defaultInclude
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Connector{options: options, speaks: dialects[options.Kind]}
}

// Source returns the source that the documents belong to.
func (c *Connector) Source() knowledge.SourceID { return c.options.Source }

// Skipped returns what the last finished Sync passed over, by reason.
func (c *Connector) Skipped() []connect.Skipped {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.skipped)
}

// Sync yields the documents of one repository after another, then what is gone.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		err := c.sync(ctx, known, yield)
		if err != nil && !errors.Is(err, errStopped) {
			yield(connect.Change{}, fmt.Errorf("read %s: %w", c.options.URL, err))
		}
	}
}

// errStopped is that the caller wants no more changes.
var errStopped = errors.New("stopped")

// place is what an address names.
type place struct {
	base       *url.URL // of the forge
	owner      string   // "acme", on GitLab "acme/tools"
	repository string   // its full name, "" for all of the owner
}

// place reads the address. On GitLab, whose groups have groups, only the forge itself can tell
// an owner from a repository: there both are set.
func (c *Connector) place() (place, error) {
	if c.speaks == nil {
		return place{}, fmt.Errorf("%q is no kind of forge: want github, gitlab or gitea", c.options.Kind)
	}
	base, err := url.Parse(c.options.URL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return place{}, errors.New("its address does not start with https:// or http://")
	}
	path := strings.TrimSuffix(strings.Trim(base.Path, "/"), ".git")
	names := strings.Split(path, "/")
	at := place{base: &url.URL{Scheme: base.Scheme, Host: base.Host}}
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			return place{}, errors.New("its address names neither a repository nor an owner: want https://HOST/OWNER/REPOSITORY or https://HOST/OWNER")
		}
	}
	switch {
	case c.options.Kind == GitLab && len(names) > 1:
		at.owner, at.repository = path, path
	case len(names) == 1:
		at.owner = path
	case len(names) == 2:
		at.owner, at.repository = names[0], path
	default: // a forge below a folder of its host
		folder := strings.Join(names[:len(names)-2], "/")
		at.base.Path = "/" + folder
		at.owner, at.repository = names[len(names)-2], strings.Join(names[len(names)-2:], "/")
	}
	return at, nil
}

// reads reports whether a part is read.
func (c *Connector) reads(part Part) bool { return slices.Contains(c.options.Parts, part) }
