package browser_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"cairn/internal/inspect/browser"
)

// isolating are the flags that a Chromium beside Cairn needs.
var isolating = []string{"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--enable-automation"}

var debuggedAt = regexp.MustCompile(`DevTools listening on ws://(127\.0\.0\.1:\d+)/`)

// startRemote starts a Chromium as a container beside Cairn does, and gives its address and what ends it.
func startRemote(t *testing.T, flags ...string) (address string, end func()) {
	t.Helper()
	program := os.Getenv("CAIRN_TEST_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); program == "" && err == nil {
			program = found
		}
	}
	command := exec.CommandContext(t.Context(), program, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0", "--user-data-dir=" + t.TempDir(),
	}, flags...)...)
	told, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			command.Process.Kill() //nolint:errcheck // it may have ended
			command.Wait()         //nolint:errcheck // it was killed
		}
	}
	t.Cleanup(end)
	lines := bufio.NewScanner(told)
	for lines.Scan() {
		if found := debuggedAt.FindStringSubmatch(lines.Text()); found != nil {
			return "http://" + found[1], end
		}
	}
	t.Fatal("Chromium tells no address")
	return "", end
}

// countPages counts the pages that are open in a Chromium.
func countPages(t *testing.T, address string) (pages int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/json/list", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
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
	address, end := startRemote(t, isolating...)
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
	address, _ := startRemote(t, "--enable-automation")
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
