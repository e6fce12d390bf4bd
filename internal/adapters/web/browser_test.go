package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// browserTime is how long one browser test may take in all; what it waits for are
// elements, never time.
const browserTime = time.Minute

// headless is the one Chromium that all tests share; each has a profile of its own in
// it. It is started by the first that needs it, and ended by TestMain.
var headless struct {
	once sync.Once
	ctx  context.Context
	end  context.CancelFunc
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if headless.ctx != nil {
		if err := chromedp.Cancel(headless.ctx); err != nil { // waits for the process, unlike end
			fmt.Fprintln(os.Stderr, "close Chromium:", err)
			code = 1
		}
		headless.end()
	}
	os.Exit(code)
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

// browser is a window with a profile of its own, which notes what a page must not do.
type browser struct {
	*testing.T
	ctx     context.Context
	profile cdp.BrowserContextID

	mu       sync.Mutex
	problems []string // console errors, exceptions
	requests []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	headless.once.Do(startChromium)
	if headless.err != nil {
		t.Fatal(headless.err)
	}
	profile, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(inBrowser())
	if err != nil {
		t.Fatal(err)
	}
	return window(t, profile)
}

// another opens a second window with the same profile.
func (b *browser) another() *browser {
	b.Helper()
	return window(b.T, b.profile)
}

// inBrowser is a context for commands to Chromium as a whole.
func inBrowser() context.Context {
	return cdp.WithExecutor(headless.ctx, chromedp.FromContext(headless.ctx).Browser)
}

func window(t *testing.T, profile cdp.BrowserContextID) *browser {
	t.Helper()
	tab, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(inBrowser())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(headless.ctx, chromedp.WithTargetID(tab))
	ctx, cancelLimit := context.WithTimeout(ctx, browserTime)
	b := &browser{T: t, ctx: ctx, profile: profile}
	t.Cleanup(func() {
		cancelLimit()
		cancel()
	})
	chromedp.ListenTarget(ctx, b.note)
	b.do(network.Enable(), log.Enable(), chromedp.EmulateViewport(1280, 900))
	b.prefers("light")
	return b
}

// quiet is told of events that chromedp does not know.
func quiet(string, ...any) {}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *log.EventEntryAdded:
		if event.Entry.Level == log.LevelError || event.Entry.Level == log.LevelWarning {
			b.problems = append(b.problems, event.Entry.Text+" "+event.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, "console."+string(event.Type))
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, event.ExceptionDetails.Error())
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, event.Request.URL)
	}
}

func (b *browser) do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// sees waits for an element: an XPath, or a selector.
func (b *browser) sees(element string) {
	b.Helper()
	b.do(chromedp.WaitVisible(element))
}

func (b *browser) clicks(element string) {
	b.Helper()
	b.do(chromedp.Click(element))
}

// hovers moves the pointer over the first element of a selector.
func (b *browser) hovers(selector string) {
	b.Helper()
	b.do(chromedp.ScrollIntoView(selector))
	at := evaluate[[]float64](b, `(() => { const box = document.querySelector(`+strconv.Quote(selector)+`).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] })()`)
	b.do(chromedp.MouseEvent(input.MouseMoved, at[0], at[1]))
}

// writes puts text into the message field, as a paste does.
func (b *browser) writes(text string) {
	b.Helper()
	b.do(chromedp.Focus("#text"), input.InsertText(text))
}

// asks writes a message, and waits until it is taken.
func (b *browser) asks(text string) {
	b.Helper()
	b.writes(text)
	b.clicks(".send")
	b.sees(`//article[h2="` + text + `"]`)
}

// says asks, and waits for what is said to it.
func (b *browser) says(text string) {
	b.Helper()
	b.asks(text)
	b.sees(answerTo(text))
}

// answerTo is where the answer to a message stands.
func answerTo(text string) string {
	return `//article[h2="` + text + `" and not(@data-working)]//div[contains(@class, "reply")]`
}

// types presses a key as a person does; chromedp's own keys type it besides.
func (b *browser) types(key, code string) {
	b.Helper()
	down := input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithCode(code)
	switch {
	case key == "Enter":
		down = down.WithText("\r").WithWindowsVirtualKeyCode(13)
	case key == "Escape":
		down = down.WithWindowsVirtualKeyCode(27)
	case key == "Tab":
		down = down.WithWindowsVirtualKeyCode(9)
	case len(key) == 1:
		down = down.WithText(key)
	}
	b.do(down, input.DispatchKeyEvent(input.KeyUp).WithKey(key).WithCode(code))
}

// holds waits until an expression is true in the page.
func (b *browser) holds(expression string) {
	b.Helper()
	b.do(chromedp.Poll(expression, nil))
}

// evaluate gives the value of an expression in the page.
func evaluate[T any](b *browser, expression string) (value T) {
	b.Helper()
	b.do(chromedp.Evaluate(expression, &value))
	return value
}

// clean fails when the page broke a rule or asked anyone but its server.
func (b *browser) clean(w *Web) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		b.Errorf("the browser complains: %s", problem)
	}
	for _, address := range b.requests {
		if !strings.HasPrefix(address, w.URL()) {
			b.Errorf("the page asked %s", address)
		}
	}
	if len(b.requests) == 0 {
		b.Error("no request was seen")
	}
}
