package web

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"cairn/internal/chat/chattest"
)

// browserTime is how long one browser test may take in all; what it waits for are
// elements, never time.
const browserTime = 3 * time.Minute

// browser is a headless Chromium with one window, which notes what a page must not do.
type browser struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // console errors, exceptions
	requests []string
}

func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CAIRN_TEST_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium in PATH: install one (Debian: apt-get install chromium) or name it in CAIRN_TEST_CHROMIUM")
	return ""
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WindowSize(1280, 900),
	)
	limited, cancelLimit := context.WithTimeout(context.Background(), browserTime)
	t.Cleanup(cancelLimit)
	allocator, cancelAllocator := chromedp.NewExecAllocator(limited, options...)
	t.Cleanup(cancelAllocator)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits for the process, unlike cancel
			t.Errorf("close Chromium: %v", err)
		}
		cancel()
	})
	b := &browser{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.note)
	b.do(network.Enable(), log.Enable())
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

// says asks through the message field, and waits for what is said to it.
func (b *browser) says(text string) {
	b.Helper()
	b.do(chromedp.SendKeys("#text", text), chromedp.Click(".send"), chromedp.WaitVisible(answerTo(text)))
}

// answerTo is where the answer to a message stands.
func answerTo(text string) string {
	return `//article[h2="` + text + `"]//div[contains(@class, "reply")]`
}

// enter presses the key as a person does; chromedp's own keys type it besides.
func enter() chromedp.Action {
	return input.DispatchKeyEvent(input.KeyDown).WithKey("Enter").WithCode("Enter").WithText("\r").WithWindowsVirtualKeyCode(13)
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

func TestBrowserFollowsARun(t *testing.T) {
	searching, writing := make(chan struct{}), make(chan struct{})
	steps := chattest.Steps()
	bot := sampleBot()
	bot.On("How does it work?", chattest.InTurn(
		chattest.Reports(steps[:4]...), chattest.Until(searching), chattest.Reports(steps[4:6]...), chattest.Until(writing),
		chattest.Reports(steps[6:]...), chattest.Says(chattest.Answer())))
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()), chromedp.WaitVisible("#empty .stats"))
	b.do(chromedp.SendKeys("#text", "How does it work?"), enter())
	b.do(chromedp.WaitVisible(`//details[@open]/summary[contains(., "Searching 3 collections")]`), chromedp.WaitNotPresent("#empty"))
	close(searching)
	b.do(chromedp.WaitVisible(`//details[@open]/summary[contains(., "Writing the answer")]`), chromedp.WaitVisible(".stop button"))
	close(writing)
	b.do(chromedp.WaitVisible(`//details[not(@open)]/summary[contains(., "4 steps")]`), chromedp.WaitVisible(answerTo("How does it work?")))
	if left := evaluate[string](b, `text.value`); left != "" {
		t.Errorf("the message field still holds %q", left)
	}
	b.do(chromedp.Click(`//a[@class="cite" and text()="4"]`), chromedp.WaitVisible(".source:has(:target)"))
	if title := evaluate[string](b, `document.querySelector(".source:has(:target) .title").textContent`); title != "#releases, 2 March" {
		t.Errorf("mark 4 leads to %q", title)
	}
	if hover := evaluate[string](b, `document.querySelector(".cite").title`); hover != "Deploying the API — Rolling back" {
		t.Errorf("hovering mark 1 shows %q", hover)
	}
	b.do(chromedp.Click(".trace summary"), chromedp.WaitVisible(".trace .kept"))
	b.clean(w)
}

func TestBrowserAnswersQuestions(t *testing.T) {
	bot := sampleBot()
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.says("Roll it back")
	b.do(chromedp.Click(`//button[contains(., "The mobile app")]`))
	b.do(chromedp.WaitVisible(`//p[@class="taken" and contains(., "The mobile app")]`), chromedp.WaitNotPresent(".choices"))
	b.do(chromedp.WaitVisible(`//div[@class="text" and contains(., "You chose app")]`))
	b.says("Roll it back")
	b.do(chromedp.WaitVisible(".choices"))
	b.says("all of it")
	b.do(chromedp.WaitVisible(`//p[@class="taken" and contains(., "all of it")]`), chromedp.WaitNotPresent(".choices"))
	b.do(chromedp.Navigate(w.URL()), chromedp.Click(`//button[contains(., "roll back a release")]`), chromedp.WaitVisible(answerTo(suggestions[0])))
	b.clean(w)
	if got := len(bot.Messages()); got != 5 {
		t.Errorf("%d messages arrived, want 5", got)
	}
}

func TestBrowserReconnects(t *testing.T) {
	bot := sampleBot()
	first := open(t, bot)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx, bot) }()
	b := openBrowser(t)
	b.do(chromedp.Navigate(first.URL()))
	b.says("Roll it back")
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	second, err := New(Options{Addr: first.listener.Addr().String(), Transcripts: bot, Logger: first.options.Logger})
	if err != nil {
		t.Fatal(err)
	}
	again, stop := context.WithCancel(context.Background())
	go func() { ended <- second.Run(again, bot) }()
	b.says("Who owns the billing dashboard?")
	if count := evaluate[int](b, `document.querySelectorAll(".exchange").length`); count != 2 {
		t.Errorf("the page shows %d exchanges, want 2", count)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// everything is a page with all that the adapter shows.
func everything(b *browser, w *Web) {
	b.Helper()
	b.do(chromedp.Navigate(w.URL()))
	for _, text := range []string{suggestions[0], "Who owns the billing dashboard?", "And the database?", "worldly", "hostile", "Roll it back"} {
		b.says(text)
	}
	evaluate[bool](b, `document.querySelectorAll("details").forEach((d) => d.open = true) === undefined`)
}

func TestBrowserOnAPhone(t *testing.T) {
	w := serve(t, sampleBot())
	b := openBrowser(t)
	b.do(chromedp.EmulateViewport(360, 740))
	b.do(chromedp.Navigate(w.URL()), chromedp.WaitVisible("#empty"))
	if width := evaluate[int](b, `document.documentElement.scrollWidth`); width > 360 {
		t.Errorf("the empty page is %d px wide", width)
	}
	everything(b, w)
	if width := evaluate[int](b, `document.documentElement.scrollWidth`); width > 360 {
		t.Errorf("the page is %d px wide", width)
	}
	if small := evaluate[[]string](b, `[...document.querySelectorAll("main button, .dock button")].filter((e) => e.getBoundingClientRect().height < 24).map((e) => e.textContent)`); len(small) > 0 {
		t.Errorf("too small to be touched: %q", small)
	}
	b.clean(w)
}

// contrast gives the texts whose colour is too near to that of what is behind them.
const contrast = `(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map(Number).map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if (!/, 0\)$|transparent/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || element.matches("textarea");
    if (!own || !element.checkVisibility() || element.closest(".hidden")) continue;
    const styles = [getComputedStyle(element)];
    if (element.matches("textarea")) styles.push(getComputedStyle(element, "::placeholder"));
    for (const style of styles) {
      const [a, b] = [light(style.color), light(behind(element))];
      const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
      if (ratio < 4.5) bad.push(element.className + " " + element.tagName + " " + ratio.toFixed(2) + " " + element.textContent.trim().slice(0, 40));
    }
  }
  return bad;
})()`

// unnamed gives what assistive technology could not tell: controls without a name,
// ids that are not unique, headings that skip a level.
const unnamed = `(() => {
  const bad = [];
  for (const element of document.querySelectorAll("input:not([type=hidden]), textarea, select, button, a")) {
    const name = element.getAttribute("aria-label") || [...(element.labels || [])].map((l) => l.textContent).join("") || element.textContent;
    if (!name.trim()) bad.push("no name: " + element.outerHTML.slice(0, 80));
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => bad.push("id twice: " + id));
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) bad.push("heading skips a level: " + heading.outerHTML.slice(0, 80));
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) bad.push("not one h1");
  if (!document.documentElement.lang) bad.push("no language");
  if (!document.querySelector("[role=status]") || !document.querySelector("[role=log]")) bad.push("no live region");
  return bad;
})()`

func TestBrowserAccessibility(t *testing.T) {
	w := serve(t, sampleBot())
	b := openBrowser(t)
	for _, scheme := range []string{"light", "dark"} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		b.do(chromedp.Navigate(w.URL()), chromedp.WaitVisible("#empty"))
		for range 2 {
			for _, check := range []string{contrast, unnamed} {
				for _, problem := range evaluate[[]string](b, check) {
					t.Errorf("%s: %s", scheme, problem)
				}
			}
			everything(b, w)
		}
		ground := evaluate[string](b, `getComputedStyle(document.body).backgroundColor`)
		if dark := ground == "rgb(23, 22, 20)"; dark != (scheme == "dark") {
			t.Errorf("in %s mode the ground is %s", scheme, ground)
		}
	}
	b.do(chromedp.Focus(".choices button"))
	b.do(chromedp.KeyEvent(kb.Tab))
	if outline := evaluate[string](b, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("what has the focus is outlined %q", outline)
	}
	b.clean(w)
}
