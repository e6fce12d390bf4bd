package operations_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/runs"
)

var shots = flag.String("shots", "", "folder to keep pictures of all that the page shows in")

func TestMain(m *testing.M) { webtest.Main(m) }

// browser is a window that notes what a page must not do.
type browser struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // of the console, and requests to others than the page's server
	server   string
}

func openBrowser(p *place) *browser {
	p.t.Helper()
	b := &browser{T: p.t, ctx: webtest.Window(p.t, profile(p.t)), server: p.server.URL}
	chromedp.ListenTarget(b.ctx, b.note)
	b.do(network.Enable(), log.Enable())
	p.t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, problem := range b.problems {
			b.Errorf("the browser complains: %s", problem)
		}
	})
	return b
}

func profile(t *testing.T) cdp.BrowserContextID {
	t.Helper()
	return webtest.Profile(t)
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *log.EventEntryAdded:
		b.problems = append(b.problems, event.Entry.Text+" "+event.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, "console."+string(event.Type))
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, event.ExceptionDetails.Error())
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(event.Request.URL, b.server) {
			b.problems = append(b.problems, "it asked "+event.Request.URL)
		}
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

// click waits for an element that an XPath finds, and clicks it in the same moment: a page
// that shows what changes may put another in its place between the two.
func (b *browser) click(xpath string) {
	b.Helper()
	script := fmt.Sprintf(`(found => { if (found) found.click(); return found !== null })
		(document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue)`, xpath)
	for clicked := false; !clicked; {
		err := chromedp.Run(b.ctx, chromedp.Evaluate(script, &clicked))
		if b.ctx.Err() != nil {
			b.Fatalf("nothing to click at %s: %v", xpath, err)
		}
		b.do(chromedp.Sleep(10 * time.Millisecond))
	}
}

func (b *browser) prefers(scheme string) {
	b.Helper()
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}))
}

func (b *browser) shoot(name string) {
	b.Helper()
	if *shots == "" {
		return
	}
	var png []byte
	b.do(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600); err != nil {
		b.Fatal(err)
	}
}

// busy is a page with something of everything.
func busy(t *testing.T, change func(*operations.Options)) *place {
	t.Helper()
	p := open(t, embeddedStores(t), func(o *operations.Options) {
		o.Refresh = 200 * time.Millisecond
		o.Sources = configured("handbook", "wiki", "archive")
		o.Ingests = ingests{
			{Source: "handbook", Began: day, Ended: day.Add(8 * time.Second), Complete: day.Add(8 * time.Second), Seen: 412, Changed: 12, Deleted: 1, Passages: 96},
			{Source: "wiki", Began: day, Ended: day.Add(80 * time.Second), Complete: day.Add(80 * time.Second), Seen: 96, Changed: 4, Passages: 31, Failed: 2,
				Failures: []index.IngestFailure{
					{Document: "finance/2026/Budget (final) v7.xlsx.pdf", Reason: "it is encrypted: save it without a password"},
					{Document: "plans/plan.pdf", Reason: "plan.pdf is a broken PDF file (no pages found)"},
				}},
		}
		o.Settings = []operations.Setting{
			{Key: "data_dir", Value: "/data", Variable: "CAIRN_DATA_DIR"}, {Key: "web.listen", Value: "0.0.0.0:8080", Variable: "CAIRN_WEB_LISTEN"},
			{Key: "slack.bot_token", Variable: "CAIRN_SLACK_BOT_TOKEN", Secret: true, Set: true},
			{Key: "slack.humans", Value: "U0123ABCD, C0123ABCD=S0123ABCD", Variable: "CAIRN_SLACK_HUMANS"},
			{Key: "operations.token", Variable: "CAIRN_OPERATIONS_TOKEN", Secret: true},
		}
		if change != nil {
			change(o)
		}
	})
	for _, question := range []string{"How do I reset my VPN password?", "Who approves purchases above 5000 euros, and by which form, when the head of the department is away?"} {
		if err := p.options.Pins.Pin(t.Context(), question, "Ask Ada.", "ada@example.com"); err != nil {
			t.Fatal(err)
		}
	}
	p.save(abstained("run-OLD1", "What is the wifi password of the office in Lisbon?"))
	p.save(abstained("run-OLD2", "wifi password office Lisbon"))
	p.save(record("run-CANCELLED", runs.Cancelled, "never mind"))
	failed := record("run-FAILED", runs.Failed, "Compare the travel policies of the last three years, and tell me which rules for rental cars changed and who approved that.")
	failed.Transitions[2].Reason = `node "response_generation" failed`
	failed.Move(runs.Running, day.Add(time.Minute), "a retry")
	failed.Move(runs.Failed, day.Add(2*time.Minute), "it was put aside: it was taken up 5 times and never came to an end")
	p.save(failed)
	p.save(record("run-WAITING", runs.Waiting, "What is the deadline for BRD?"))
	p.save(explained(record("run-7JSB2K4MPQ9XWT3A", runs.Done, "How many days of leave do I have, and who approves them?")))
	p.save(record("run-RUNNING", runs.Running, "كم عدد أيام الإجازة؟"))
	p.putAside("run-FAILED", "it was taken up 5 times and never came to an end")
	job := runs.Job{Event: "e1", Run: "run-QUEUED", Message: chat.Message{ID: "m9", Thread: "discord:G1:C7:T9", Author: "U9", Text: "?"}}
	if _, err := p.stores.queue.Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := p.stores.records.Rate(t.Context(), "run-7JSB2K4MPQ9XWT3A", chat.Rating{By: "U1", Verdict: chat.Down, Reason: "It is 30 days since May.", At: day.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	return p
}

var screens = []struct{ name, path string }{
	{"runs", ""}, {"none", "?text=nothing"}, {"run", "/run?id=run-7JSB2K4MPQ9XWT3A"}, {"failed", "/run?id=run-FAILED"}, {"waiting", "/run?id=run-WAITING&did=cancelled"},
	{"questions", "/questions"}, {"queue", "/queue"}, {"agents", "/agents"}, {"sources", "/sources"}, {"gaps", "/gaps"}, {"answers", "/answers"}, {"pins", "/pins"}, {"threads", "/threads"},
	{"thread", "/thread?id=discord:G1:C7:T9"}, {"configuration", "/configuration"}, {"missing", "/run?id=nothing"},
}

// eachScreen shows all that the page shows, on a laptop and a phone, in both schemes.
func eachScreen(t *testing.T, look func(b *browser, name string)) {
	p := busy(t, nil)
	closed := busy(t, withToken)
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"wide", 1280, 900}, {"phone", 360, 740}} {
		t.Run(size.name, func(t *testing.T) {
			b := &browser{T: t, ctx: webtest.Window(t, profile(t))}
			b.do(chromedp.EmulateViewport(size.width, size.height))
			visit := func(name, address string) {
				b.do(chromedp.Navigate(address), chromedp.WaitReady("main"))
				for _, scheme := range []string{"light", "dark"} {
					b.prefers(scheme)
					look(b, fmt.Sprintf("%s-%s-%s", name, size.name, scheme))
				}
			}
			for _, s := range screens {
				visit(s.name, p.server.URL+operations.Root+s.path)
			}
			visit("sign-in", closed.server.URL+operations.Root)
		})
	}
}

func TestBrowserScreens(t *testing.T) {
	eachScreen(t, func(b *browser, name string) {
		b.shoot(name)
		for _, problem := range webtest.Problems(b.ctx, b.T) {
			b.Errorf("%s: %s", name, problem)
		}
	})
}

func TestBrowserFollowsTheRuns(t *testing.T) {
	p := busy(t, nil)
	b := openBrowser(p)
	b.do(chromedp.Navigate(p.server.URL + operations.Root))
	b.sees(`//tr[contains(., "run-RUNNING")]//span[text()="running"]`)
	p.save(record("run-NEW", runs.Running, "a question that came just now"))
	b.sees(`//tr[contains(., "a question that came just now")]`)
	p.save(record("run-RUNNING", runs.Done, "كم عدد أيام الإجازة؟"))
	b.sees(`//tr[contains(., "run-RUNNING")]//span[text()="done"]`)

	b.do(chromedp.SetValue(`[name="status"]`, "waiting"), chromedp.Click(".filter button"))
	b.sees(`//tbody[count(tr)=1]//code[text()="run-WAITING"]`)
	b.click(`//tr[contains(., "run-WAITING")]/td[1]/a`)
	b.sees(`//h1[text()="Run"]`)
	b.click(`//button[text()="Cancel this run"]`)
	b.sees(`//p[text()="The run is being cancelled."]`)
	b.sees(`//button[text()="Go on with it"]`)
}

func TestBrowserSignsInAndOut(t *testing.T) {
	p := busy(t, withToken)
	b := openBrowser(p)
	b.do(chromedp.Navigate(p.server.URL+operations.Root+"/queue"), chromedp.WaitVisible("#token"), chromedp.SendKeys("#token", token), chromedp.Click(`button[type="submit"]`))
	b.sees(`//h1[text()="Runs"]`)
	b.click(`//nav//a[text()="Queue"]`)
	b.click(`//button[text()="Put back"]`)
	b.sees(`//p[text()="Nothing was put aside."]`)
	b.click(`//button[text()="Sign out"]`)
	b.sees("#token")
}
