package website

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// crawl is one Sync. But for what fetchLevel does, it is one goroutine's.
type crawl struct {
	options  Options
	scope    scope
	fetcher  *fetcher
	known    map[string]knownPage
	yield    func(connect.Change, error) bool
	settings string
	rules    *robotstxt.Group
	sitemaps []string // that robots.txt names

	visited  map[string]bool   // addresses that were asked for, or queued
	present  map[string]bool   // those that are documents
	missing  []string          // known pages that are not there, as the server said once
	contents map[string]string // the address of each content
	skipped  map[string]int
	pages    int
	failures int // in a row, of the server or the network
}

// maxFailures is how many failures in a row end a sync: the server is in trouble.
const maxFailures = 20

// visit is a page to ask for.
type visit struct {
	address *url.URL
	depth   int
	changed string // the sitemap's lastmod
	follow  bool   // its links are followed
}

// fetched is what came of a visit.
type fetched struct {
	visit
	answer *remote.Response // nil: the sitemap says that it did not change
	err    error
}

// run reads the pages that the sitemap lists; without one, those that links lead to. In the latter
// case pages that are known are asked for where links led to them once.
func (c *crawl) run(ctx context.Context) error {
	defer c.fetcher.Close()
	if err := c.readRobots(ctx); err != nil {
		return err
	}
	listed, err := c.readSitemaps(ctx)
	if err != nil {
		return err
	}
	levels := make(map[int][]visit)
	for _, page := range listed {
		levels[0] = append(levels[0], visit{address: page.address, changed: page.changed})
	}
	if len(listed) == 0 {
		levels[0] = []visit{{address: c.scope.base, follow: true}}
		for address, page := range c.known {
			if at, err := url.Parse(address); err == nil && c.scope.containsAddress(at) {
				levels[page.depth] = append(levels[page.depth], visit{address: at, depth: page.depth, follow: true})
			}
		}
	}
	for depth := 0; depth <= c.options.Depth; depth++ {
		found, err := c.readLevel(ctx, c.selectVisits(levels[depth]))
		if err != nil {
			return err
		}
		for len(found[depth]) > 0 { // where pages say that they stand for others
			again := c.selectVisits(found[depth])
			levels[depth+1] = append(levels[depth+1], found[depth+1]...)
			if found, err = c.readLevel(ctx, again); err != nil {
				return err
			}
		}
		levels[depth+1] = append(levels[depth+1], found[depth+1]...)
	}
	if len(c.present) == 0 && c.pages == 0 {
		return errors.New("there is nothing to read: check the address, its robots.txt, and the patterns")
	}
	return nil
}

// selectVisits gives those of a level that were not asked for and may be, in the order of their
// addresses, as many as may still be read.
func (c *crawl) selectVisits(level []visit) []visit {
	slices.SortStableFunc(level, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.address.String(), b.address.String()), cmp.Compare(b.changed, a.changed))
	})
	var visits []visit
	for _, v := range level {
		address := v.address.String()
		switch {
		case c.visited[address]:
			continue
		case !c.mayRead(v.address):
			c.skipped["not allowed by robots.txt"]++
		case files.AssetKind(v.address.Path) != "":
			c.skipped[files.AssetKind(v.address.Path)]++
		case c.pages == c.options.Pages:
			c.skipped[fmt.Sprintf("beyond the limit of %d pages", c.options.Pages)]++
		default:
			c.pages++
			visits = append(visits, v)
		}
		c.visited[address] = true
	}
	return visits
}

// readLevel asks for pages, several at once, handles them in their order, and gives the visits
// that they lead to, by depth.
func (c *crawl) readLevel(ctx context.Context, visits []visit) (map[int][]visit, error) {
	found := make(map[int][]visit)
	for some := range slices.Chunk(visits, 4*requests) {
		results := make([]fetched, len(some))
		group, within := errgroup.WithContext(ctx)
		group.SetLimit(requests)
		for i, v := range some {
			group.Go(func() error {
				results[i] = c.fetch(within, v)
				if unavailable, ok := errors.AsType[*connect.UnavailableError](results[i].err); ok {
					return unavailable
				}
				return within.Err()
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		for _, result := range results {
			if err := c.handle(ctx, result, found); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// fetch asks for a page, unless the sitemap says that it did not change.
func (c *crawl) fetch(ctx context.Context, v visit) fetched {
	known := c.known[v.address.String()]
	if known.settings != c.settings {
		known = knownPage{} // it is read again in any case
	}
	if known.content != "" && v.changed != "" && v.changed == known.listed && isSettled(v.changed, time.Now()) {
		return fetched{visit: v}
	}
	answer, err := c.fetcher.get(ctx, v.address.String(), known)
	return fetched{v, answer, err}
}

// handle yields what came of a visit, and notes where it leads to.
func (c *crawl) handle(ctx context.Context, result fetched, found map[int][]visit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	address := result.address.String()
	if result.err != nil {
		if result.depth == 0 && result.follow && address == c.scope.base.String() {
			return result.err // nothing is reached without it
		}
		if !remote.IsFinal(result.err) {
			c.failures++
		}
		if c.failures == maxFailures {
			return &connect.UnavailableError{After: remote.DefaultRest, Reason: fmt.Errorf("%d pages in a row failed, the last one so: %w", maxFailures, result.err)}
		}
		return c.yieldFailed(result, result.err)
	}
	if result.answer == nil {
		return c.yieldUnchanged(result)
	}
	c.failures = 0
	switch status := result.answer.Status; {
	case status == http.StatusOK:
		return c.handlePage(result, found)
	case status == http.StatusNotModified && c.known[address].content != "":
		return c.yieldUnchanged(result)
	case status == http.StatusNotFound || status == http.StatusGone:
		if _, ok := c.known[address]; ok {
			c.missing = append(c.missing, address)
			return nil
		}
		if address == c.scope.base.String() && result.follow {
			return &remote.StatusError{Status: status}
		}
		c.skipped["links to pages that are not there"]++
		return nil
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest && result.answer.Location != nil:
		return c.handleRedirect(result, found)
	default:
		return c.yieldFailed(result, &remote.StatusError{Status: status})
	}
}

// handleRedirect has the page read that another one leads to, if it is one of the site's. That it
// leads in a circle ends where a page was visited.
func (c *crawl) handleRedirect(result fetched, found map[int][]visit) error {
	to := normalizeURL(result.answer.Location)
	if !c.scope.containsAddress(to) {
		c.skipped["leading out of the site"]++
		return nil
	}
	found[result.depth] = append(found[result.depth], visit{address: to, depth: result.depth, changed: result.changed, follow: result.follow})
	return nil
}

func (c *crawl) handlePage(result fetched, found map[int][]visit) error {
	content := result.answer.Body
	mediaType := detect(result)
	if !parse.Supported(mediaType) {
		return c.yieldFailed(result, &parse.UnsupportedError{Name: c.scope.pathOf(result.address), MediaType: mediaType})
	}
	var facts pageFacts
	if mediaType == parse.HTML {
		facts = readFacts(result.address, content)
	}
	if result.follow {
		for _, link := range facts.links {
			if c.scope.containsAddress(link) && !c.visited[link.String()] {
				found[result.depth+1] = append(found[result.depth+1], visit{address: link, depth: result.depth + 1, follow: true})
			}
		}
	}
	address := result.address.String()
	hash := contentHash(content)
	other, copied := c.contents[hash]
	switch {
	case facts.hidden || strings.Contains(strings.ToLower(result.answer.Header.Get("X-Robots-Tag")), "noindex"):
		c.skipped["not to be indexed, as they say"]++
		return nil
	case facts.canonical != nil && facts.canonical.String() != address && c.scope.containsAddress(facts.canonical):
		c.skipped["copies of other pages"]++
		found[result.depth] = append(found[result.depth], visit{address: facts.canonical, depth: result.depth, follow: result.follow})
		return nil
	case copied && other != address:
		c.skipped["copies of other pages"]++
		return nil
	case !c.isWanted(facts.language):
		c.skipped["in other languages"]++
		return nil
	}
	c.contents[hash] = address
	return c.yieldPage(result, mediaType, facts)
}

// detect says what a page is: by its bytes, then by the server's word, then by its name.
func detect(result fetched) string {
	name := result.address.Path
	mediaType := parse.Detect(name, result.answer.Body)
	said, _, _ := strings.Cut(result.answer.Header.Get("Content-Type"), ";")
	said = strings.ToLower(strings.TrimSpace(said))
	if said == "application/xhtml+xml" {
		said = parse.HTML
	}
	if isText := strings.HasPrefix(mediaType, "text/"); isText && (said == parse.HTML || said == parse.Markdown) {
		return said
	}
	return mediaType
}

// isWanted reports whether pages in a language are read; one that says none is.
func (c *crawl) isWanted(language string) bool {
	if len(c.options.Languages) == 0 || language == "" {
		return true
	}
	return slices.ContainsFunc(c.options.Languages, func(wanted string) bool {
		return strings.EqualFold(language, wanted) || len(language) > len(wanted) && strings.EqualFold(language[:len(wanted)+1], wanted+"-")
	})
}

func (c *crawl) yieldPage(result fetched, mediaType string, facts pageFacts) error {
	header := result.answer.Header
	document := c.document(result.address)
	document.Language = facts.language
	document.Modified = modifiedAt(header.Get("Last-Modified"), result.changed)
	page := knownPage{
		content: contentHash(result.answer.Body), settings: c.settings, depth: result.depth, listed: result.changed,
		etag: header.Get("ETag"), modified: header.Get("Last-Modified"),
	}
	document.Hash = page.String()
	known := c.known[result.address.String()]
	if known.content == page.content && known.settings == page.settings && known.depth == page.depth {
		return c.send(connect.Change{Kind: connect.Unchanged, Document: document})
	}
	return c.send(connect.Change{
		Kind: connect.Upserted, Document: document, Content: result.answer.Body, MediaType: mediaType,
		Link: func(target string) string {
			to, err := result.address.Parse(target)
			if err != nil || to.Scheme != "https" && to.Scheme != "http" {
				return ""
			}
			return to.String()
		},
	})
}

// modifiedAt gives when a page changed, as far as the server or the sitemap tells; else now.
func modifiedAt(header, listed string) time.Time {
	now := time.Now().UTC()
	if at, err := http.ParseTime(header); err == nil && at.After(earliest) && !at.After(now) {
		return at.UTC()
	}
	if at, ok := listedTime(listed); ok && !at.After(now) {
		return at
	}
	return now
}

func (c *crawl) yieldUnchanged(result fetched) error {
	known := c.known[result.address.String()]
	c.contents[known.content] = result.address.String()
	document := c.document(result.address)
	document.Hash = known.String()
	return c.send(connect.Change{Kind: connect.Unchanged, Document: document})
}

func (c *crawl) yieldFailed(result fetched, reason error) error {
	return c.send(connect.Change{Kind: connect.Failed, Document: c.document(result.address), Reason: reason})
}

func (c *crawl) document(address *url.URL) knowledge.Document {
	return knowledge.Document{
		ID: c.id(address.String()), Source: c.options.Source, Kind: c.options.Kind, Path: c.scope.pathOf(address), URL: address.String(),
		Owner: c.options.Owner, Audience: c.options.Audience, State: knowledge.StateLive,
	}
}

func (c *crawl) id(address string) knowledge.DocumentID {
	return connect.NewDocumentID(c.options.Source, address)
}

func (c *crawl) send(change connect.Change) error {
	c.present[change.Document.URL] = true
	if !c.yield(change, nil) {
		return errStopped
	}
	return nil
}

// yieldGone asks once more for the pages that the server said are not there, and yields what is
// gone: those, and the known ones that are no documents of the site any more.
func (c *crawl) yieldGone(ctx context.Context) error {
	for _, address := range c.missing {
		answer, err := c.fetcher.get(ctx, address, knownPage{})
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil || answer.Status != http.StatusNotFound && answer.Status != http.StatusGone {
			c.present[address] = true // the next sync sees
		}
	}
	for _, address := range slices.Sorted(maps.Keys(c.known)) {
		if c.present[address] {
			continue
		}
		gone := knowledge.Document{ID: c.id(address), Source: c.options.Source, Path: address}
		if at, err := url.Parse(address); err == nil {
			gone.Path = c.scope.pathOf(at)
		}
		if !c.yield(connect.Change{Kind: connect.Deleted, Document: gone}, nil) {
			return errStopped
		}
	}
	return nil
}
