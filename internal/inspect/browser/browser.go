// Package browser looks at web pages in a Chromium, over its debugging protocol: which control
// has a name, what handles its events and in which line of the source, by the marks of React,
// Preact, Vue and Svelte or by its listeners, and the source map; and what the page requested and
// logged. Pages are on an allow list, each look has a browser context of its own, all its
// connections go through a proxy that refuses private addresses, and nothing is clicked.
//
// Reading order: browser.go, proxy.go, look.go, control.go, handlers.go, sourcemap.go.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// RefusedError says why a page may not be looked at, in words for people.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Options is what a Browser works with.
type Options struct {
	// Program is Chromium's; "" is the first of chromium, chromium-browser and google-chrome.
	Program string
	// Pages are what addresses of pages begin with: "https://shop.example/". Required. A page on
	// a private address has to be listed by that very address.
	Pages []string
	// NoSandbox runs Chromium without its sandbox, which containers and root do not allow.
	NoSandbox bool
}

// Browser is a Chromium that is started by the first look. Make one with New.
type Browser struct {
	options Options
	allowed []*url.URL
	proxy   *proxy

	mu      sync.Mutex
	session context.Context //nolint:containedctx // chromedp keeps the browser in it
	end     []context.CancelFunc
}

// New makes a browser. Close it.
func New(options Options) (*Browser, error) {
	b := &Browser{options: options}
	for _, page := range options.Pages {
		parsed, err := url.Parse(page)
		if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.User != nil {
			return nil, fmt.Errorf("the page %q is no address such as https://shop.example/", page)
		}
		b.allowed = append(b.allowed, parsed)
	}
	return b, nil
}

// Close ends Chromium.
func (b *Browser) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session == nil {
		return nil
	}
	err := chromedp.Cancel(b.session)
	for _, end := range b.end {
		end()
	}
	b.session = nil
	return errors.Join(err, b.proxy.Close())
}

// check tells whether a page is on the allow list.
func (b *Browser) check(address string) error {
	parsed, err := url.Parse(address)
	if err == nil && parsed.User == nil && !strings.Contains(parsed.Path, `\`) {
		asked := path.Clean("/" + parsed.Path)
		for _, page := range b.allowed {
			listed := path.Clean("/" + page.Path)
			if parsed.Scheme == page.Scheme && strings.EqualFold(parsed.Host, page.Host) &&
				(asked == listed || strings.HasPrefix(asked, strings.TrimSuffix(listed, "/")+"/")) {
				return nil
			}
		}
	}
	return &RefusedError{"That page may not be looked at here: the setting `inspect.pages` lists those that may."}
}

// start gives a context of the running Chromium, which it starts where there is none.
func (b *Browser) start(ctx context.Context) (context.Context, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != nil && b.session.Err() == nil {
		return b.session, nil
	}
	program, err := b.findProgram()
	if err != nil {
		return nil, err
	}
	if b.proxy, err = startProxy(b.allowed); err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.DisableGPU, chromedp.WindowSize(windowWidth, windowHeight),
		chromedp.ProxyServer(b.proxy.address()),
		// Chromium would pass the proxy by for addresses of this machine.
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
	)
	if b.options.NoSandbox {
		options = append(options, chromedp.NoSandbox)
	}
	// Chromium outlives the question that it was started for.
	allocator, end := chromedp.NewExecAllocator(context.WithoutCancel(ctx), options...)
	session, cancel := chromedp.NewContext(allocator, chromedp.WithErrorf(discard))
	if err := chromedp.Run(session); err != nil {
		cancel()
		end()
		return nil, errors.Join(fmt.Errorf("start Chromium: %w", err), b.proxy.Close())
	}
	b.session, b.end = session, []context.CancelFunc{cancel, end}
	return session, nil
}

// The size of a page, in CSS pixels: coordinates of screenshots are those.
const (
	windowWidth  = 1280
	windowHeight = 900
)

// discard is told of events that chromedp does not know.
func discard(string, ...any) {}

func (b *Browser) findProgram() (string, error) {
	if b.options.Program != "" {
		return b.options.Program, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errors.New("there is no Chromium: install one, or name it in inspect.chromium")
}
