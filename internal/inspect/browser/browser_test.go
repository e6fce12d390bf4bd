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

	"github.com/cairn-bot/cairn/internal/inspect/browser"
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
		mux.HandleFunc("GET /orders/press", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, pressPage)
		})
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

// pressPage has buttons that can be pressed and some that can't.
const pressPage = `<!doctype html><title>Press</title><script>alert('welcome')</script>
<button onclick="fetch('/orders/send', {method: 'POST'}); confirm('sure?')">Send</button>
<button disabled>Off</button>
<div style="position:relative"><button>Below</button><div style="position:absolute;inset:0;background:#fff"></div></div>`

func TestPress(t *testing.T) {
	b, page := open(t)
	for name, want := range map[string]string{
		"Send":  "pressed: POST /orders/send 200, dialog sure?",
		"Off":   "it is disabled",
		"Below": "something else covers it",
	} {
		view, err := b.Press(t.Context(), page+"press", browser.Target{Name: name})
		if err != nil || view.Pressed == nil {
			t.Fatalf("%s: %+v %v", name, view, err)
		}
		got := view.Pressed.Problem
		if view.Pressed.Done {
			got = "pressed:"
			for _, request := range view.Pressed.Requests {
				got += fmt.Sprintf(" %s %s %s,", request.Method, request.Path, request.Status)
			}
			for _, message := range view.Pressed.Messages {
				got += fmt.Sprintf(" %s %s", message.Level, message.Text)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if len(view.Messages) == 0 || view.Messages[0].Text != "welcome" {
			t.Errorf("%s: the first dialog is not told: %+v", name, view.Messages)
		}
	}
	for _, target := range []browser.Target{{Name: "Sen", Exact: true}, {Name: "Send", Role: "link", Exact: true}} {
		if view, err := b.Press(t.Context(), page+"press", target); err != nil || view.Pressed != nil {
			t.Errorf("%+v: %+v %v", target, view.Pressed, err)
		}
	}
	if view, err := b.Press(t.Context(), page+"press", browser.Target{Name: "Other", At: &browser.Point{X: 20, Y: 20}, Exact: true}); err != nil || view.Pressed == nil || view.Pressed.Done {
		t.Errorf("%+v %v", view.Pressed, err)
	}
	if _, ok := shared.posted.LoadAndDelete("/orders/send"); !ok {
		t.Error("nothing was sent")
	}
}

// TestAPageThatTakesTooMuchMemory ends Chromium, and the next look starts another one.
func TestAPageThatTakesTooMuchMemory(t *testing.T) {
	_, page := open(t)
	b, err := browser.New(browser.Options{Program: os.Getenv("CAIRN_TEST_CHROMIUM"), Pages: []string{page}, NoSandbox: true, MaxMemory: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := b.Look(t.Context(), page, browser.Target{Name: "There is none of that name"}); err == nil || !strings.Contains(err.Error(), "more memory than is allowed") {
			t.Errorf("%v", err)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
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
