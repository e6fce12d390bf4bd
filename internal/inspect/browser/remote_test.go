package browser_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/browser/browsertest"
)

// countPages counts the pages that are open in a Chromium.
func countPages(t *testing.T, address string) (pages int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/json/list", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var targets []struct{ Type string }
	if err := json.NewDecoder(response.Body).Decode(&targets); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if target.Type == "page" {
			pages++
		}
	}
	return pages
}

// TestAChromiumThatRunsAlready is looked through with the same rules as one of our own, and goes on
// to run afterwards.
func TestAChromiumThatRunsAlready(t *testing.T) {
	_, page := open(t)
	address, end := browsertest.Start(t, browsertest.Isolating...)
	before := countPages(t, address)
	b, err := browser.New(browser.Options{Remote: address, Pages: []string{page}})
	if err != nil {
		t.Fatal(err)
	}
	view, err := b.Look(t.Context(), page, browser.Target{Name: "save order"})
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(view); got != "button Save order: click by listener at testdata/orders.js:7" {
		t.Error(got)
	}
	if strings.Join(view.Refused, " ") != "127.0.0.1:65000 169.254.169.254:80" {
		t.Errorf("refused %q", view.Refused)
	}
	if version, err := b.Version(t.Context()); err != nil || !strings.Contains(version, "/") {
		t.Errorf("version %q, %v", version, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left := countPages(t, address); left != before {
		t.Errorf("%d pages are open, %d were before", left, before)
	}
	b, err = browser.New(browser.Options{Remote: address, Pages: []string{page}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Look(t.Context(), page, browser.Target{Name: "save order"}); err != nil {
		t.Error(err)
	}
	end()
	if _, err := b.Look(t.Context(), page, browser.Target{}); err == nil {
		t.Error("it has ended, and a page was seen")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestARemoteChromiumIsIsolated(t *testing.T) {
	_, page := open(t)
	address, _ := browsertest.Start(t, "--enable-automation")
	b, err := browser.New(browser.Options{Remote: address, Pages: []string{page}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Look(t.Context(), page, browser.Target{}); err == nil || !strings.Contains(err.Error(), "was not started with") {
		t.Errorf("without the flags: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"http://10.0.0.7:9222", "http://chromium:9222", "http://127.0.0.1", "ws://127.0.0.1:9222", "https://127.0.0.1:9222", "http://127.0.0.1:9222/x"} {
		if _, err := browser.New(browser.Options{Remote: address, Pages: []string{page}}); err == nil {
			t.Errorf("%s is taken", address)
		}
	}
}
