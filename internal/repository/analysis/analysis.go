// Package analysis has the four tools that look at a repository: its structure, its most
// telling files, what it depends on, and its architecture. All they say is read from its
// files, with the file and line that it was read from. What they give is bounded, and says
// so where there is more.
package analysis

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/modules"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// Place is a line of a file; Line 0 is the file as a whole.
type Place struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// Risk is something that may do harm.
type Risk struct {
	Kind   RiskKind `json:"kind"`
	Text   string   `json:"text"` // one line of Markdown without what was found out in secret
	Places []Place  `json:"places,omitempty"`
	More   int      `json:"more,omitempty"` // places beyond those
}

// RiskKind is what kind of risk there is.
type RiskKind string

// The kinds of risks.
const (
	NoLock    RiskKind = "no lock file"
	NoLicense RiskKind = "no license"
	Huge      RiskKind = "huge file"
	Secret    RiskKind = "secret"
	NoTests   RiskKind = "no tests"
	Unpinned  RiskKind = "unpinned image"
)

// Analyst looks at one repository, which it reads once. Its methods may be called
// concurrently.
type Analyst struct {
	checkout *repository.Checkout
	reading  sync.Mutex
	read     *reading // nil until it was read
}

// New returns an analyst of an open repository.
func New(checkout *repository.Checkout) *Analyst { return &Analyst{checkout: checkout} }

// reading is what was read of all files.
type reading struct {
	files     []file
	manifests []manifest.Manifest
	broken    []string // manifests that can't be read, and why
	unread    int      // files that were too large to be looked into
	modules   modules.Map
	entries   []Entry
}

// file is what was read of one file.
type file struct {
	repository.File
	language source.Language
	test     bool
	role     source.Role
	binary   bool
	lines    int
	facts    source.Facts
	secrets  []secret
	manifest *manifest.Manifest
	broken   error
	unread   bool
}

// readAll reads the repository, the first time that it is called without an error.
func (a *Analyst) readAll(ctx context.Context) (*reading, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	if a.read != nil {
		return a.read, nil
	}
	left := a.checkout.MaxBytes()
	files := make([]file, len(a.checkout.Files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, listed := range a.checkout.Files {
		files[i] = file{File: listed, language: source.LanguageOf(listed.Path), test: source.IsTest(listed.Path), role: source.RoleOf(listed.Path)}
		if listed.Size > a.checkout.MaxRead() || listed.Size > left {
			files[i].unread = true
			continue
		}
		left -= listed.Size
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return a.readFile(&files[i])
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the repository: %w", err)
	}
	a.read = collectFiles(files)
	a.read.modules = modules.Build(a.read.sourceFiles(), a.read.namedModules())
	a.read.entries = a.read.listEntries()
	return a.read, nil
}

func collectFiles(files []file) *reading {
	read := &reading{files: files}
	for _, f := range files {
		switch {
		case f.unread:
			read.unread++
		case f.broken != nil:
			read.broken = append(read.broken, f.broken.Error())
		case f.manifest != nil:
			read.manifests = append(read.manifests, *f.manifest)
		}
	}
	// The root's manifest says most of what the repository is, and examples' say least; what is
	// published says more than what is not.
	slices.SortStableFunc(read.manifests, func(a, b manifest.Manifest) int {
		return cmp.Or(
			cmp.Compare(roleOrder[source.RoleOf(a.Path)], roleOrder[source.RoleOf(b.Path)]), cmp.Compare(isUnpublished(a), isUnpublished(b)),
			cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(isImage(a), isImage(b)), strings.Compare(a.Path, b.Path),
		)
	})
	return read
}

// isUnpublished is 1 for what describes a part of the repository that is not published.
func isUnpublished(m manifest.Manifest) int {
	if m.Private && strings.Contains(m.Path, "/") {
		return 1
	}
	return 0
}

// isImage is 1 for what names images rather than packages.
func isImage(m manifest.Manifest) int {
	if m.Ecosystem == manifest.Container {
		return 1
	}
	return 0
}

// readFile reads one file.
func (a *Analyst) readFile(f *file) error {
	content, err := a.checkout.Read(f.Path)
	if err != nil {
		return err //nolint:wrapcheck // it names the file
	}
	if f.binary = isBinary(content); f.binary {
		return nil
	}
	f.lines = bytes.Count(content, []byte{'\n'})
	if len(content) > 0 && content[len(content)-1] != '\n' {
		f.lines++
	}
	f.secrets = findSecrets(content)
	f.broken = recoverPanic(f.Path, func() error {
		f.facts = source.Parse(f.Path, content)
		if !manifest.Is(f.Path) || f.test {
			return nil
		}
		m, err := manifest.Parse(f.Path, content)
		if err == nil {
			f.manifest = &m
		}
		return err //nolint:wrapcheck // it names the file
	})
	return nil
}

// recoverPanic makes an error of a panic: the parsers of so many formats are other people's,
// and a file that one of them can't bear must not end the process.
func recoverPanic(path string, parse func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("read %s: its parser failed: %v", path, reason)
		}
	}()
	return parse()
}

// isBinary tells by its beginning whether a file is no text.
func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}
