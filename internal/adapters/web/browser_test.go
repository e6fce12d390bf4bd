package web

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

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
	return window(t, webtest.Profile(t))
}

// another opens a second window with the same profile.
func (b *browser) another() *browser {
	b.Helper()
	return window(b.T, b.profile)
}

func window(t *testing.T, profile cdp.BrowserContextID) *browser {
	t.Helper()
	ctx := webtest.Window(t, profile)
	b := &browser{T: t, ctx: ctx, profile: profile}
	chromedp.ListenTarget(ctx, b.note)
	b.do(network.Enable(), log.Enable(), chromedp.EmulateViewport(1280, 900))
	b.prefers("light")
	return b
}

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
