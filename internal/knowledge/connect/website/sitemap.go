package website

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
)

// Bounds of sitemaps.
const (
	maxSitemaps     = 500
	maxSitemapBytes = 64 << 20 // of one, unpacked
)

// listedPage is a page that a sitemap lists.
type listedPage struct {
	address *url.URL
	changed string // its lastmod as written, "" for none
}

// readRobots reads robots.txt. A server that fails to tell what may be read is not read.
func (c *crawl) readRobots(ctx context.Context) error {
	answer, err := c.fetcher.get(ctx, c.scope.base.ResolveReference(&url.URL{Path: "/robots.txt"}).String(), knownPage{})
	if err != nil {
		return fmt.Errorf("read robots.txt: %w", err)
	}
	robots, err := robotstxt.FromStatusAndBytes(answer.Status, answer.Body)
	if err != nil {
		robots = &robotstxt.RobotsData{} // no file for robots
	}
	c.rules, c.sitemaps = robots.FindGroup(agentName), robots.Sitemaps
	c.fetcher.SetPause(min(c.rules.CrawlDelay, maxCrawl))
	return nil
}

// mayRead reports whether robots.txt lets an address be read.
func (c *crawl) mayRead(address *url.URL) bool {
	return c.rules.Test(address.RequestURI())
}

// readSitemaps gives the site's pages as its sitemaps list them; none where it has no sitemap. One
// that there is but can't be read is an error: pages would be taken for gone.
func (c *crawl) readSitemaps(ctx context.Context) ([]listedPage, error) {
	queue := c.sitemaps
	named := len(queue)
	if named == 0 {
		queue = []string{"/sitemap.xml"}
	}
	var listed []listedPage
	read := make(map[string]bool)
	for at := 0; at < len(queue); at++ {
		address, err := c.scope.base.Parse(queue[at])
		if err != nil || !c.scope.isHost(address) || read[address.String()] {
			continue
		}
		if len(read) == maxSitemaps {
			return nil, fmt.Errorf("it has more than %d sitemaps: name a part of the site", maxSitemaps)
		}
		read[address.String()] = true
		answer, err := c.fetcher.get(ctx, address.String(), knownPage{})
		if err != nil {
			return nil, fmt.Errorf("read sitemap %s: %w", address, err)
		}
		if answer.Status != http.StatusOK {
			if at >= len(c.sitemaps) && at > 0 { // an index named it
				return nil, fmt.Errorf("read sitemap %s: %w", address, &remote.StatusError{Status: answer.Status})
			}
			continue // robots.txt names one that is not there, or there is none
		}
		pages, more, err := parseSitemap(answer.Body)
		if err != nil {
			if named == 0 {
				return nil, nil // a site that answers everything with a page
			}
			return nil, fmt.Errorf("read sitemap %s: %w", address, err)
		}
		queue = append(queue, more...)
		for _, page := range pages {
			address, err := c.scope.base.Parse(page.Loc)
			if err != nil {
				continue
			}
			if address = normalizeURL(address); c.scope.containsAddress(address) {
				listed = append(listed, listedPage{address, strings.TrimSpace(page.LastMod)})
			}
		}
	}
	return listed, nil
}

type sitemapEntry struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod"`
}

var errNoSitemap = errors.New("it is no sitemap")

// parseSitemap reads a sitemap, or an index of further ones; either may be packed.
func parseSitemap(body []byte) (pages []sitemapEntry, more []string, err error) {
	if bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		unpacking, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, nil, fmt.Errorf("unpack it: %w", err)
		}
		if body, err = io.ReadAll(io.LimitReader(unpacking, maxSitemapBytes+1)); err != nil {
			return nil, nil, fmt.Errorf("unpack it: %w", err)
		}
	}
	if len(body) > maxSitemapBytes {
		return nil, nil, fmt.Errorf("it has more than %d bytes", maxSitemapBytes)
	}
	var read struct {
		XMLName  xml.Name
		Pages    []sitemapEntry `xml:"url"`
		Sitemaps []sitemapEntry `xml:"sitemap"`
	}
	if err := xml.Unmarshal(body, &read); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNoSitemap, err)
	}
	if read.XMLName.Local != "urlset" && read.XMLName.Local != "sitemapindex" {
		return nil, nil, errNoSitemap
	}
	for i := range read.Pages {
		read.Pages[i].Loc = strings.TrimSpace(read.Pages[i].Loc)
	}
	for _, sitemap := range read.Sitemaps {
		more = append(more, strings.TrimSpace(sitemap.Loc))
	}
	return read.Pages, more, nil
}

// listedTime reads a lastmod: a time, or a day.
func listedTime(text string) (at time.Time, ok bool) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil && at.After(earliest) {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// isSettled reports whether a page of this lastmod can't have changed since without another one:
// it tells a time, or a day that is over.
func isSettled(changed string, now time.Time) bool {
	at, ok := listedTime(changed)
	const day = 24 * time.Hour
	return ok && (len(changed) > len(time.DateOnly) || now.Sub(at) > 2*day)
}
