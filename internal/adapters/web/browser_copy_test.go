package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// TestBrowserCopies presses what copies code and an answer.
func TestBrowserCopies(t *testing.T) {
	bot := sampleBot()
	bot.On("how?", chattest.Says(chattest.Answer()))
	w := serve(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.says("how?")
	b.do(chromedp.Evaluate(`window.copied = ""; navigator.clipboard.writeText = async (text) => { window.copied = text }`, nil))
	b.clicks(`pre .copy`)
	b.holds(`document.querySelector("pre .copy").textContent === "Copied"`)
	if got := evaluate[string](b, `window.copied`); got != "cairnctl rollback api --to previous --wait\ncairnctl status api\n" {
		t.Errorf("the code is copied as %q", got)
	}
	b.clicks(`.acts.under .copy`)
	b.holds(`window.copied.startsWith("A release")`)
	got := evaluate[string](b, `window.copied`)
	for _, want := range []string{"one command", "ready [1].", "cairnctl status api", "[2]"} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer is copied without %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Cop") {
		t.Errorf("what copies is copied as well:\n%s", got)
	}
	if buttons := evaluate[int](b, `document.querySelectorAll("#conversation .copy").length`); buttons != 2 {
		t.Errorf("there are %d buttons", buttons)
	}
	b.clean(w)
}

// TestBrowserFindsThreads has as many conversations that a field finds them.
func TestBrowserFindsThreads(t *testing.T) {
	bot := sampleBot()
	w := serve(t, bot)
	b := openBrowser(t)
	for i := range 9 {
		b.do(chromedp.Navigate(w.URL()))
		question := fmt.Sprintf("question number %d?", i)
		bot.On(question, chattest.Says(chat.Reply{Run: chat.RunID(fmt.Sprint("run-", i)), Outcome: chat.Answered, Text: "Yes."}))
		b.says(question)
	}
	b.do(chromedp.Reload())
	b.sees(".find")
	b.do(chromedp.SendKeys(".find", "NUMBER 7"))
	b.holds(`[...document.querySelectorAll("#list li")].filter((row) => !row.hidden).length === 1`)
	b.clicks(`//nav[@id="list"]//a[contains(., "number 7")]`)
	b.sees(answerTo("question number 7?"))
	b.clean(w)
}
