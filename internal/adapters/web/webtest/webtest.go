// Package webtest runs tests of pages in Chromium, and checks what any page must keep to.
package webtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Limit is how long one window may take in all; what tests wait for are elements, never
// time.
const Limit = time.Minute

// headless is the one Chromium that all tests of a package share; each has a profile of its
// own in it. It is started by the first that needs it, and ended by Main.
var headless struct {
	once sync.Once
	ctx  context.Context //nolint:containedctx // chromedp keeps the browser in it
	end  context.CancelFunc
	err  error
}

// Main runs a package's tests, closes Chromium and exits.
func Main(m *testing.M) {
	code := m.Run()
	if err := Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Close closes Chromium where a test has started it.
func Close() error {
	if headless.ctx == nil {
		return nil
	}
	defer headless.end()
	if err := chromedp.Cancel(headless.ctx); err != nil { // waits for the process, unlike end
		return fmt.Errorf("close Chromium: %w", err)
	}
	return nil
}

func chromium() (string, error) {
	if path := os.Getenv("CAIRN_TEST_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium in PATH: install one (Debian: apt-get install chromium) or name it in CAIRN_TEST_CHROMIUM")
}

func startChromium() {
	path, err := chromium()
	if err != nil {
		headless.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WindowSize(1280, 900),
	)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator, chromedp.WithErrorf(quiet))
	headless.ctx, headless.end = ctx, end //nolint:fatcontext // it is set once, for the tests' windows to begin from
	headless.err = chromedp.Run(ctx)
}

// quiet is told of events that chromedp does not know.
func quiet(string, ...any) {}

// inBrowser is a context for commands to Chromium as a whole.
func inBrowser() context.Context {
	return cdp.WithExecutor(headless.ctx, chromedp.FromContext(headless.ctx).Browser)
}

// Profile makes a profile, in which no other test left anything.
func Profile(t *testing.T) cdp.BrowserContextID {
	t.Helper()
	headless.once.Do(startChromium)
	if headless.err != nil {
		t.Fatal(headless.err)
	}
	profile, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(inBrowser())
	if err != nil {
		t.Fatal(err)
	}
	return profile
}

// Window opens a window with a profile, for chromedp to act in until the test ends.
func Window(t *testing.T, profile cdp.BrowserContextID) context.Context {
	t.Helper()
	return WindowFor(t, profile, Limit)
}

// WindowFor is Window for a test that may take longer than Limit.
func WindowFor(t *testing.T, profile cdp.BrowserContextID, limit time.Duration) context.Context {
	t.Helper()
	tab, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(inBrowser())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(headless.ctx, chromedp.WithTargetID(tab))
	ctx, cancelLimit := context.WithTimeout(ctx, limit)
	t.Cleanup(func() {
		cancelLimit()
		cancel()
	})
	return ctx
}
