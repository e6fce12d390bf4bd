package browser_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"cairn/internal/inspect/browser"
)

// shared is the one Chromium of all tests.
var shared struct {
	once    sync.Once
	browser *browser.Browser
	site    *httptest.Server
	err     error
	posted  sync.Map // paths that were posted to: nothing is clicked
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.browser != nil {
		if err := shared.browser.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		shared.site.Close()
	}
	os.Exit(code)
}

// open gives a browser, and the address of a page that was built and minified.
func open(t *testing.T) (*browser.Browser, string) {
	t.Helper()
	shared.once.Do(func() {
		built := api.Build(api.BuildOptions{
			EntryPoints: []string{filepath.Join("testdata", "orders.js")}, Bundle: true, Sourcemap: api.SourceMapLinked, Outfile: "out.js",
			MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		})
		if len(built.Errors) > 0 {
			shared.err = errors.New(built.Errors[0].Text)
			return
		}
		mux := http.NewServeMux()
		for _, file := range built.OutputFiles {
			mux.HandleFunc("GET /"+filepath.Base(file.Path), func(w http.ResponseWriter, r *http.Request) {
				http.ServeContent(w, r, filepath.Base(file.Path), time.Time{}, bytes.NewReader(file.Contents))
			})
		}
		mux.HandleFunc("GET /orders/{$}", func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, filepath.Join("testdata", "index.html"))
		})
		mux.HandleFunc("GET /orders/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
		mux.HandleFunc("GET /", http.NotFound)
		mux.HandleFunc("POST /", func(_ http.ResponseWriter, r *http.Request) { shared.posted.Store(r.URL.Path, true) })
		shared.site = httptest.NewServer(mux)
		shared.browser, shared.err = browser.New(browser.Options{
			Program: os.Getenv("CAIRN_TEST_CHROMIUM"), Pages: []string{shared.site.URL + "/orders/"}, NoSandbox: true,
		})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.browser, shared.site.URL + "/orders/"
}

func TestControlsLeadToTheirLines(t *testing.T) {
	b, page := open(t)
	for name, want := range map[string]string{
		"save order":  "button Save order: click by listener at testdata/orders.js:7",
		"Pay now":     "button Pay now disabled PayButton<Checkout: click by React at testdata/orders.js:17",
		"Bound":       "button Bound: click by React at testdata/orders.js:7, mouseenter by React at testdata/orders.js:7",
		"Add to cart": "button Add to cart: click by Vue at testdata/orders.js:24",
		"remove":      "button Remove: click by Preact at testdata/orders.js:25",
		"Togle":       "button Toggle: click by Svelte at testdata/orders.js:26",
		"First item":  "link First item: click by listener at testdata/orders.js:12",
		"Nothing":     "button Nothing: ",
	} {
		view, err := b.Look(t.Context(), page, browser.Target{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(view); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	shared.posted.Range(func(path, _ any) bool { t.Errorf("%s was posted to", path); return true })
}

func describe(view browser.View) string {
	c := view.Control
	if c == nil {
		return "none, near: " + strings.Join(view.Near, ", ")
	}
	text := c.Role + " " + c.Name
	if c.Disabled {
		text += " disabled"
	}
	if len(c.Components) > 0 {
		text += " " + strings.Join(c.Components, "<")
	}
	var handlers []string
	for _, h := range c.Handlers {
		handlers = append(handlers, fmt.Sprintf("%s by %s at %s:%d", h.Event, h.By, h.File, h.Line))
	}
	return text + ": " + strings.Join(handlers, ", ")
}

func TestWhatAPageRequestsAndLogs(t *testing.T) {
	b, page := open(t)
	view, err := b.Look(t.Context(), page, browser.Target{At: &browser.Point{X: 20, Y: 20}})
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(view); got != "button Save order: click by listener at testdata/orders.js:7" {
		t.Errorf("at the place: %s", got)
	}
	if view.Title != "Orders" || strings.Join(view.Refused, " ") != "127.0.0.1:65000 169.254.169.254:80" {
		t.Errorf("title %q, refused %q", view.Title, view.Refused)
	}
	var failed []string
	for _, request := range view.Requests {
		if request.Failed() {
			failed = append(failed, request.Path+" "+request.Status)
		}
	}
	if len(failed) < 3 || failed[0] != "/api/missing 404" {
		t.Errorf("failed %q", failed)
	}
	if len(view.Messages) == 0 || view.Messages[0].Level != "error" || view.Messages[0].Text != "orders: 7" {
		t.Errorf("messages %+v", view.Messages)
	}
}

func TestPagesThatAreNotListedAreRefused(t *testing.T) {
	b, page := open(t)
	root := strings.TrimSuffix(page, "/orders/")
	for _, address := range []string{
		root + "/", root + "/orders", root + "/other", root + "/orders/../other", "file:///etc/passwd", "chrome://version", "http://127.0.0.1:1/orders/",
		"http://user@" + strings.TrimPrefix(page, "http://"), "javascript:alert(1)", page + "away",
	} {
		_, err := b.Look(t.Context(), address, browser.Target{})
		if refused, ok := errors.AsType[*browser.RefusedError](err); (address != root+"/orders") != ok {
			t.Errorf("%s: %v %v", address, err, refused)
		}
	}
	view, err := b.Look(t.Context(), page, browser.Target{Name: "Twin"})
	if err != nil || view.Control != nil || strings.Join(view.Near, ", ") != "Twin one, Twin two" {
		t.Errorf("%+v %v", view, err)
	}
}
