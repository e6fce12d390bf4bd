package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	cdptarget "github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"cairn/internal/inspect"
)

// Time limits of a look.
const (
	lookLimit    = 30 * time.Second
	appearLimit  = 5 * time.Second // for a control to appear in a page that is loaded
	appearPause  = 100 * time.Millisecond
	maxScripts   = 500
	maxProblems  = 20
	maxNearNames = 20
)

// Target is the control that is meant: by its name, as people see or hear it, or at a place of a
// screenshot of 1280 by 900 pixels. The zero one is none.
type Target struct {
	Name string
	At   *Point
}

// Point is a place of a screenshot, in pixels from its upper left corner.
type Point struct{ X, Y int }

// View is what was seen of a page.
type View struct {
	Address string
	Title   string
	Control *Control // nil where none is meant or was found
	// Near are the names of controls that may be meant where none was found, or several were.
	Near     []string
	Requests []inspect.Request
	Messages []inspect.Message
	Refused  []string // private addresses that the page wanted to reach, "host:port"
	Problems []string // what could not be found out
}

// look is one look at a page.
type look struct {
	browser *Browser

	mu       sync.Mutex
	scripts  map[string]*script
	requests map[network.RequestID]*inspect.Request
	order    []network.RequestID
	asked    map[string]bool // addresses of its requests, "host:port"
	messages []inspect.Message
	problems []string
}

// Look opens a page and looks at a control of it. A page that may not be opened is a
// *RefusedError. Nothing on it is clicked.
func (b *Browser) Look(ctx context.Context, address string, target Target) (view View, err error) {
	if err := b.check(address); err != nil {
		return View{}, err
	}
	w, err := b.openWindow(ctx)
	if err != nil {
		return View{}, err
	}
	defer func() { err = errors.Join(err, w.dispose()) }()
	stop := context.AfterFunc(ctx, w.cancel)
	defer stop()
	l := &look{browser: b, scripts: make(map[string]*script), requests: make(map[network.RequestID]*inspect.Request), asked: make(map[string]bool)}
	view, err = l.run(w, address, target)
	if ctx.Err() != nil {
		return View{}, ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return View{}, fmt.Errorf("look at the page: it took longer than %s", lookLimit)
	}
	return view, err
}

// window is a window in a browser context of its own, for as long as a look may take.
type window struct {
	tab     context.Context    //nolint:containedctx // chromedp keeps the window in it
	cancel  context.CancelFunc // ends what is done in it
	dispose func() error       // cancels, and closes the browser context
}

// openWindow opens a window in Chromium, which it starts where there is none.
func (b *Browser) openWindow(ctx context.Context) (*window, error) {
	session, err := b.start(ctx)
	if err != nil {
		return nil, err
	}
	whole := cdp.WithExecutor(session, chromedp.FromContext(session).Browser)
	own, err := cdptarget.CreateBrowserContext().WithDisposeOnDetach(true).Do(whole)
	if err != nil {
		return nil, fmt.Errorf("open a browser context: %w", err)
	}
	disposeOwn := func() error {
		if err := cdptarget.DisposeBrowserContext(own).Do(whole); err != nil {
			return fmt.Errorf("close a browser context: %w", err)
		}
		return nil
	}
	id, err := cdptarget.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(whole)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a window: %w", err), disposeOwn())
	}
	tab, detach := chromedp.NewContext(session, chromedp.WithTargetID(id))
	tab, cancel := context.WithTimeout(tab, lookLimit)
	return &window{tab: tab, cancel: cancel, dispose: func() error {
		cancel()
		detach()
		return disposeOwn()
	}}, nil
}

func (l *look) run(w *window, address string, target Target) (View, error) {
	chromedp.ListenTarget(w.tab, l.observe)
	view := View{}
	err := chromedp.Run(w.tab,
		network.Enable(), runtime.Enable(),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := debugger.Enable().Do(ctx)
			return err
		}),
		cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorDeny),
		chromedp.Navigate(address), chromedp.Location(&view.Address), chromedp.Title(&view.Title),
	)
	if err != nil {
		return View{}, fmt.Errorf("open the page: %w", err)
	}
	if err := l.browser.check(view.Address); err != nil {
		return View{}, &RefusedError{"The page leads to another one, which may not be looked at here."}
	}
	view.Address, view.Title = inspect.Cut(view.Address), inspect.Cut(view.Title)
	err = chromedp.Run(w.tab, chromedp.ActionFunc(func(ctx context.Context) error { return l.lookAt(ctx, target, &view) }))
	if err != nil {
		return View{}, fmt.Errorf("look at the page: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.order {
		view.Requests = append(view.Requests, *l.requests[id])
	}
	view.Requests, view.Messages, view.Problems = inspect.KeepLast(view.Requests), inspect.KeepLast(l.messages), l.problems
	for address := range l.asked {
		if l.browser.proxy.wasRefused(address) {
			view.Refused = append(view.Refused, inspect.Cut(address))
		}
	}
	slices.Sort(view.Refused)
	return view, nil
}

func (l *look) lookAt(ctx context.Context, target Target, view *View) error {
	if target.Name == "" && target.At == nil {
		return nil
	}
	until := time.Now().Add(appearLimit)
	for {
		node, near, several, err := findControl(ctx, target)
		if err != nil {
			return err
		}
		if node != nil {
			view.Control, err = l.describe(ctx, *node)
			return err
		}
		view.Near = near
		if several || time.Now().After(until) {
			return nil
		}
		select {
		case <-time.After(appearPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// observe keeps what Chromium tells of the page.
func (l *look) observe(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := event.(type) {
	case *debugger.EventScriptParsed:
		if len(l.scripts) < maxScripts {
			l.scripts[string(e.ScriptID)] = &script{url: e.URL, mapURL: e.SourceMapURL}
		}
	case *network.EventRequestWillBeSent:
		l.addRequest(e)
	case *network.EventResponseReceived:
		if request := l.requests[e.RequestID]; request != nil {
			request.Status = fmt.Sprint(e.Response.Status)
		}
	case *network.EventLoadingFailed:
		if request := l.requests[e.RequestID]; request != nil && request.Status == "" {
			request.Status = inspect.Cut(e.ErrorText)
		}
	case *runtime.EventConsoleAPICalled:
		l.addMessage(string(e.Type), e.Args)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text, _, _ = strings.Cut(e.ExceptionDetails.Exception.Description, "\n")
		}
		l.messages = inspect.KeepLast(append(l.messages, inspect.Message{Level: "error", Text: inspect.Cut(text)}))
	}
}

// addRequest keeps a request of the page's own, without what it asks for.
func (l *look) addRequest(e *network.EventRequestWillBeSent) {
	address, err := url.Parse(e.Request.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || len(l.order) >= 1_000 {
		return
	}
	port := address.Port()
	if port == "" {
		port = defaultPorts[address.Scheme]
	}
	l.asked[net.JoinHostPort(address.Hostname(), port)] = true
	if l.requests[e.RequestID] == nil {
		l.order = append(l.order, e.RequestID)
	}
	l.requests[e.RequestID] = &inspect.Request{Name: inspect.Cut(address.Host), Method: inspect.Cut(e.Request.Method), Path: inspect.Cut(address.Path)}
}

func (l *look) addMessage(level string, arguments []*runtime.RemoteObject) {
	var texts []string
	for _, argument := range arguments[:min(len(arguments), 20)] {
		text := argument.Description
		if text == "" {
			text = strings.Trim(string(argument.Value), `"`)
		}
		texts = append(texts, text)
	}
	l.messages = inspect.KeepLast(append(l.messages, inspect.Message{Level: level, Text: inspect.Cut(strings.Join(texts, " "))}))
}

func (l *look) script(id string) *script {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scripts[id]
}

func (l *look) problem(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.problems) < maxProblems && !slices.Contains(l.problems, text) {
		l.problems = append(l.problems, text)
	}
}

// execute sends a command with types of our own: Chromium has values that the library refuses.
func execute[R any](ctx context.Context, method string, parameters map[string]any) (R, error) {
	var result R
	err := cdp.Execute(ctx, method, parameters, &result)
	if err != nil {
		return result, fmt.Errorf("%s: %w", method, err)
	}
	return result, nil
}
