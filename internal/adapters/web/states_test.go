package web

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// office is a bot that tells the flow of a run while it works, as the real one does.
type office struct{ *chattest.Bot }

func (o office) Explain(ctx context.Context, run chat.RunID) (chat.Trace, error) {
	trace, err := o.Bot.Explain(ctx, run)
	if errors.Is(err, chat.ErrUnknownRun) && strings.HasPrefix(string(run), "run-") {
		return chat.Trace{Flow: "answer"}, nil
	}
	return trace, err
}

//go:embed testdata/answer.svg
var answerGraph string

// Graph draws a real flow, larger than the sample's.
func (o office) Graph(flow string) (string, bool) {
	if flow != "answer" {
		return o.Bot.Graph(flow)
	}
	return answerGraph, true
}

// state is something that the page shows, and how a person comes to it on an empty
// page.
type screen struct {
	name  string
	reach func(b *browser, w *Web)
}

// longWords is text that has nowhere to be broken.
var longWords = strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", 4)

func stop(of chattest.Script) chattest.Script { return chattest.InTurn(of, chattest.Until(nil)) }

// screenBot can be brought to all that the page shows.
func screenBot() office {
	bot := sampleBot()
	steps := chattest.Steps()
	bot.On("search", stop(chattest.Reports(steps[:4]...)))
	bot.On("write", stop(chattest.InTurn(chattest.Reports(steps[:6]...), chattest.Streams(
		chat.Token{Run: "run-7f3a", Text: strings.Split(chattest.Answer().Text, "| Env")[0][:420]}))))
	long := chattest.Answer()
	long.Run = "run-long"
	long.Text = "# " + longWords + "\n\n" + longWords + " [1]\n\n```\n" + longWords + "\n```\n\n| " + longWords + " | b |\n|--|--|\n| c | " + longWords + " |\n"
	long.Sources[0].Sources[0].Title, long.Sources[0].Sources[0].Path = longWords, longWords
	gone := chat.Source{Numbers: []int{5}, Title: "Old deployment guide", Path: "docs/old/deploy.md", Modified: chattest.Now.AddDate(-2, 0, 0), State: "gone"}
	long.Sources[0].Sources = append(long.Sources[0].Sources, gone)
	bot.On("long", chattest.InTurn(chattest.Reports(steps...), chattest.Says(long)))
	pinnable := chattest.Answer()
	pinnable.Actions = []chat.Action{chat.PinAnswer}
	bot.On("pin me", chattest.Says(pinnable))
	return office{bot}
}

var screens = []screen{
	{"empty", func(*browser, *Web) {}},
	{"answer", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.clicks(`[aria-label="Helpful"]`)
		b.sees(`[aria-pressed="true"]`)
	}},
	{"disliked", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.clicks(`[aria-label="Not helpful"]`)
		b.sees(".reason")
	}},
	{"managed", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.do(chromedp.Navigate(evaluate[string](b, `location.href`)))
		b.clicks(".manage > summary")
		b.clicks(".delete > summary")
		b.sees(".delete .bad")
	}},
	{"editing", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.clicks(".edit > summary")
		b.sees(".rewrite textarea")
	}},
	{"attaching", func(b *browser, _ *Web) {
		b.dropsFiles("bill.pdf", longWords+".txt", "notes.md")
		b.sees("#attached li:nth-child(3)")
	}},
	{"attached", func(b *browser, _ *Web) {
		b.dropsFiles("bill.pdf", longWords+".txt", "notes.md")
		b.sees("#attached li:nth-child(3)")
		b.says("What is in these files?")
	}},
	{"dropping", func(b *browser, _ *Web) {
		evaluate[bool](b, `(() => { const data = new DataTransfer(); data.items.add(new File(["x"], "x")); dispatchEvent(new DragEvent("dragenter", { dataTransfer: data })); return true })()`)
		b.sees("#drop")
	}},
	{"pinning", func(b *browser, _ *Web) {
		b.says("pin me")
		b.clicks(`//a[.="Pin this answer"]`)
		b.sees(".pin textarea")
	}},
	{"citation", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.hovers("a.cite")
		b.sees(".tip:not([hidden])")
	}},
	{"cited", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.clicks(`//a[@class="cite" and text()="2"]`)
		b.sees(".source.cited")
	}},
	{"sources", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.clicks(".sources summary")
		b.sees(".sources .source")
		b.do(chromedp.ScrollIntoView(".sources"))
	}},
	{"steps", func(b *browser, _ *Web) {
		b.asks("search")
		b.sees(`//details[@open]/summary[contains(., "Searching 3 collections")]`)
	}},
	{"streaming", func(b *browser, _ *Web) {
		b.asks("write")
		b.sees(".part-draft .block")
	}},
	{"question", func(b *browser, _ *Web) {
		b.says("Roll it back")
		b.sees(".choices")
	}},
	{"answered", func(b *browser, _ *Web) {
		b.says("Roll it back")
		b.clicks(`//button[contains(., "The mobile app")]`)
		b.sees(".taken")
		b.sees(`//div[@class="text" and contains(., "You chose app")]`)
	}},
	{"why", func(b *browser, _ *Web) {
		b.says(suggestions[0])
		b.clicks(".reply .why")
		b.sees("#why .picture")
	}},
	{"why-live", func(b *browser, _ *Web) {
		b.asks("search")
		b.clicks(".part-steps .why")
		b.sees("#why .running")
	}},
	{"failed", func(b *browser, _ *Web) { b.says("And the database?") }},
	{"stopped", func(b *browser, _ *Web) {
		b.asks("write")
		b.sees(".part-draft .block")
		b.clicks(".stop button")
		b.sees(".retry")
	}},
	{"abstained", func(b *browser, _ *Web) { b.says("Who owns the billing dashboard?") }},
	{"documents", func(b *browser, _ *Web) { b.says("Analyze the risks") }},
	{"worldly", func(b *browser, _ *Web) { b.says("worldly") }},
	{"hostile", func(b *browser, _ *Web) { b.says("hostile") }},
	{"long", func(b *browser, _ *Web) {
		b.says("long")
		b.writes(strings.Repeat("A long question that goes on and on. ", 30) + "How?")
		b.clicks(".send")
		b.holds(`document.querySelectorAll(".exchange:not([data-working]) .reply").length === 2`)
	}},
	{"list", func(b *browser, w *Web) {
		for i := range 24 {
			fill(b, fmt.Sprintf("Question %d about how the %s is deployed", i, strings.Repeat("very large ", i%5)))
		}
		fill(b, "Roll it back")
		b.do(chromedp.Navigate(w.URL()))
		b.sees("#empty")
	}},
	{"drawer", func(b *browser, w *Web) {
		for i := range 24 {
			fill(b, fmt.Sprintf("Question %d", i))
		}
		fill(b, "Roll it back")
		b.do(chromedp.Navigate(w.URL()))
		b.sees("#empty")
		if evaluate[bool](b, `matchMedia("(max-width: 60rem)").matches`) {
			b.clicks("[data-drawer=open]")
			b.sees("#threads .close")
			b.holds(`document.getElementById("threads").getAnimations().length === 0`)
		}
	}},
	{"keys", func(b *browser, _ *Web) {
		evaluate[bool](b, `document.querySelector("[data-keys]").click() === undefined`)
		b.sees("#keys[open]")
	}},
	{"reading", func(b *browser, w *Web) {
		v := newVisitor(b.T, w)
		v.Say(b.T, suggestions[0])
		v.Say(b.T, "Roll it back")
		b.do(chromedp.Navigate(v.page))
		b.sees(".reading")
	}},
	{"explained", func(b *browser, w *Web) {
		b.says(suggestions[0])
		b.do(chromedp.Navigate(strings.TrimSuffix(w.URL(), "/") + evaluate[string](b, `document.querySelector(".reply .why").getAttribute("href")`)))
		b.sees(".standing .picture")
	}},
	{"source", func(b *browser, w *Web) {
		b.do(chromedp.Navigate(strings.TrimSuffix(w.URL(), "/") + chat.SourceRef{Document: shownDocument, Passage: "3-old"}.Path()))
		b.sees(".passage.marked")
	}},
	{"opened", func(b *browser, _ *Web) {
		b.says("cited")
		b.hovers("a.cite[data-row]")
		b.sees(".tip:not([hidden])")
	}},
	{"problem", func(b *browser, w *Web) {
		b.do(chromedp.Navigate(w.URL() + "nowhere"))
		b.sees(".empty")
	}},
}

// fill begins a conversation in the person's name, as fast as the server takes it.
func fill(b *browser, text string) {
	b.Helper()
	const post = `(async () => {
		const page = await fetch("/", {method: "GET"});
		await fetch(page.url + "/messages", {method: "POST", body: new URLSearchParams({text: %q}), headers: {Accept: "application/json"}});
		return true;
	})()`
	b.do(chromedp.Evaluate(fmt.Sprintf(post, text), nil, awaited))
}
