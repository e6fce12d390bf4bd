package web

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

func TestBrowserSwitchesConversations(t *testing.T) {
	gate := make(chan struct{})
	bot := sampleBot()
	bot.On("slow", chattest.InTurn(chattest.Until(gate), chattest.Asks(chattest.Question())))
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.says(suggestions[0])
	b.clicks(".threads .new")
	b.sees("#empty")
	b.asks("slow")
	b.sees(`//nav[@id="list"]//a[@aria-current="page"][.//span[contains(@class, "working")]]`)
	b.writes("not sent yet")
	b.clicks(`//nav[@id="list"]//a[contains(., "roll back a release")]`)
	b.sees(answerTo(suggestions[0]))
	if kept := evaluate[string](b, `text.value`); kept != "" {
		t.Errorf("the other conversation's draft %q came along", kept)
	}
	close(gate)
	b.sees(`//nav[@id="list"]//a[contains(., "slow")]//span[@class="waiting"]`)
	b.clicks(`//nav[@id="list"]//a[contains(., "slow")]`)
	b.sees(".choices")
	if kept := evaluate[string](b, `text.value`); kept != "not sent yet" {
		t.Errorf("the draft is %q", kept)
	}
	b.clicks(".choices button")
	b.do(chromedp.WaitNotPresent("#list .waiting"))
	b.clean(w)
}

func TestBrowserWindowsShowTheSame(t *testing.T) {
	gates := []chan struct{}{make(chan struct{}), make(chan struct{})}
	bot := sampleBot()
	bot.On("write", chattest.InTurn(token("First."), chattest.Until(gates[0]), token("\n\nSecond."), chattest.Until(gates[1]),
		chattest.Says(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "In the end."})))
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	other := b.another()
	other.do(chromedp.Navigate(evaluate[string](b, `location.href`)))
	b.asks("write")
	b.sees(`//div[@class="block"]/p[.="First."]`)
	other.sees(`//div[@class="block"]/p[.="First."]`)
	b.do(chromedp.Reload())
	b.sees(`//div[@class="block"]/p[.="First."]`)
	close(gates[0])
	b.sees(`//div[@class="block"]/p[.="Second."]`)
	other.sees(`//div[@class="block"]/p[.="Second."]`)
	if got := evaluate[string](b, `document.querySelector(".part-draft").innerText.replace(/\s+/g, " ").trim()`); got != "First. Second." {
		t.Errorf("after a reload the draft is %q", got)
	}
	close(gates[1])
	for _, window := range []*browser{b, other} {
		window.sees(`//p[.="In the end."]`)
		if got := evaluate[int](window, `document.querySelectorAll(".exchange, .reply").length`); got != 2 {
			t.Errorf("the page shows %d exchanges and replies, want 2", got)
		}
		window.clean(w)
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
	options := over(bot)
	options.Addr = first.listener.Addr().String()
	second, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	run(t, second, bot)
	b.says("Who owns the billing dashboard?")
	if count := evaluate[int](b, `document.querySelectorAll(".exchange").length`); count != 2 {
		t.Errorf("the page shows %d exchanges, want 2", count)
	}
}

// TestBrowserComesFromElsewhere follows another site's link: the person is the same
// that was there before.
func TestBrowserComesFromElsewhere(t *testing.T) {
	bot := sampleBot()
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.says("Roll it back")
	before := evaluate[string](b, `location.href`)
	elsewhere := strings.Replace(w.URL(), "127.0.0.1", "localhost", 1) // another site to a browser
	b.do(chromedp.Navigate(elsewhere + "nowhere"))
	evaluate[bool](b, `(location.href = "`+before+`") !== ""`)
	b.sees(answerTo("Roll it back"))
	b.sees(".choices")
	b.holds(`location.href === "` + before + `"`)
	var cookies []*network.Cookie
	b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().WithURLs([]string{w.URL()}).Do(ctx)
		return err
	}))
	if len(cookies) != 1 || !cookies[0].HTTPOnly || cookies[0].SameSite != network.CookieSameSiteStrict {
		t.Errorf("the browser holds %+v", cookies)
	}
	if seen := evaluate[string](b, `document.cookie`); seen != "" {
		t.Errorf("scripts see the cookie: %q", seen)
	}
}

// TestBrowserShowsHostileTextAsText streams, says and asks what documents may try.
func TestBrowserShowsHostileTextAsText(t *testing.T) {
	gate := make(chan struct{})
	bot := screenBot()
	var pieces []chat.Token
	for _, text := range []string{chattest.Evil, "\n\n" + chattest.Long(200_000), "\n\n<script>alert(2)</script>\n\n[x](javascript:alert(3))\xff\u202e"} {
		pieces = append(pieces, chat.Token{Run: chattest.Evil, Text: text})
	}
	hostile := chattest.Hostile()
	hostile.Trace.Flow = "answer"
	bot.On("evil", chattest.InTurn(
		chattest.Reports(chat.Progress{Run: chattest.Evil, Step: chattest.Evil, Description: chattest.Evil, Status: chat.Running}),
		chattest.Streams(pieces...), chattest.Until(gate), chattest.Says(hostile), chattest.Asks(chattest.HostileQuestion())))
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	evaluate[bool](b, `(window.alert = () => { throw new Error("alert") }, true)`)
	b.asks("evil")
	b.sees(".part-draft .block")
	if text := evaluate[string](b, `document.querySelector(".part-draft").textContent`); !strings.Contains(text, "<script>alert(1)</script>") {
		t.Errorf("the draft shows %.200q", text)
	}
	close(gate)
	b.sees(".choices")
	b.clicks(".reply .why")
	b.sees("#why table")
	b.types("Escape", "Escape")
	b.clicks(".choices button")
	b.sees(".taken")
	b.writes(strings.ToValidUTF8(chattest.Evil, "\uFFFD"))
	b.clicks(".send")
	b.holds(`document.querySelectorAll(".exchange:not([data-working])").length === 3`)
	const found = `[...document.querySelectorAll("main script, main img, main iframe, [onclick], [onerror], [style]:not(.tip), a[href^='javascript'], a[href^='data'], main b, #why script")].map((e) => e.outerHTML)`
	if bad := evaluate[[]string](b, found); len(bad) > 0 {
		t.Errorf("the page holds %q", bad)
	}
	if shown := evaluate[string](b, `document.querySelector(".reply .text").textContent`); !strings.Contains(shown, "<script>alert(1)</script>") || strings.ContainsAny(shown, "\u202e\x1b") {
		t.Errorf("the reply shows %q", shown)
	}
	b.clean(w)
}

func TestBrowserOnAPhone(t *testing.T) {
	w := serve(t, sampleBot())
	b := openBrowser(t)
	b.do(chromedp.EmulateViewport(360, 740), chromedp.Navigate(w.URL()))
	b.says(suggestions[0])
	if evaluate[bool](b, `document.getElementById("threads").checkVisibility({ visibilityProperty: true })`) {
		t.Error("the list covers the conversation")
	}
	b.clicks("[data-drawer=open]")
	b.sees("#threads .close")
	if focus := evaluate[string](b, `document.activeElement.dataset.drawer`); focus != "close" {
		t.Errorf("the focus is on %q", focus)
	}
	if !evaluate[bool](b, `stage.inert`) {
		t.Error("what the drawer covers can be reached")
	}
	b.types("Escape", "Escape")
	b.holds(`!document.getElementById("threads").checkVisibility({ visibilityProperty: true })`)
	if focus := evaluate[string](b, `document.activeElement.dataset.drawer`); focus != "open" {
		t.Errorf("after the drawer the focus is on %q", focus)
	}
	b.clicks(".reply .why")
	b.sees("#why .picture")
	if !evaluate[bool](b, `stage.inert`) {
		t.Error("what the panel covers can be reached")
	}
	b.clicks("[data-why-close]")
	b.do(chromedp.WaitNotVisible("#why"))
	b.clean(w)
}

func TestBrowserShortcuts(t *testing.T) {
	w := serve(t, sampleBot())
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.sees("#empty")
	b.do(chromedp.Focus(".send"))
	b.types("?", "Slash")
	b.sees("#keys[open]")
	b.clicks("#single-keys")
	b.types("Escape", "Escape")
	b.do(chromedp.WaitNotVisible("#keys"))
	b.do(chromedp.Focus(".send"))
	b.types("/", "Slash")
	if focus := evaluate[string](b, `document.activeElement.id`); focus == "text" {
		t.Error("a shortcut that was turned off works")
	}
	b.clicks("[data-keys]")
	b.clicks("#single-keys")
	b.types("Escape", "Escape")
	b.do(chromedp.WaitNotVisible("#keys"), chromedp.Focus(".send"))
	b.types("/", "Slash")
	b.holds(`document.activeElement.id === "text" && text.value === ""`)
	evaluate[bool](b, `document.activeElement.blur() === undefined`)
	b.do(chromedp.Reload())
	b.sees("#empty")
	if outline := evaluate[string](b, `(document.querySelector(".send").focus({ focusVisible: true }), getComputedStyle(document.activeElement).outlineStyle)`); outline != "solid" {
		t.Errorf("what has the focus is outlined %q", outline)
	}
	b.clean(w)
}
