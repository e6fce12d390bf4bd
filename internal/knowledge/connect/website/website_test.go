package website

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/publicnet"
)

// site is a website that a test fills. It is reached on the loopback interface.
type site struct {
	t       testing.TB
	server  *httptest.Server
	options Options

	mu      sync.Mutex
	pages   map[string]string // by path, with a slash first
	special map[string]http.HandlerFunc
	asked   map[string]int
	listed  bool // there is a sitemap of all pages
	plain   bool // no validators are sent
}

func newSite(t testing.TB) *site {
	s := &site{t: t, pages: make(map[string]string), special: make(map[string]http.HandlerFunc), asked: make(map[string]int)}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	s.options = Options{Source: "site", URL: s.server.URL + "/", AllowPrivate: true}
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[r.URL.Path]++
	if special := s.special[r.URL.Path]; special != nil {
		special(w, r)
		return
	}
	if r.URL.Path == "/sitemap.xml" && s.listed {
		fmt.Fprint(w, `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for path := range s.pages {
			fmt.Fprintf(w, "<url><loc>%s%s</loc></url>", s.server.URL, path)
		}
		fmt.Fprint(w, "</urlset>")
		return
	}
	text, ok := s.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if !s.plain {
		etag := `"` + contentHash([]byte(text))[:8] + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if strings.HasSuffix(r.URL.Path, ".md") {
		w.Header().Set("Content-Type", "text/markdown")
	} else {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	fmt.Fprint(w, text)
}

func (s *site) Connector() connect.Connector { return New(s.options) }

func (s *site) Put(path, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages["/"+path] = content
}

func (s *site) Remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pages, "/"+path)
}

func (s *site) serve(path string, handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.special[path] = handler
}

// page writes a page with links.
func page(title string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html lang=en><head><title>%s</title></head><body><main><h1>%[1]s</h1><p>Text of %[1]s.</p>", title)
	for _, link := range links {
		fmt.Fprintf(&b, `<a href="%s">link</a> `, link)
	}
	return b.String() + "</main></body></html>"
}

type result struct {
	changes map[string]connect.Change // by path
	skipped map[string]int
	known   connect.Known
	err     error
}

func (s *site) sync(known connect.Known) result {
	s.t.Helper()
	s.mu.Lock()
	clear(s.asked)
	s.mu.Unlock()
	got := result{changes: make(map[string]connect.Change), skipped: make(map[string]int), known: connect.Known{}}
	for id, hash := range known {
		got.known[id] = hash
	}
	c := New(s.options)
	for change, err := range c.Sync(s.t.Context(), known) {
		if err != nil {
			got.err = err
			break
		}
		got.changes[change.Document.Path] = change
		switch change.Kind {
		case connect.Upserted:
			got.known[change.Document.ID] = change.Document.Hash
		case connect.Deleted:
			delete(got.known, change.Document.ID)
		}
	}
	for _, skipped := range c.Skipped() {
		got.skipped[skipped.Reason] = skipped.Count
	}
	return got
}

func (r result) wants(t *testing.T, kind connect.ChangeKind, paths ...string) {
	t.Helper()
	var got []string
	for path, change := range r.changes {
		if change.Kind == kind {
			got = append(got, path)
		}
	}
	slices.Sort(got)
	if r.err != nil || !slices.Equal(got, paths) {
		t.Errorf("changes of kind %d: %q, %v; want %q", kind, got, r.err, paths)
	}
}

func TestSuite(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place {
		s := newSite(t)
		s.listed = true
		return s
	})
}

func TestLinksAreFollowed(t *testing.T) {
	s := newSite(t)
	s.options.URL = s.server.URL + "/docs/"
	s.Put("docs/", page("Start", "a", "/docs/b?utm_source=x&v=1#part", "../outside", "https://elsewhere.example/", "mailto:a@b.c", "logo.png", "a"))
	s.Put("docs/a", page("A", "deep/c", "./"))
	s.Put("docs/b", page("B"))
	s.Put("docs/deep/c", page("C", "../../docs/a", "d"))
	s.Put("docs/deep/d", page("D"))
	s.Put("outside", page("Outside"))
	first := s.sync(nil)
	first.wants(t, connect.Upserted, "a", "b?v=1", "deep/c", "deep/d", "index")
	if first.skipped["images"] != 1 || s.asked["/outside"] != 0 {
		t.Errorf("passed over %v, asked %v", first.skipped, s.asked)
	}
	a := first.changes["a"]
	if want := s.server.URL + "/docs/deep/c"; a.Link("deep/c") != want || a.Link("javascript:x") != "" || a.Document.URL != s.server.URL+"/docs/a" ||
		a.MediaType != "text/html" || a.Document.Language != "en" || a.Document.Kind != knowledge.KindWeb {
		t.Errorf("link %s of %+v", a.Link("deep/c"), a)
	}
	again := s.sync(first.known)
	again.wants(t, connect.Unchanged, "a", "b?v=1", "deep/c", "deep/d", "index")
	// A page that changed leads to a new one; one that nothing leads to any more stays while it is there.
	s.Put("docs/a", page("A", "e"))
	s.Put("docs/e", page("E"))
	again = s.sync(first.known)
	again.wants(t, connect.Upserted, "a", "e")
	again.wants(t, connect.Unchanged, "b?v=1", "deep/c", "deep/d", "index")
	s.Remove("docs/deep/d")
	s.sync(again.known).wants(t, connect.Deleted, "deep/d")

	s.options.Depth = 1
	s.sync(nil).wants(t, connect.Upserted, "a", "b?v=1", "index")
	s.sync(again.known).wants(t, connect.Deleted, "deep/c", "deep/d", "e")
	s.options.Depth, s.options.Pages = 0, 3
	limited := s.sync(nil)
	limited.wants(t, connect.Upserted, "a", "b?v=1", "index")
	if limited.skipped["beyond the limit of 3 pages"] == 0 {
		t.Errorf("passed over %v", limited.skipped)
	}
	s.options.Pages, s.options.Include, s.options.Exclude = 0, []string{"index", "deep/**", "a"}, []string{"deep/c"}
	s.sync(nil).wants(t, connect.Upserted, "a", "index")
}

func TestLoopsEnd(t *testing.T) {
	s := newSite(t)
	s.options.Pages = 200
	s.Put("", page("Start", "one", "trap/", "/calendar?day=1", "/grow/"))
	s.serve("/one", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/two", http.StatusFound) })
	s.serve("/two", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/one", http.StatusFound) })
	s.serve("/calendar", func(w http.ResponseWriter, r *http.Request) {
		day, err := strconv.Atoi(r.URL.Query().Get("day"))
		if err != nil {
			t.Errorf("asked for %s: %v", r.URL, err)
		}
		fmt.Fprint(w, page("Day "+strconv.Itoa(day), fmt.Sprintf("/calendar?day=%d", day+1)))
	})
	s.options.Depth = 30
	got := s.sync(nil)
	if got.err != nil || len(got.changes) > 32 || s.asked["/one"] != 1 || s.asked["/calendar"] != 30 {
		t.Errorf("%d pages, %v, asked %v", len(got.changes), got.err, s.asked)
	}
}

func TestPagesThatStandForOthers(t *testing.T) {
	s := newSite(t)
	canonical := func(title, to string) string {
		return strings.Replace(page(title), "<title>", `<link rel="canonical" href="`+to+`"><title>`, 1)
	}
	s.Put("", page("Start", "old", "print", "copy", "hidden", "foreign", "de/", "away", "twin"))
	s.Put("new", page("New"))
	s.Put("print", canonical("Print", "/article"))
	s.Put("article", canonical("Article", "/article"))
	s.Put("copy", page("New"))
	s.Put("hidden", strings.Replace(page("Hidden", "found"), "<title>", `<meta name="Robots" content="NOINDEX"><title>`, 1))
	s.Put("found", page("Found"))
	s.Put("foreign", canonical("Foreign", "https://elsewhere.example/x"))
	s.Put("de/", strings.Replace(page("Deutsch"), "lang=en", "lang=de-AT", 1))
	s.serve("/old", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/new#x", http.StatusMovedPermanently)
	})
	s.serve("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusFound)
	})
	got := s.sync(nil)
	got.wants(t, connect.Upserted, "article", "copy", "de/", "foreign", "found", "index")
	if got.skipped["copies of other pages"] != 2 || got.skipped["leading out of the site"] != 1 || got.skipped["not to be indexed, as they say"] != 1 ||
		got.skipped["links to pages that are not there"] != 1 {
		t.Errorf("passed over %v", got.skipped)
	}
	s.options.Languages = []string{"de"}
	german := s.sync(got.known)
	german.wants(t, connect.Upserted, "de/")
	german.wants(t, connect.Deleted, "article", "copy", "foreign", "found", "index")
}

func TestRobotsAreFollowed(t *testing.T) {
	s := newSite(t)
	s.Put("", page("Start", "a", "private/b"))
	s.Put("a", page("A"))
	s.Put("private/b", page("B"))
	s.serve("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n") })
	got := s.sync(nil)
	got.wants(t, connect.Upserted, "a", "index")
	if got.skipped["not allowed by robots.txt"] != 1 {
		t.Errorf("passed over %v", got.skipped)
	}
	s.serve("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	if again := s.sync(got.known); again.err == nil || len(again.changes) != 0 {
		t.Errorf("robots.txt fails: %+v", again)
	}
}

func TestSitemaps(t *testing.T) {
	s := newSite(t)
	s.Put("a", page("A", "unlisted"))
	s.Put("b", page("B"))
	s.Put("unlisted", page("Unlisted"))
	lastmod := "2020-05-01"
	s.serve("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "Sitemap: %s/index.xml\n", s.server.URL) })
	s.serve("/index.xml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<sitemapindex><sitemap><loc>%[1]s/one.xml</loc></sitemap><sitemap><loc>%[1]s/index.xml</loc></sitemap></sitemapindex>", s.server.URL)
	})
	one := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<urlset><url><loc>%[1]s/a</loc><lastmod>%[2]s</lastmod></url><url><loc> %[1]s/b </loc></url><url><loc>https://elsewhere.example/</loc></url></urlset>", s.server.URL, lastmod)
	}
	s.serve("/one.xml", one)
	first := s.sync(nil)
	first.wants(t, connect.Upserted, "a", "b")
	if at := first.changes["a"].Document.Modified; at.Format(time.DateOnly) != lastmod {
		t.Errorf("changed at %s", at)
	}
	again := s.sync(first.known)
	again.wants(t, connect.Unchanged, "a", "b")
	if s.asked["/a"] != 0 || s.asked["/b"] != 1 {
		t.Errorf("asked %v, want not for what the sitemap says did not change", s.asked)
	}
	lastmod = "2021-05-01"
	s.Put("a", page("A again"))
	s.sync(first.known).wants(t, connect.Upserted, "a")
	// A part of the sitemap that fails takes nothing away.
	s.serve("/one.xml", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	if broken := s.sync(first.known); broken.err == nil || len(broken.changes) != 0 {
		t.Errorf("a sitemap that fails: %+v", broken)
	}
	s.serve("/one.xml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<urlset><url><loc>%s/a</loc></url></urlset>", s.server.URL)
	})
	s.sync(first.known).wants(t, connect.Deleted, "b")
}

func TestBadAnswers(t *testing.T) {
	s := newSite(t)
	s.Put("", page("Start", "ok", "401", "403", "404", "500", "429", "big", "grown", "exe", "cut"))
	s.Put("ok", page("OK"))
	for _, status := range []int{401, 403, 500} {
		s.serve("/"+strconv.Itoa(status), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	busy := 0
	s.serve("/429", func(w http.ResponseWriter, _ *http.Request) {
		if busy++; busy == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, page("Busy"))
	})
	s.serve("/big", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1073741824") })
	s.serve("/grown", func(w http.ResponseWriter, _ *http.Request) {
		for range 40 {
			fmt.Fprint(w, strings.Repeat("x", 1<<10))
		}
	})
	s.serve("/exe", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "\x7fELF\x00\x00\x00\x00") })
	s.serve("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
	})
	s.options.MaxBytes = 32 << 10
	got := s.sync(nil)
	got.wants(t, connect.Upserted, "429", "index", "ok")
	got.wants(t, connect.Failed, "401", "403", "500", "big", "cut", "exe", "grown")
	for path, want := range map[string]string{"401": "give a token", "403": "give a token", "500": "status 500", "big": "over the limit", "grown": "over the limit", "exe": "executable"} {
		if reason := got.changes[path].Reason; reason == nil || !strings.Contains(reason.Error(), want) {
			t.Errorf("%s: %v, want %q", path, reason, want)
		}
	}
	// A page that was read and fails now stays.
	s.serve("/ok", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	again := s.sync(got.known)
	again.wants(t, connect.Deleted)
	if again.changes["ok"].Kind != connect.Failed {
		t.Errorf("%+v", again.changes["ok"])
	}
	// One that is not there for a moment stays as well.
	times := 0
	s.serve("/ok", func(w http.ResponseWriter, r *http.Request) {
		if times++; times == 1 {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, page("OK"))
	})
	s.sync(got.known).wants(t, connect.Deleted)
}

func TestABusyServerIsLeftAlone(t *testing.T) {
	s := newSite(t)
	s.Put("", page("Start", "a", "b"))
	s.Put("a", page("A"))
	first := s.sync(nil)
	s.serve("/a", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	got := s.sync(first.known)
	unavailable, ok := errors.AsType[*connect.UnavailableError](got.err)
	if !ok || unavailable.After != time.Hour {
		t.Errorf("%v", got.err)
	}
	for _, change := range got.changes {
		if change.Kind == connect.Deleted {
			t.Errorf("%s was taken away", change.Document.Path)
		}
	}
}

func TestNothingPrivateIsReached(t *testing.T) {
	s := newSite(t)
	s.Put("", page("Start"))
	s.options.AllowPrivate = false
	for _, address := range []string{s.server.URL + "/", strings.Replace(s.server.URL, "127.0.0.1", "localhost", 1) + "/"} {
		s.options.URL = address
		if got := s.sync(nil); !errors.Is(got.err, publicnet.ErrPrivate) || len(s.asked) != 0 {
			t.Errorf("%s: %v, asked %v", address, got.err, s.asked)
		}
	}
}

func TestATokenGoesToTheSiteAlone(t *testing.T) {
	s := newSite(t)
	s.options.Token = "secret"
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the other host is asked for %s", r.URL) }))
	t.Cleanup(other.Close)
	s.serve("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, page("Start", other.URL+"/x", "/away"))
	})
	s.serve("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	s.sync(nil).wants(t, connect.Upserted, "index")
}

func TestAStoppedSyncEnds(t *testing.T) {
	s := newSite(t)
	s.serve("/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	s.serve("/sitemap.xml", func(http.ResponseWriter, *http.Request) { cancel() })
	for _, err := range New(s.options).Sync(ctx, nil) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

func TestHashesReadBack(t *testing.T) {
	want := knownPage{content: "c", settings: "s", depth: 3, listed: "2020-01-01", etag: `W/"a b"`, modified: "Mon, 02 Jan 2006"}
	if got := parseHash(want.String()); got != want {
		t.Errorf("%q reads back as %+v", want.String(), got)
	}
	long := knownPage{content: "c", settings: "s", etag: strings.Repeat("x", 10_000)}
	if got := parseHash(long.String()); got.etag != "" || got.content != "c" {
		t.Errorf("%+v", got)
	}
	for _, none := range []string{"", "abc", "w1 a b c d e f", "w0 a b 1 . . .", "w1 a b -1 . . ."} {
		if got := parseHash(none); got != (knownPage{}) {
			t.Errorf("%q reads as %+v", none, got)
		}
	}
}

func FuzzReadFacts(f *testing.F) {
	f.Add([]byte(page("A", "b", "http://[::1", "\x00")))
	f.Add([]byte(`<base href="//x"><link rel=canonical href="%zz"><meta name=robots content=none>`))
	s := httptest.NewRequest(http.MethodGet, "https://docs.example/a/", nil)
	f.Fuzz(func(t *testing.T, content []byte) {
		facts := readFacts(s.URL, content)
		if facts.canonical != nil && facts.canonical.Host != s.URL.Host || len(facts.links) > maxLinks {
			t.Errorf("%+v", facts)
		}
	})
}

func FuzzParseSitemap(f *testing.F) {
	f.Add([]byte("<urlset><url><loc>https://docs.example/</loc></url></urlset>"))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte("<!DOCTYPE x [<!ENTITY a \"b\">]><urlset>&a;</urlset>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if pages, more, err := parseSitemap(body); err != nil && len(pages)+len(more) > 0 {
			t.Errorf("%v and %v, %v", pages, more, err)
		}
	})
}

// BenchmarkUnchanged measures a sync of 10,000 pages that did not change, each of which is asked
// for.
func BenchmarkUnchanged(b *testing.B) {
	s := newSite(b)
	s.options.Pages = 20_000
	s.listed = true
	for i := range 10_000 {
		s.Put(fmt.Sprintf("docs/%d", i), page("Page "+strconv.Itoa(i)))
	}
	known := s.sync(nil).known
	for b.Loop() {
		got := s.sync(known)
		if got.err != nil || len(got.changes) != 10_000 || len(got.known) != 10_000 {
			b.Fatalf("%d changes, %v", len(got.changes), got.err)
		}
	}
}

func TestCheckTellsOfChanges(t *testing.T) {
	for _, plain := range []bool{false, true} {
		s := newSite(t)
		s.plain, s.listed = plain, true
		documents := make(map[string]knowledge.Document)
		for _, path := range []string{"a.md", "b.md", "c.md", "d.md"} {
			s.Put(path, "# Text of "+path)
		}
		for change, err := range s.Connector().Sync(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			documents[change.Document.Path] = change.Document
		}
		s.Put("b.md", "# Another text")
		s.Remove("c.md")
		s.serve("/d.md", func(w http.ResponseWriter, _ *http.Request) {
			http.Redirect(w, &http.Request{}, "http://10.0.0.1/", http.StatusFound)
		})
		for path, want := range map[string]knowledge.State{"a.md": knowledge.StateLive, "b.md": knowledge.StateChanged, "c.md": knowledge.StateGone, "d.md": ""} {
			if got, err := New(s.options).Check(t.Context(), documents[path]); got != want || (err != nil) != (want == "") {
				t.Errorf("%s is %q, %v; want %q", path, got, err, want)
			}
		}
		if _, err := New(s.options).Check(t.Context(), knowledge.Document{ID: "site:http://10.0.0.1/a.md"}); err == nil {
			t.Error("a document of another host was asked for")
		}
		closed := s.options
		closed.AllowPrivate = false
		if _, err := New(closed).Check(t.Context(), documents["a.md"]); !errors.Is(err, publicnet.ErrPrivate) {
			t.Errorf("a private address gives %v", err)
		}
	}
}
