package editor_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

var shots = flag.String("shots", "", "folder to keep pictures of all that the page shows in")

// browser is a window with a profile of its own, which notes what a page must not do.
type browser struct {
	*testing.T
	ctx   context.Context
	place *place
	// offline tells that the server is away on purpose, of which the browser complains.
	offline bool

	mu       sync.Mutex
	problems []string
}

func (p *place) browser() *browser { return p.window(webtest.Profile(p.T)) }

func (p *place) window(profile cdp.BrowserContextID) *browser {
	p.Helper()
	b := &browser{T: p.T, ctx: webtest.Window(p.T, profile), place: p}
	chromedp.ListenTarget(b.ctx, b.note)
	b.do(network.Enable(), log.Enable(), chromedp.EmulateViewport(1280, 900))
	b.prefers("light")
	p.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, problem := range b.problems {
			b.Errorf("the browser complains: %s", problem)
		}
	})
	return b
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	problem := ""
	switch event := event.(type) {
	case *log.EventEntryAdded:
		if event.Entry.Level == log.LevelError && !b.offline {
			problem = event.Entry.Text + " " + event.Entry.URL
		}
	case *runtime.EventConsoleAPICalled:
		problem = "console." + string(event.Type)
		for _, argument := range event.Args {
			problem += " " + string(argument.Value) + argument.Description
		}
	case *runtime.EventExceptionThrown:
		problem = event.ExceptionDetails.Error()
	case *page.EventJavascriptDialogOpening: // what was not saved is left
		go chromedp.Run(b.ctx, page.HandleJavaScriptDialog(true)) //nolint:errcheck // a dialog that stays stops the test
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(event.Request.URL, b.place.url) && event.Request.URL != "about:blank" {
			problem = "asked " + event.Request.URL
		}
	}
	if problem != "" {
		b.problems = append(b.problems, problem)
	}
}

func (b *browser) do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.Fatal(err, b.problems)
	}
}

func (b *browser) prefers(scheme string) {
	b.Helper()
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}))
}

// opens opens a page in the editor.
func (b *browser) opens(id pages.PageID) {
	b.Helper()
	b.do(chromedp.Navigate(b.place.url+"page/"+string(id)), chromedp.WaitReady("html[data-ready]"))
}

// holds waits until an expression is true in the page.
func (b *browser) holds(expression string) {
	b.Helper()
	b.do(chromedp.Poll(expression, nil))
}

// shows waits for a text in the page.
func (b *browser) shows(text string) {
	b.Helper()
	b.holds(`document.getElementById("text").innerText.replace(/\s+/g, " ").includes(` + quote(text) + `)`)
}

// saves waits until all is saved.
func (b *browser) saves() {
	b.Helper()
	evaluateAwaited[bool](b, `new Promise((go) => setTimeout(() => go(true)))`) // what was typed is noted
	b.holds(`document.getElementById("saved").textContent === "Saved"`)
}

// puts the caret behind a text, and waits until the editor knows.
func (b *browser) puts(text string) {
	b.Helper()
	if found := evaluateAwaited[bool](b, `new Promise((go) => {
		document.getElementById("text").focus();
		const walker = document.createTreeWalker(document.getElementById("text"), NodeFilter.SHOW_TEXT);
		for (let at = walker.nextNode(); at; at = walker.nextNode()) {
			const place = at.data.indexOf(`+quote(text)+`) + `+quote(text)+`.length;
			if (place < `+quote(text)+`.length) continue;
			const selection = getSelection();
			if (selection.isCollapsed && selection.anchorNode === at && selection.anchorOffset === place) return go(true);
			const known = () => {
				if (getSelection().anchorNode !== at || getSelection().anchorOffset !== place) return;
				document.removeEventListener("selectionchange", known);
				setTimeout(() => go(true));
			};
			document.addEventListener("selectionchange", known);
			selection.collapse(at, place);
			return;
		}
		go(false);
	})`); !found {
		b.Fatalf("%q is not on the page", text)
	}
}

// types writes as a person does, at the caret.
func (b *browser) types(text string) {
	b.Helper()
	b.do(input.InsertText(text))
}

// presses presses a key as a person does; chromedp's own keys type it besides.
func (b *browser) presses(key, code string, modifiers input.Modifier) {
	b.Helper()
	number := map[string]int64{"Enter": 13, "Tab": 9, "Escape": 27, "F10": 121, "ArrowRight": 39, "Backspace": 8, " ": 32}[key]
	if number == 0 {
		number = int64(strings.ToUpper(key)[0])
	}
	down := input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithCode(code).WithModifiers(modifiers).WithWindowsVirtualKeyCode(number)
	switch {
	case key == "Enter":
		down = down.WithText("\r")
	case len(key) == 1 && modifiers&^input.ModifierShift == 0:
		down = down.WithText(key)
	}
	b.do(down, input.DispatchKeyEvent(input.KeyUp).WithKey(key).WithCode(code).WithModifiers(modifiers).WithWindowsVirtualKeyCode(number))
}

func evaluate[T any](b *browser, expression string) (value T) {
	b.Helper()
	b.do(chromedp.Evaluate(expression, &value))
	return value
}

func (b *browser) shoot(name string) {
	b.Helper()
	if *shots == "" {
		return
	}
	var png []byte
	b.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		b.Fatal(err)
	}
}

func quote(text string) string { return "`" + strings.ReplaceAll(text, "`", "\\`") + "`" }

// replace gives a change of a word wherever it stands.
func replace(before, after string) func(*tree.Node) *tree.Node {
	return func(root *tree.Node) *tree.Node {
		root.Walk(func(n, _ *tree.Node) bool {
			n.Text = strings.ReplaceAll(n.Text, before, after)
			return true
		})
		return root
	}
}

func (p *place) expects(id pages.PageID, want string) {
	p.Helper()
	if got := strings.TrimSpace(p.markdown(id)); got != want {
		p.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
}

func TestBrowserSavesWhatIsTyped(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "Every employee has 27 days.\n\nAsk Maria.")
	b := p.browser()
	b.opens(id)
	b.puts("days")
	b.types(" of leave")
	b.puts("Maria.")
	b.presses("Enter", "Enter", 0)
	b.types("Or Paul.")
	b.saves()
	p.expects(id, "Every employee has 27 days of leave.\n\nAsk Maria.\n\nOr Paul.")
	b.presses("z", "KeyZ", input.ModifierCtrl)
	b.presses("z", "KeyZ", input.ModifierCtrl)
	b.saves()
	p.expects(id, "Every employee has 27 days of leave.\n\nAsk Maria.")
	b.shoot("typed")
}

func TestBrowsersSeeEachOther(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "One two three.\n\nFour five six.\n\nSeven.")
	a, b := p.browser(), p.browser()
	a.opens(id)
	b.opens(id)
	b.puts("Four five")
	a.puts("One")
	a.types(" and a half")
	a.saves()
	b.shows("One and a half two three.")
	p.change(id, replace("Four", "Not four but 4"))
	b.shows("Not four but 4 five six.")
	b.types(" and a bit") // where the caret was left
	b.saves()
	p.expects(id, "One and a half two three.\n\nNot four but 4 five and a bit six.\n\nSeven.")
	a.shows("five and a bit six.")
	a.holds(`document.querySelectorAll("#people li").length === 1`)
	a.holds(`document.querySelectorAll(".who").length === 1`)
	a.shoot("two")
}

func TestBrowserAsksWhichOfTwoHolds(t *testing.T) {
	for choice, want := range map[string]string{
		"Keep what is saved": "It is 30 days.\n\nAnd more.", "Use mine": "It is 28 days.\n\nAnd more.", "Keep both": "It is 30 days.\n\nIt is 28 days.\n\nAnd more.",
	} {
		t.Run(choice, func(t *testing.T) {
			p := open(t, mayWrite)
			id := p.write("Leave", "It is 27 days.\n\nAnd")
			b := p.browser()
			b.opens(id)
			b.clash(id)
			b.shoot("conflict")
			b.puts("And")
			b.types(" more.")
			b.holds(`document.getElementById("saved").textContent === "Waits for your choice"`)
			p.expects(id, "It is 30 days.\n\nAnd more.")
			b.do(chromedp.Click(`//section[@id="conflicts"]//button[.="` + choice + `"]`))
			b.saves()
			p.expects(id, want)
			b.holds(`document.getElementById("conflicts").hidden`)
		})
	}
}

// holdsRequests keeps what the window sends until window.go is called; window.held tells that
// something was sent.
func (b *browser) holdsRequests() {
	b.Helper()
	b.do(chromedp.Evaluate(`window.fetch = ((fetch) => (...all) => (window.held = window.held ?? new Promise((go) => (window.go = go))).then(() => fetch(...all)))(fetch)`, nil))
}

// clash has two people change the same words: the one in the browser is 28 days, the other 30.
func (b *browser) clash(id pages.PageID) {
	b.Helper()
	b.holdsRequests()
	b.puts("27")
	b.presses("Backspace", "Backspace", 0)
	b.types("8")
	b.place.change(id, replace("27", "30"))
	b.do(chromedp.Evaluate(`setTimeout(() => window.go?.(), 0) || true`, nil))
	b.holds(`window.go?.() ?? document.querySelectorAll(".conflict").length === 1`)
}

func TestBrowserGoesOnAfterARestart(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "One.\n\nTwo.")
	b := p.browser()
	b.opens(id)
	b.mu.Lock()
	b.offline = true
	b.mu.Unlock()
	p.stop()
	b.puts("One.")
	b.types(" More of one.")
	b.holds(`document.getElementById("saved").textContent.startsWith("Cairn can’t be reached")`)
	b.shoot("offline")
	p.change(id, replace("Two", "Two and three"))
	p.serve(strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/"), mayWrite)
	b.saves()
	b.shows("Two and three.")
	p.expects(id, "One. More of one.\n\nTwo and three.")
}

func TestBrowserMayOnlyRead(t *testing.T) {
	p := open(t, mayRead)
	id := p.write("Leave", "It is 27 days.")
	b := p.browser()
	b.opens(id)
	b.puts("27")
	b.types("000")
	b.shows("It is 27 days.")
	p.change(id, replace("27", "28"))
	b.shows("It is 28 days.")
	b.shoot("reading")
	status := evaluateAwaited[int](b, `fetch("/page/`+string(id)+`/blocks", {method: "POST", body: JSON.stringify({key: "k1", base: 1, title: {base: "Leave", text: "x"}, blocks: []}), headers: {"Content-Type": "application/json", Accept: "application/json"}}).then((r) => r.status)`)
	if status != 403 {
		t.Errorf("a change by one who may only read is answered with %d", status)
	}
	b.mu.Lock()
	b.problems = nil // the refusal
	b.mu.Unlock()
	if got := p.load(id).Title; got != "Leave" {
		t.Errorf("the title is %q", got)
	}
}

func evaluateAwaited[T any](b *browser, expression string) (value T) {
	b.Helper()
	b.do(chromedp.Evaluate(expression, &value, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return value
}

// TestBrowserShowsHostilePages opens a page whose blocks try to run scripts, to ask other sites and to
// cover the window. The browser of every test complains of scripts and of foreign requests.
func TestBrowserShowsHostilePages(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("<script>alert(1)</script>", "<img src=x onerror=alert(1)>\n\n![x](https://evil.example/x.png)\n\nA link here.")
	p.change(id, func(root *tree.Node) *tree.Node {
		text := tree.NewText("cover", 0)
		text.Style = "position:fixed;inset:0;background:url(https://evil.example/y.png);font-size:400px"
		link := tree.NewBlock(tree.Link, tree.NewText("run", 0))
		link.URL = "javascript:alert(1)"
		unknown := &tree.Node{Kind: "evil", Raw: []byte(`{"type":"evil","html":"<script>alert(1)</script>","version":1}`)}
		root.Children = append(root.Children, tree.NewBlock(tree.Paragraph, text, link), unknown)
		return root
	})
	b := p.browser()
	b.opens(id)
	b.shows("cover")
	b.shows("A block of a kind that this editor does not show")
	if found := evaluate[[]string](b, `[
		...[...document.querySelectorAll("#text script, #text img:not([data-lexical-decorator-boundary]), #text [onerror]")].map((e) => e.outerHTML),
		...[...document.querySelectorAll("#text a")].map((a) => a.href).filter((address) => address.startsWith("javascript:")),
		...[...document.querySelectorAll("#text span[style]")].filter((e) => getComputedStyle(e).position !== "static" || parseFloat(getComputedStyle(e).fontSize) > 20).map((e) => e.outerHTML),
	]`); len(found) > 0 {
		t.Errorf("the page has %q", found)
	}
	b.puts("A link here.")
	b.types(" And more.")
	b.saves()
	if raw := p.load(id).Root.Children[4].Raw; !strings.Contains(string(raw), "<script>") {
		t.Errorf("the block of an unknown kind is now %s", raw)
	}
}

func TestBrowserByKeyboard(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "One two.")
	b := p.browser()
	b.opens(id)
	focused := func() string {
		return evaluate[string](b, `document.activeElement.dataset.do ?? document.activeElement.id`)
	}
	b.puts("One two.")
	b.presses("F10", "F10", input.ModifierAlt)
	if got := focused(); got != "undo" {
		t.Errorf("Alt+F10 leads to %q", got)
	}
	for range 3 {
		b.presses("ArrowRight", "ArrowRight", 0)
	}
	if got := focused(); got != "bold" {
		t.Errorf("arrows lead to %q", got)
	}
	b.presses("Escape", "Escape", 0)
	if got := focused(); got != "text" {
		t.Errorf("Escape leads to %q", got)
	}
	b.presses("b", "KeyB", input.ModifierCtrl)
	b.types(" bold")
	b.presses("2", "Digit2", input.ModifierCtrl|input.ModifierAlt)
	b.saves()
	p.expects(id, "## One two. **bold**")
	b.presses("Tab", "Tab", 0)
	if got := focused(); got == "text" {
		t.Error("Tab does not leave the text")
	}
}

func TestBrowserAsksWhichTitleHolds(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "One.")
	b := p.browser()
	b.opens(id)
	b.holdsRequests()
	b.do(chromedp.Evaluate(`(() => { title.value = "Paid leave"; title.dispatchEvent(new Event("input")); })()`, nil))
	b.holds(`window.held !== undefined`)
	if _, err := p.library.Save(p.Context(), pages.Place{}, pages.Edit{Page: id, Base: 1, Title: "Sick leave", By: pages.Author{Name: "grace"}}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Evaluate(`window.go()`, nil))
	b.do(chromedp.Click(`//section[@id="conflicts"]//button[.="Use mine"]`))
	b.saves()
	if got := p.load(id).Title; got != "Paid leave" {
		t.Errorf("the title is %q", got)
	}
}
