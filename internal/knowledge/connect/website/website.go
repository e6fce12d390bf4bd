// Package website is the connector for a website: the pages that its sitemap lists, or those that
// links lead to from where it begins.
//
// It stays on one host, below one path, and inside the public internet unless it is told
// otherwise; robots.txt is followed. A page that did not change is asked for conditionally, and
// not at all where the sitemap tells. A page is gone where the sitemap lists it no more, or where
// the server says twice in one sync that it is not there.
package website

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// Options say which site to read, and what of it.
type Options struct {
	Source knowledge.SourceID
	URL    string // where the site begins; pages that are not below its folder are left
	// Include and Exclude are patterns of paths below that folder, see files.Options.
	Include, Exclude []string
	Languages        []string // of pages that say theirs; none: all. "pt" stands for "pt-BR", too.
	Pages            int      // to read at most; 0: 10,000
	Depth            int      // links from where the site begins; 0: 20
	MaxBytes         int64    // of one page; 0: 32 MiB
	Token            string   // sent to the site's host as a bearer token; "": none
	// AllowPrivate lets addresses be connected to that are not public.
	AllowPrivate bool
	TLS          *tls.Config // nil: the system's certificates

	Kind     knowledge.Kind // "" means web
	Audience knowledge.Audience
	Owner    string
}

const (
	defaultPages    = 10_000
	defaultDepth    = 20
	defaultMaxBytes = 32 << 20
)

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
} = (*Connector)(nil)

// New returns the connector for a site. Options are checked by Sync.
func New(options Options) *Connector {
	setDefault(&options.Pages, defaultPages)
	setDefault(&options.Depth, defaultDepth)
	setDefault(&options.MaxBytes, defaultMaxBytes)
	setDefault(&options.Kind, knowledge.KindWeb)
	options.Audience = options.Audience.OrPublic()
	return &Connector{options: options}
}

func setDefault[T comparable](value *T, to T) {
	var zero T
	if *value == zero {
		*value = to
	}
}

// Source returns the source that the documents belong to.
func (c *Connector) Source() knowledge.SourceID { return c.options.Source }

// Skipped returns what the last finished Sync passed over, by reason.
func (c *Connector) Skipped() []connect.Skipped {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.skipped)
}

// Sync yields the pages, those nearest to where the site begins first, then what is gone.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		err := c.sync(ctx, known, yield)
		if err != nil && !errors.Is(err, errStopped) {
			yield(connect.Change{}, fmt.Errorf("read website %s: %w", c.options.URL, err))
		}
	}
}

// errStopped is that the caller wants no more changes.
var errStopped = errors.New("stopped")

func (c *Connector) sync(ctx context.Context, known connect.Known, yield func(connect.Change, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	base, err := url.Parse(c.options.URL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return errors.New("its address does not start with https:// or http://")
	}
	scope := newScope(base, c.options)
	site := &crawl{
		options: c.options, scope: scope, fetcher: newFetcher(c.options, scope), known: c.knownPages(known), yield: yield,
		visited: make(map[string]bool), present: make(map[string]bool), contents: make(map[string]string), skipped: make(map[string]int),
		settings: settingsHash(c.options),
	}
	if err := site.run(ctx); err != nil {
		return err
	}
	if err := site.yieldGone(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped = nil
	for _, reason := range slices.Sorted(maps.Keys(site.skipped)) {
		c.skipped = append(c.skipped, connect.Skipped{Reason: reason, Count: site.skipped[reason]})
	}
	return nil
}

// knownPages gives what is known of each address.
func (c *Connector) knownPages(known connect.Known) map[string]knownPage {
	pages := make(map[string]knownPage)
	for id, hash := range known {
		if address, ok := strings.CutPrefix(string(id), string(c.options.Source)+":"); ok {
			pages[address] = parseHash(hash)
		}
	}
	return pages
}

// scope is the part of the web that belongs to a site.
type scope struct {
	base    *url.URL
	folder  string // that pages are below, with a slash at its end
	options Options
}

func newScope(base *url.URL, options Options) scope {
	base = normalizeURL(base)
	folder := base.Path
	if !strings.HasSuffix(folder, "/") {
		folder = path.Dir(folder)
	}
	return scope{base: base, folder: strings.TrimSuffix(folder, "/") + "/", options: options}
}

// maxAddress is the length of the longest address that is followed, in bytes: one that grows with
// every link leads nowhere.
const maxAddress = 1000

// isHost reports whether an address is on the site's host.
func (s scope) isHost(address *url.URL) bool {
	return address.Scheme == s.base.Scheme && strings.EqualFold(address.Host, s.base.Host)
}

// containsAddress reports whether an address, which is normalized, is one of the site's.
func (s scope) containsAddress(address *url.URL) bool {
	if !s.isHost(address) || len(address.String()) > maxAddress || address.String() != s.base.String() && !strings.HasPrefix(address.Path, s.folder) {
		return false
	}
	below := s.pathOf(address)
	return (len(s.options.Include) == 0 || matchesAny(s.options.Include, below)) && !matchesAny(s.options.Exclude, below)
}

// pathOf gives the path of a page as people are shown it.
func (s scope) pathOf(address *url.URL) string {
	below := strings.TrimPrefix(address.Path, s.folder)
	if below == "" || below == "/" {
		below = "index"
	}
	if address.RawQuery != "" {
		below += "?" + address.RawQuery
	}
	return below
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := doublestar.Match(pattern, strings.TrimSuffix(name, "/"))
		return err == nil && matched // patterns were validated
	})
}

// trackers are parameters that make no difference to what a page says.
var trackers = []string{"utm_", "fbclid", "gclid", "mc_cid", "mc_eid"}

// normalizeURL gives one form to addresses that mean the same page.
func normalizeURL(address *url.URL) *url.URL {
	clean := *address
	clean.Fragment, clean.RawFragment, clean.User = "", "", nil
	clean.Scheme, clean.Host = strings.ToLower(clean.Scheme), strings.ToLower(clean.Host)
	if port := clean.Port(); clean.Scheme == "https" && port == "443" || clean.Scheme == "http" && port == "80" {
		clean.Host = clean.Hostname()
	}
	if clean.Path == "" {
		clean.Path = "/"
	}
	if cleaned := path.Clean(clean.Path); cleaned != clean.Path {
		if strings.HasSuffix(clean.Path, "/") && cleaned != "/" {
			cleaned += "/"
		}
		clean.Path, clean.RawPath = cleaned, ""
	}
	if clean.RawQuery != "" {
		query := clean.Query()
		maps.DeleteFunc(query, func(key string, _ []string) bool {
			return slices.ContainsFunc(trackers, func(tracker string) bool { return strings.HasPrefix(key, tracker) })
		})
		clean.RawQuery = query.Encode()
	}
	clean.ForceQuery = false
	return &clean
}

// earliest keeps times of servers that tell nonsense out.
var earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
