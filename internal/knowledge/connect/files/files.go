// Package files is the connector for a folder of documents.
//
// It reads what lies below one folder and never leaves it: a link that leads out is
// refused. What is hidden, vendored, an image, an archive, source code or the like
// is skipped and counted, see Connector.Skipped. Every other file that can't be read
// is a Failed change that says why.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// defaultMaxBytes is the size of a document over which it is not read.
const defaultMaxBytes = 32 << 20

// Options say which folder to read, and what of it.
type Options struct {
	Root   string // the folder, or a single file
	Source knowledge.SourceID
	// Include and Exclude are patterns of slash-separated paths below Root, "**" for
	// any number of folders. No Include means everything; Exclude goes before Include.
	Include, Exclude []string
	MaxBytes         int64 // of one document; 0 means 32 MiB
	// URLBase is the address that documents' paths are appended to; "" gives file://
	// addresses.
	URLBase string
	Kind    knowledge.Kind // that the documents are shown under; "" means documentation
	// SourceCode reads source code as well, which is shown as code.
	SourceCode bool
	// Pictures reads pictures as well: their text is recognized later.
	Pictures bool
	// FallbackURL has URLBase give way to the address of a site, where the folder is one that a
	// known generator publishes and its configuration says where.
	FallbackURL bool
	// Audience and Owner hold for documents of which no SettingsFile says otherwise. None
	// makes public what Audience restricts.
	Audience knowledge.Audience
	Owner    string
}

// Connector reads one folder. Its methods may be called concurrently.
type Connector struct {
	options Options

	mu      sync.Mutex
	skipped []connect.Skipped
}

var _ interface {
	connect.Connector
	connect.Estimator
	connect.Skipper
	connect.Watcher
	connect.Checker
} = (*Connector)(nil)

// New returns the connector for a folder. Options are checked by Sync and Estimate.
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

// URLBase returns the address that documents' paths are appended to, "" where they have file
// addresses.
func (c *Connector) URLBase() string { return c.options.URLBase }

// Skipped returns what the last finished Sync passed over, by reason.
func (c *Connector) Skipped() []connect.Skipped {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.skipped)
}

// Estimate returns the number of changes that a Sync will yield, those of documents
// that are gone not counted.
func (c *Connector) Estimate(ctx context.Context) (int, error) {
	place, err := c.openFolder()
	if err != nil {
		return 0, err
	}
	defer place.root.Close()
	listed, err := place.listFiles(ctx)
	if err != nil {
		return 0, err
	}
	return len(listed.entries), nil
}

// Sync yields the files in order of their paths, then what is gone. A folder without
// any file to read is an error: it is more likely the wrong one, or not mounted, than
// one whose documents are all to be forgotten.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		if err := c.syncFolder(ctx, known, yield); err != nil {
			yield(connect.Change{}, fmt.Errorf("read source %s: %w", c.options.Source, err))
		}
	}
}

func (c *Connector) syncFolder(ctx context.Context, known connect.Known, yield func(connect.Change, error) bool) error {
	place, err := c.openFolder()
	if err != nil {
		return err
	}
	defer place.root.Close()
	listed, err := place.listFiles(ctx)
	if err != nil {
		return err
	}
	if len(listed.entries) == 0 {
		return listed.emptyError(c.options)
	}
	for _, entry := range listed.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !yield(place.readChange(entry, known), nil) {
			return nil
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		name, ours := strings.CutPrefix(string(id), c.idPrefix())
		if !ours || listed.mayHold(name) {
			continue
		}
		gone := connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id, Source: c.options.Source, Path: name}}
		if !yield(gone, nil) {
			return nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped = listed.listSkipped()
	return nil
}

// idPrefix returns what the ids of the source's documents begin with, before their path.
func (c *Connector) idPrefix() string { return string(c.options.Source) + ":" }

// openFolder checks the options and opens the folder.
func (c *Connector) openFolder() (*openedFolder, error) {
	if err := c.options.validate(); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(c.options.Root)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", c.options.Root, err)
	}
	info, err := os.Stat(absolute)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("folder %s is not there: check the path", absolute)
	case err != nil:
		return nil, fmt.Errorf("folder %s can't be opened: %w", absolute, err)
	}
	opened := &openedFolder{Connector: c, path: absolute}
	if !info.IsDir() {
		opened.path, opened.only = filepath.Split(absolute)
	}
	if opened.root, err = os.OpenRoot(opened.path); err != nil {
		return nil, fmt.Errorf("folder %s can't be opened: %w", opened.path, err)
	}
	return opened, nil
}

func (o Options) validate() error {
	var faults []error
	if o.Source == "" || strings.ContainsAny(string(o.Source), ":#") {
		faults = append(faults, fmt.Errorf("source name %q: give one without \":\" and \"#\"", o.Source))
	}
	if o.Root == "" {
		faults = append(faults, errors.New("no folder is named"))
	}
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if !doublestar.ValidatePattern(pattern) {
			faults = append(faults, fmt.Errorf("pattern %q is not valid: write it like \"docs/**/*.md\"", pattern))
		}
	}
	if o.MaxBytes < 0 {
		faults = append(faults, fmt.Errorf("limit of %d bytes for a document: give a positive one", o.MaxBytes))
	}
	if base, err := url.Parse(o.URLBase); o.URLBase != "" && (err != nil || base.Scheme == "" || base.Host == "") {
		faults = append(faults, fmt.Errorf("URL base %q: give a whole address such as https://docs.example.com", o.URLBase))
	}
	return errors.Join(faults...)
}
