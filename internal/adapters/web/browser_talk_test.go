package web

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

func TestBrowserFollowsARun(t *testing.T) {
	searching, writing, ending := make(chan struct{}), make(chan struct{}), make(chan struct{})
	steps := chattest.Steps()
	bot := sampleBot()
	bot.On("How does it work?", chattest.InTurn(
		chattest.Reports(steps[:4]...), chattest.Until(searching), chattest.Reports(steps[4:6]...),
		chattest.Streams(chat.Token{Run: "run-7f3a", Text: "A **rel"}), chattest.Until(writing),
		chattest.Streams(chat.Token{Run: "run-7f3a", Text: "ease** is rolled back [1].\n\nThen"}), chattest.Until(ending),
		chattest.Reports(steps[6:]...), chattest.Says(chattest.Answer())))
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.sees("#empty .stats")
	b.writes("How does it work?")
	b.types("Enter", "Enter")
	b.sees(`//details[@open]/summary[contains(., "Searching 3 collections")]`)
	b.do(chromedp.WaitNotPresent("#empty"))
	b.holds(`document.getElementById("status").textContent === "Searching 3 collections"`)
	close(searching)
	b.sees(`//div[contains(@class, "part-draft")]//strong[.="rel"]`)
	b.sees(".stop button")
	close(writing)
	b.sees(`//div[contains(@class, "part-draft")]//strong[.="release"]`)
	b.holds(`document.querySelectorAll(".part-draft .block").length === 2`)
	if said := evaluate[string](b, `document.getElementById("spoken").textContent`); said != "A release is rolled back 1." {
		t.Errorf("%q was read out before the answer was complete", said)
	}
	if left := evaluate[int](b, `document.querySelectorAll(".part-said .reply").length`); left != 0 {
		t.Error("the reply was there before its time")
	}
	close(ending)
	b.do(chromedp.WaitNotPresent(".steps"))
	b.sees(answerTo("How does it work?"))
	b.do(chromedp.WaitNotPresent(".part-draft .block"))
	b.holds(`document.getElementById("spoken").textContent.endsWith("The answer is complete. 3 sources.")`)
	if left := evaluate[string](b, `text.value + document.activeElement.id`); left != "text" {
		t.Errorf("the message field and what has the focus: %q", left)
	}
	b.clean(w)
}

func TestBrowserShowsWhatACitationCites(t *testing.T) {
	w := serve(t, sampleBot())
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.says(suggestions[0])
	b.hovers("a.cite")
	b.sees(".tip:not([hidden])")
	if tip := evaluate[string](b, `document.querySelector(".tip:not([hidden])").innerText`); tip != "Deploying the API\nRolling back\ndocs/deploy.md#rolling-back\nchanged 3 weeks ago" {
		t.Errorf("hovering mark 1 shows %q", tip)
	}
	b.types("Escape", "Escape")
	b.do(chromedp.WaitNotPresent(".tip:not([hidden])"))
	b.clicks(`//a[@class="cite" and text()="4"]`)
	b.sees(".source.cited")
	if !evaluate[bool](b, `document.querySelector(".source.cited").checkVisibility()`) {
		t.Error("mark 4 leads to a row that is folded away")
	}
	if title := evaluate[string](b, `document.querySelector(".source.cited .title").textContent`); title != "#releases, 2 March" {
		t.Errorf("mark 4 leads to %q", title)
	}
	if focus := evaluate[bool](b, `document.activeElement.matches(".cited .mark")`); !focus {
		t.Error("the row of the source has not got the focus")
	}
	evaluate[bool](b, `document.querySelector(".asked").scrollIntoView() === undefined`)
	for range 20 { // a keyboard comes to the marks as well
		b.types("Tab", "Tab")
		if evaluate[bool](b, `document.activeElement.matches("a.cite") && document.querySelector(".tip:not([hidden])") !== null`) {
			b.clean(w)
			return
		}
		if evaluate[bool](b, `document.activeElement === document.body`) {
			b.do(chromedp.Focus(".edit > summary"))
		}
	}
	t.Error("no citation shows its source when it gets the focus")
}

func TestBrowserAnswersQuestions(t *testing.T) {
	bot := sampleBot()
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	answered := func(how, taken, shown string) {
		t.Helper()
		b.sees(`//p[@class="taken" and contains(., "` + taken + `")]`)
		b.do(chromedp.WaitNotPresent(".choices"))
		b.sees(`//div[@class="text" and contains(., "` + shown + `")]`)
		if got := evaluate[string](b, `document.activeElement.id`); got != "text" {
			t.Errorf("after an answer by %s the focus is on %q", how, got)
		}
	}
	ask := func() {
		t.Helper()
		b.says("Roll it back")
		b.sees(".choices")
		b.holds(`document.activeElement.matches(".question:has(.choices)")`)
	}
	ask()
	b.clicks(`//button[contains(., "The mobile app")]`)
	answered("click", "The mobile app", "You chose app")
	ask()
	b.types("Tab", "Tab")
	b.types("Tab", "Tab")
	b.types("Enter", "Enter")
	answered("keyboard", "A database migration", "You chose database")
	ask()
	b.types("1", "Digit1")
	answered("shortcut", "The API", "You chose api")
	ask()
	b.types("/", "Slash")
	b.do(input.InsertText("all of it"))
	b.types("Enter", "Enter")
	answered("text", "all of it", "You said: all of it")
	ask()
	b.clicks(`//button[.="Never mind"]`)
	b.sees(`//p[@class="taken" and contains(., "cancelled")]`)
	b.clean(w)
}

func TestBrowserStopsAndRetries(t *testing.T) {
	bot := sampleBot()
	begin := func() chattest.Script {
		return chattest.InTurn(chattest.Reports(chat.Progress{Run: "run-7", Step: "search", Description: "Searching", Status: chat.Running}),
			chattest.Streams(chat.Token{Run: "run-7", Text: "It is"}), chattest.Until(nil))
	}
	bot.On("slow", begin())
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.asks("slow")
	b.sees(".part-draft .block")
	b.clicks(".stop button")
	b.sees(`//div[contains(@class, "stopped")]//p[.="Stopped."]`)
	b.do(chromedp.WaitNotPresent(".part-draft .block"), chromedp.WaitNotPresent(".stop"))
	bot.On("slow", chattest.Says(chat.Reply{Run: "run-7", Outcome: chat.Failure, Text: "The index is gone."}))
	b.clicks(".retry button")
	b.sees(`//div[contains(@class, "failed")]//p[.="The index is gone."]`)
	bot.On("slow", chattest.InTurn(chattest.Reports(chattest.Steps()...), chattest.Says(chat.Reply{Run: "run-7", Outcome: chat.Answered, Text: "Now it is."})))
	b.clicks(".retry button")
	b.sees(`//p[.="Now it is."]`)
	if got := evaluate[string](b, `document.querySelectorAll(".exchange").length + " " + document.querySelectorAll(".failed").length + " " + document.activeElement.id`); got != "1 0 text" {
		t.Errorf("exchanges, failures and focus are %q", got)
	}
	bot.On("slow again", begin())
	b.asks("slow again")
	b.sees(".part-draft .block")
	b.types("Escape", "Escape")
	b.sees(`//p[.="Stopped."]`)
	bot.On("break", chattest.Fails(context.DeadlineExceeded))
	b.says("break")
	b.sees(`//button[.="Ask again"]`)
	b.clean(w)
}

func TestBrowserKeepsARating(t *testing.T) {
	bot := sampleBot()
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.says(suggestions[0])
	pressed := func(label string) {
		t.Helper()
		b.sees(`[aria-label="` + label + `"][aria-pressed="true"]`)
		if count := evaluate[int](b, `document.querySelectorAll("[aria-pressed=true]").length`); count != 1 {
			t.Errorf("%d thumbs are pressed", count)
		}
	}
	b.clicks(`[aria-label="Helpful"]`)
	pressed("Helpful")
	b.holds(`document.activeElement.getAttribute("aria-label") === "Helpful"`)
	b.clicks(`[aria-label="Not helpful"]`)
	pressed("Not helpful")
	b.do(chromedp.Reload())
	pressed("Not helpful")
	if kept := bot.Ratings(chattest.Answer().Run); len(kept) != 1 || kept[0].Verdict != chat.Down {
		t.Errorf("kept are %+v", kept)
	}
	b.clicks(`[aria-label="Not helpful"]`)
	b.do(chromedp.WaitNotPresent(`[aria-pressed="true"]`))
	b.clean(w)
}

func TestBrowserExplains(t *testing.T) {
	searching, ending := make(chan struct{}), make(chan struct{})
	steps := chattest.Steps()
	bot := screenBot()
	bot.On("How?", chattest.InTurn(chattest.Reports(steps[:4]...), chattest.Until(searching),
		chattest.Reports(steps[4:6]...), chattest.Until(ending), chattest.Says(chattest.Answer())))
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.asks("How?")
	b.sees(`//summary[contains(., "Searching")]`)
	b.clicks(".part-steps .why")
	node := func(name, class string) { b.sees(`#why [data-node="` + name + `"].` + class) }
	node("query_understanding", "completed")
	node("parallel_processing", "running")
	close(searching)
	node("parallel_processing", "completed")
	node("response_generation", "running")
	b.sees(`//tr[@class="running"]/td[.="response_generation"]`)
	close(ending)
	b.sees(`//h2[@id="why-title" and .="Why this answer"]`)
	node("response_generation", "completed")
	b.sees(`#why [data-from="parallel_processing"][data-to="response_generation"].taken`)
	shown := evaluate[string](b, `document.getElementById("why").innerText`)
	for _, part := range []string{"how do I roll back a release", "48 by words, 40 by meaning", "0.93", "Can I roll forward?", "HybridSearch", "large-2", "1830", "0.0041", "240 ms", "no answer within 5s", "coverage", "0.82", "one question, no comparison", "31 ms"} {
		if !strings.Contains(shown, part) {
			t.Errorf("the panel lacks %q", part)
		}
	}
	b.types("Escape", "Escape")
	b.do(chromedp.WaitNotVisible("#why"))
	b.holds(`document.activeElement.matches(".reply .why")`)
	b.types("w", "KeyW")
	b.sees("#why")
	b.clean(w)
}
