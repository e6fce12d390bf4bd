// Package repository opens repositories to be read: a folder inside one that may be read,
// or one that is fetched by its https address. Nothing of a repository is ever run, and no
// link in it is followed.
//
// Below it, git is what knows git, manifest reads what a repository depends on, source
// what its files import, modules puts those together to a map, analysis has the four tools
// that look at a repository, reason lets a language model think about what they found, and
// report writes it down.
package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/publicnet"
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// Limits bound what is read of a repository; a zero field is its default.
type Limits struct {
	Files     int   // 100,000
	FileBytes int64 // of a file that is looked into: 2 MiB. A larger one counts, unread.
	Bytes     int64 // of all files that are looked into: 1 GiB
}

func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = 100_000
	}
	if l.FileBytes == 0 {
		l.FileBytes = 2 << 20
	}
	if l.Bytes == 0 {
		l.Bytes = 1 << 30
	}
	return l
}

// Options say what may be opened.
type Options struct {
	// Roots are the folders that may be read, with all that is below them. A relative name
	// is looked for in each, in this order. None: no folder is read.
	Roots []string
	// Fetcher fetches addresses; nil: none is fetched.
	Fetcher *git.Fetcher
	// Mirrors lists what is opened by its address without being fetched; nil: none is.
	Mirrors func() ([]Mirror, error)
	Limits  Limits
}

// Opener opens repositories. Its methods may be called concurrently.
type Opener struct{ options Options }

// NewOpener returns an opener.
func NewOpener(options Options) *Opener {
	options.Limits = options.Limits.withDefaults()
	return &Opener{options: options}
}

// RefusedError says in words for people why a repository was not opened, and what helps.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

func newRefusal(format string, args ...any) error {
	return &RefusedError{Text: fmt.Sprintf(format, args...)}
}

// File is a regular file of a repository.
type File struct {
	Path string // with slashes, from the repository's root
	Size int64  // bytes
}

// Checkout is an open repository. Its methods may be called concurrently, but for Close.
type Checkout struct {
	Name   string // as people know it: "cairn", "github.com/golang/oscar"
	Commit string // whole hash, "" where it is not known
	// Files are in the order of their paths: those that git tracks, where it knows the
	// folder; without what is left out, see Skipped, and what the viewers of the context in
	// which it was opened may not read (knowledge.WithViewers).
	Files   []File
	Skipped []string // folders that were not looked into: "node_modules"
	Links   int      // symbolic links, which are not followed
	// Submodules are the folders of other repositories, which are not fetched.
	Submodules []string
	// Web is the beginning of the addresses of its files at the commit, "" where it is not
	// known to be on the web; see Link.
	Web string
	// Outdated says why it may be older than its remote, "" where it is not known to be.
	Outdated string
	remote   string
	hidden   bool // there are files that the viewers may not read
	limits   Limits
	root     *os.Root
	remove   func() error
}

// IsAddress reports whether a repository is named by an address rather than as a folder.
func IsAddress(name string) bool { return strings.Contains(name, "://") }

// Open opens a repository by the name of its folder or its https address. What may not be
// opened is a *RefusedError; the network's failures are other errors. The caller closes it.
func (o *Opener) Open(ctx context.Context, name string) (*Checkout, error) {
	if !IsAddress(name) {
		return o.openFolder(ctx, name)
	}
	mirror, ok, err := o.findMirror(ctx, name)
	if err != nil {
		return nil, err
	}
	if ok {
		return o.openMirror(ctx, mirror)
	}
	return o.fetchRepository(ctx, name)
}

func (o *Opener) openFolder(ctx context.Context, name string) (_ *Checkout, err error) {
	root, path, allowed, err := o.resolveFolder(name)
	if err != nil {
		return nil, err
	}
	audiences, err := openAudiences(allowed, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open repository %s: %w", name, err), root.Close())
	}
	defer func() { err = errors.Join(err, audiences.Close()) }()
	if !audiences.shows(ctx, ".") {
		return nil, errors.Join(missingFolderError(name), root.Close())
	}
	c := &Checkout{Name: filepath.Base(path), limits: o.options.Limits, root: root, remove: func() error { return nil }}
	state, err := git.Read(root)
	switch {
	case err == nil:
		c.remote = state.Remote
		c.Commit, c.Links, c.Submodules = state.Commit, state.Links, state.Submodules
		if web, name := webOf(state.Remote, state.Commit); web != "" {
			c.Web, c.Name = web, name
		}
		err = c.listTracked(state.Files)
	case errors.Is(err, git.ErrNone):
		err = c.walkFolder(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open repository %s: %w", name, err), root.Close())
	}
	c.hide(ctx, audiences)
	return c, nil
}

// OpenNewest opens a repository as Open does; but a clone whose remote may be fetched as the
// remote has it now, without a change to the clone. Where the remote can't be asked, the clone is
// opened, and says why it may be outdated.
func (o *Opener) OpenNewest(ctx context.Context, name string) (*Checkout, error) {
	c, err := o.Open(ctx, name)
	if err != nil || c.hidden || o.options.Fetcher == nil {
		return c, err
	}
	address := remoteAddress(c.remote)
	if address == nil || !o.mayFetch(address) {
		return c, nil
	}
	newest, err := o.options.Fetcher.Newest(ctx, address)
	if err == nil && newest == c.Commit {
		return c, nil
	}
	var fetched *Checkout
	if err == nil {
		fetched, err = o.fetchRepository(ctx, address.String())
	}
	if err != nil {
		c.Outdated = oneLineOf(err)
		return c, nil
	}
	return fetched, c.Close()
}

// mayFetch reports whether repositories at an address may be fetched.
func (o *Opener) mayFetch(address *url.URL) bool { return o.options.Fetcher.Check(address) == nil }

func oneLineOf(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func (o *Opener) fetchRepository(ctx context.Context, name string) (*Checkout, error) {
	address, err := url.Parse(name)
	if err != nil || address.Host == "" {
		return nil, newRefusal("I can't read the address of that repository: write it as in `https://github.com/owner/name`.")
	}
	if o.options.Fetcher == nil || len(o.options.Fetcher.Hosts()) == 0 {
		return nil, newRefusal("No repository may be fetched here: name a folder, as in `./backend`, or have the host listed in the setting `flows.repositories`.")
	}
	dir, err := os.MkdirTemp("", "cairn-repository-")
	if err != nil {
		return nil, fmt.Errorf("fetch a repository: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fetch a repository: %w", err), remove())
	}
	state, err := o.options.Fetcher.Fetch(ctx, address, root)
	if err != nil {
		return nil, errors.Join(o.explainFetchError(err), root.Close(), remove())
	}
	c := &Checkout{
		Name: nameOf(address), Commit: state.Commit, Links: state.Links, Submodules: state.Submodules,
		limits: o.options.Limits, root: root, remove: remove,
	}
	c.Web, _ = webOf(state.Remote, state.Commit)
	if err := c.listTracked(state.Files); err != nil {
		return nil, errors.Join(fmt.Errorf("open repository %s: %w", c.Name, err), c.Close())
	}
	return c, nil
}

// explainFetchError words why a repository was not fetched, where trying again is of no use.
func (o *Opener) explainFetchError(err error) error {
	var address *git.AddressError
	switch {
	case errors.As(err, &address):
		return newRefusal("I may not fetch that repository: %s. Repositories are fetched over https from %s.",
			address.Reason, strings.Join(o.options.Fetcher.Hosts(), ", "))
	case errors.Is(err, publicnet.ErrPrivate):
		return newRefusal("I may not fetch that repository: its host is not on the public internet.")
	case errors.Is(err, git.ErrAbsent):
		return newRefusal("There is no repository at that address that I may read: check it, as in `https://github.com/owner/name`, and whether it is public.")
	case errors.Is(err, git.ErrTooLarge):
		return newRefusal("That repository is too large to fetch (%v). Name a folder with a checkout of it instead.", err)
	}
	return err
}

// resolveFolder opens the folder of a name that lies in one of the roots, and gives its path and
// that root. A link on the way to it is followed only inside of its root.
func (o *Opener) resolveFolder(name string) (opened *os.Root, path, allowed string, err error) {
	if len(o.options.Roots) == 0 {
		return nil, "", "", newRefusal("No folder may be read here: name a repository by its https address, or have the folder listed in the setting `flows.folders`.")
	}
	inside := false
	for _, allowed := range o.options.Roots {
		allowed, err := filepath.Abs(allowed)
		if err != nil {
			return nil, "", "", fmt.Errorf("folder %s, which may be read: %w", allowed, err)
		}
		path := filepath.Clean(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(allowed, path)
		}
		below, err := filepath.Rel(allowed, path)
		if err != nil || !filepath.IsLocal(below) {
			continue
		}
		inside = true
		root, err := openBelow(allowed, below)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return root, path, allowed, err
	}
	if !inside {
		return nil, "", "", o.outsideError(name)
	}
	return nil, "", "", missingFolderError(name)
}

func missingFolderError(name string) error {
	return newRefusal("There is no folder %s: check its name.", oneLine(name))
}

func openBelow(allowed, below string) (*os.Root, error) {
	outer, err := os.OpenRoot(allowed)
	if err != nil {
		return nil, fmt.Errorf("folder %s, which may be read: %w", allowed, err)
	}
	defer outer.Close()
	info, err := outer.Stat(below)
	if err == nil && !info.IsDir() {
		return nil, newRefusal("%s is a file: name the folder of a repository.", oneLine(below))
	}
	root, err := outer.OpenRoot(below)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, newRefusal("I may not read %s: it leads out of what I may read, or is closed to me.", oneLine(below))
	}
	return root, err //nolint:wrapcheck // compared by the caller
}

func (o *Opener) outsideError(name string) error {
	var names []string
	for _, root := range o.options.Roots {
		names = append(names, filepath.Base(root))
	}
	return newRefusal("I may not read %s: it is outside of what I may read (%s). Name a folder inside, as in `./backend`.", oneLine(name), strings.Join(names, ", "))
}

// maxName is how much of a name is repeated, in bytes.
const maxName = 200

func oneLine(name string) string {
	name = strings.ToValidUTF8(strings.Join(strings.Fields(name), " "), "")
	return "`" + strings.ReplaceAll(name[:min(len(name), maxName)], "`", "") + "`"
}

// Close ends the reading, and removes what was fetched.
func (c *Checkout) Close() error { return errors.Join(c.root.Close(), c.remove()) }

// MaxRead returns the size over which a file is not read, in bytes.
func (c *Checkout) MaxRead() int64 { return c.limits.FileBytes }

// MaxBytes returns how much is read of a repository altogether, in bytes.
func (c *Checkout) MaxBytes() int64 { return c.limits.Bytes }

// Read returns a file's content, at most MaxRead bytes of it. A path is one of Files: a link
// that has come into its place since is not followed out of the repository.
func (c *Checkout) Read(path string) ([]byte, error) {
	file, err := c.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	content, err := io.ReadAll(io.LimitReader(file, c.limits.FileBytes))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return content, nil
}

// Has reports whether there is a file of that path.
func (c *Checkout) Has(path string) bool {
	_, found := slices.BinarySearchFunc(c.Files, path, func(f File, path string) int { return strings.Compare(f.Path, path) })
	return found
}
