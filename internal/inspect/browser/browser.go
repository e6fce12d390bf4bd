// Package browser looks at web pages in a Chromium, over its debugging protocol: which control
// has a name, what handles its events and in which line of the source, by the marks of React,
// Preact, Vue and Svelte or by its listeners, and the source map; which rules style it; and what
// the page requested and logged. Pages are on an allow list, each look has a browser context of
// its own, and all its connections go through a proxy that refuses private addresses. Look clicks
// nothing; Press clicks one control, and is for what a person approved.
//
// Reading order: browser.go, lifetime.go, remote.go, proxy.go, look.go, observe.go, login.go, control.go, handlers.go,
// sourcemap.go, styles.go, press.go.
package browser

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"
)

// RefusedError says why a page may not be looked at, in words for people.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Options is what a Browser works with.
type Options struct {
	// Program is Chromium's; "" is the first of chromium, chromium-browser and google-chrome.
	Program string
	// Remote is the address of the debugging protocol of a Chromium that runs already, in place
	// of Program: "http://127.0.0.1:9222". It has to be on the loopback interface and started with
	// --force-webrtc-ip-handling-policy=disable_non_proxied_udp and --enable-automation.
	Remote string
	// Pages are what addresses of pages begin with: "https://shop.example/". Required. A page on
	// a private address has to be listed by that very address.
	Pages []string
	// Login signs each look in; the zero one does not.
	Login Login
	// NoSandbox runs Chromium without its sandbox, which containers and root do not allow.
	NoSandbox bool
	// Idle is how long Chromium runs on after the last look; 0: 5 minutes.
	Idle time.Duration
	// MaxMemory is what Chromium's processes may take together, in bytes; 0: 1 GiB. Above it
	// Chromium is ended. It is measured on Linux alone, and of a remote one not at all.
	MaxMemory int64
}

// Browser is a Chromium that is started by the first look, and ended after a while without any.
// Make one with New. Its methods may be called concurrently; two looks go on at a time.
type Browser struct {
	options Options
	allowed []*url.URL
	slots   chan struct{} // one for each look that goes on

	mu      sync.Mutex
	running *chromium   // nil: none
	looks   int         // that go on
	idle    *time.Timer // ends Chromium; nil while a look goes on
	closed  bool
}

// New makes a browser. Close it.
func New(options Options) (*Browser, error) {
	if options.Idle == 0 {
		options.Idle = idleLimit
	}
	if options.MaxMemory == 0 {
		options.MaxMemory = memoryLimit
	}
	if options.Remote != "" {
		if err := checkRemote(options.Remote); err != nil {
			return nil, err
		}
	}
	b := &Browser{options: options, slots: make(chan struct{}, maxLooks)}
	for _, page := range options.Pages {
		parsed, err := url.Parse(page)
		if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.User != nil {
			return nil, fmt.Errorf("the page %q is no address such as https://shop.example/", page)
		}
		b.allowed = append(b.allowed, parsed)
	}
	if options.Login.Page != "" {
		if err := b.check(options.Login.Page); err != nil {
			return nil, fmt.Errorf("the page to sign in at, %s, is none of those that may be looked at", options.Login.Page)
		}
	}
	return b, nil
}

// Allows tells whether a page may be looked at.
func (b *Browser) Allows(address string) bool { return b.check(address) == nil }

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
	return "", errors.New("there is no Chromium: install one, name it in inspect.chromium, or name one that runs in inspect.chromium_url")
}
