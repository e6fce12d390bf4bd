package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	cdptarget "github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// Time limits of a look, and bounds of what it keeps.
const (
	lookLimit    = 30 * time.Second
	appearLimit  = 5 * time.Second // for a control to appear in a page that is loaded
	appearPause  = 100 * time.Millisecond
	stillTime    = time.Second // a page whose controls stay the same for so long has them all
	maxScripts   = 500
	maxRequests  = 1_000
	maxProblems  = 20
	maxNearNames = 20
)

// Target is the control that is meant: by its name, as people see or hear it, or at a place of a
// screenshot. The zero one is none.
type Target struct {
	Name string
	// Text is the question that Name was read in: where no control is called Name, one whose whole
	// name stands in it is meant.
	Text string
	Role string // "button", of several controls of one name; "" for any
	At   *Point
	// Except is the name of a control that is not meant: with a Role, the other one of that role is.
	Except string
	// Exact is for what was seen before: only a control of just that name and role is meant.
	Exact bool
}

func (t Target) isZero() bool { return t.Name == "" && t.At == nil && t.Except == "" }

// Point is a place of a screenshot, in pixels from its upper left corner.
type Point struct {
	X int `json:"x"`
	Y int `json:"y"`
	// Width and Height are those of the screenshot; 0: it has 1280 by 900 pixels.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
}

// View is what was seen of a page.
type View struct {
	Address string   `json:"address"`
	Title   string   `json:"title"`
	Control *Control `json:"control,omitempty"` // nil where none is meant or was found
	// Near are the names of controls that may be meant where none was found, or several were.
	Near     []string          `json:"near,omitempty"`
	Tree     inspect.Element   `json:"tree"`             // the page, with its controls that have a name
	Behind   []Handler         `json:"behind,omitempty"` // of the page's first controls, where none is meant
	Requests []inspect.Request `json:"requests,omitempty"`
	Messages []inspect.Message `json:"messages,omitempty"`
	Refused  []string          `json:"refused,omitempty"`  // private addresses that the page wanted to reach, "host:port"
	Problems []string          `json:"problems,omitempty"` // what could not be found out
	Pressed  *Press            `json:"pressed,omitempty"`  // by Press
}

// look is one look at a page.
type look struct {
	browser *Browser
	proxy   *proxy
	tab     context.Context //nolint:containedctx // chromedp keeps the window in it
	cancel  context.CancelFunc
	closing sync.WaitGroup // dialogs

	mu       sync.Mutex
	crashed  bool
	scripts  map[string]*script // and style sheets, by sheetKey
	requests map[network.RequestID]*inspect.Request
	order    []network.RequestID
	asked    map[string]bool // addresses of its requests, "host:port"
	messages []inspect.Message
	problems []string
}

// Look opens a page and looks at a control of it. A page that may not be opened is a
// *RefusedError. Nothing on it is clicked.
func (b *Browser) Look(ctx context.Context, address string, target Target) (View, error) {
	return b.visit(ctx, address, func(ctx context.Context, l *look, view *View) error { return l.findTarget(ctx, target, view) }, target.At)
}

// Press opens a page, clicks a control of it once, and watches what the page does then. It is for
// what a person approved.
func (b *Browser) Press(ctx context.Context, address string, target Target) (View, error) {
	return b.visit(ctx, address, func(ctx context.Context, l *look, view *View) error {
		if err := l.findTarget(ctx, target, view); err != nil || view.Control == nil {
			return err
		}
		if target.Exact && (view.Control.Name != target.Name || view.Control.Role != target.Role) {
			view.Pressed = &Press{Problem: "another control is there now"}
			return nil
		}
		return l.press(ctx, view)
	}, target.At)
}

// visit opens a page in a window of its own for as long as a look may take, and has do done on it.
func (b *Browser) visit(ctx context.Context, address string, do func(context.Context, *look, *View) error, at *Point) (view View, err error) { //nolint:contextcheck // chromedp keeps the contexts of Chromium and its windows
	if err := b.check(address); err != nil {
		return View{}, err
	}
	running, err := b.enter(ctx)
	if err != nil {
		return View{}, err
	}
	defer b.leave()
	w, err := running.openWindow() //nolint:contextcheck // chromedp keeps the contexts of Chromium and its windows
	if err != nil {
		return View{}, err
	}
	defer func() { err = errors.Join(err, w.dispose()) }()
	defer context.AfterFunc(ctx, w.cancel)()
	watched, endWatch := context.WithCancel(w.tab)
	var exceeded bool
	var watching sync.WaitGroup
	watching.Go(func() { exceeded = b.watchMemory(watched, running) })
	l := &look{
		browser: b, proxy: running.proxy, tab: w.tab, cancel: w.cancel,
		scripts: make(map[string]*script), requests: make(map[network.RequestID]*inspect.Request), asked: make(map[string]bool),
	}
	view, err = l.run(address, do, at) //nolint:contextcheck // chromedp keeps the contexts of Chromium and its windows
	endWatch()
	watching.Wait()
	l.closing.Wait()
	switch {
	case err == nil:
		return view, nil
	case exceeded:
		return View{}, errMemory
	case ctx.Err() != nil:
		return View{}, ctx.Err()
	case l.hasCrashed():
		return View{}, errors.New("the page broke down in Chromium")
	case errors.Is(err, context.DeadlineExceeded):
		return View{}, fmt.Errorf("look at the page: it took longer than %s", lookLimit)
	}
	return View{}, err
}

// window is a window in a browser context of its own, for as long as a look may take.
type window struct {
	tab     context.Context    //nolint:containedctx // chromedp keeps the window in it
	cancel  context.CancelFunc // ends what is done in it
	dispose func() error       // cancels, and closes the browser context
}

// openWindow opens a window.
func (c *chromium) openWindow() (*window, error) {
	whole := c.executor()
	own, err := cdptarget.CreateBrowserContext().WithDisposeOnDetach(true).WithProxyServer(c.proxy.address()).WithProxyBypassList(bypassNothing).Do(whole)
	if err != nil {
		return nil, fmt.Errorf("open a browser context: %w", err)
	}
	disposeOwn := func() error {
		if c.session.Err() != nil { // it went with Chromium
			return nil //nolint:nilerr // nothing is left to close
		}
		if err := cdptarget.DisposeBrowserContext(own).Do(whole); err != nil {
			return fmt.Errorf("close a browser context: %w", err)
		}
		return nil
	}
	id, err := cdptarget.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(whole)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a window: %w", err), disposeOwn())
	}
	tab, detach := chromedp.NewContext(c.session, chromedp.WithTargetID(id))
	tab, cancel := context.WithTimeout(tab, lookLimit)
	return &window{tab: tab, cancel: cancel, dispose: func() error {
		cancel()
		detach()
		return disposeOwn()
	}}, nil
}

// run opens the page, signed in where that is configured, and has do done on it.
func (l *look) run(address string, do func(context.Context, *look, *View) error, at *Point) (View, error) {
	size := emulation.SetDeviceMetricsOverride(windowWidth, windowHeight, 1, false)
	if at != nil && at.Width > 0 && at.Height > 0 {
		size = emulation.SetDeviceMetricsOverride(int64(at.Width), int64(at.Height), 1, false)
	}
	err := chromedp.Run(l.tab, cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorDeny), size)
	if err != nil {
		return View{}, fmt.Errorf("prepare the window: %w", err)
	}
	chromedp.ListenTarget(l.tab, l.closeDialogs)
	if err := l.signIn(); err != nil {
		return View{}, fmt.Errorf("sign in with the test login: %w", err)
	}
	chromedp.ListenTarget(l.tab, l.observe)
	view := View{}
	err = chromedp.Run(l.tab,
		network.Enable(), runtime.Enable(),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := debugger.Enable().Do(ctx)
			return err
		}),
		chromedp.Navigate(address), chromedp.Location(&view.Address), chromedp.Title(&view.Title),
	)
	if err != nil {
		return View{}, fmt.Errorf("open the page: %w", err)
	}
	if err := l.browser.check(view.Address); err != nil {
		return View{}, &RefusedError{"The page leads to another one, which may not be looked at here."}
	}
	view.Address, view.Title = l.cut(view.Address), l.cut(view.Title)
	if err := chromedp.Run(l.tab, chromedp.ActionFunc(func(ctx context.Context) error { return do(ctx, l, &view) })); err != nil {
		return View{}, fmt.Errorf("look at the page: %w", err)
	}
	l.conclude(&view)
	return view, nil
}

// conclude puts into the view what was observed.
func (l *look) conclude(view *View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.order {
		view.Requests = append(view.Requests, *l.requests[id])
	}
	view.Requests, view.Messages, view.Problems = inspect.KeepLast(view.Requests), inspect.KeepLast(l.messages), l.problems
	for address := range l.asked {
		if l.proxy.wasRefused(address) {
			view.Refused = append(view.Refused, inspect.Cut(address))
		}
	}
	slices.Sort(view.Refused)
}

func (l *look) hasCrashed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.crashed
}

// findTarget waits for the control that is meant, and describes it.
func (l *look) findTarget(ctx context.Context, target Target, view *View) error {
	until, controls, stillSince := time.Now().Add(appearLimit), 0, time.Now()
	for {
		found, err := l.findControl(ctx, target)
		if err != nil {
			return err
		}
		view.Tree = found.tree
		if found.node != nil {
			if view.Control, err = l.describe(ctx, *found.node); err == nil {
				view.Control.Alike = found.alike
			}
			return err
		}
		view.Near = found.near
		if target.isZero() && len(found.controls) > 0 {
			view.Behind, err = l.readBehind(ctx, found.controls)
			return err
		}
		if len(found.controls) != controls || controls == 0 {
			controls, stillSince = len(found.controls), time.Now()
		}
		if found.several || time.Now().After(until) || time.Since(stillSince) > stillTime {
			return nil
		}
		select {
		case <-time.After(appearPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// maxBehind is of how many controls of a page the handlers are read, where no control is meant.
const maxBehind = 10

// readBehind reads the handlers of the first controls, each line once.
func (l *look) readBehind(ctx context.Context, controls []axNode) ([]Handler, error) {
	var behind []Handler
	for _, node := range controls[:min(len(controls), maxBehind)] {
		object, err := resolveNode(ctx, node.Backend)
		if err != nil {
			return nil, err
		}
		handlers, _, err := l.findHandlers(ctx, object)
		if err != nil {
			return nil, err
		}
		for _, handler := range handlers {
			if !slices.ContainsFunc(behind, func(other Handler) bool { return other.Place == handler.Place }) {
				behind = append(behind, handler)
			}
		}
	}
	return behind, nil
}
