package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/inspect"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	shown "github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/repository"
)

// webShop is a project of a web page with its server.
var webShop = map[string]string{
	"src/checkout.js": `import { send } from './send.js';

async function saveOrder() {
  const answer = await send('/api/orders', { id: 7 });
  if (!answer.ok) console.error('not saved: ' + answer.status);
}

document.getElementById('save').addEventListener('click', saveOrder);
document.getElementById('cancel').addEventListener('click', () => {
  document.title = 'Cancelled';
});
fetch('/api/missing');
fetch('http://169.254.169.254/latest/meta-data').catch(() => {});
`,
	"src/send.js": "export function send(path, body) {\n  return fetch(path, { method: 'POST', body: JSON.stringify(body) });\n}\n",
	"server/main.go": `package main

func routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/orders", createOrder)
}
`,
	"CODEOWNERS": "/src/ @web-team\n/server/ @backend\n",
}

const webShopPage = `<!doctype html><title>Checkout</title>
<style>.btn { color: #223344; background-color: #4263eb; } .btn:disabled { background-color: #888888; }</style>
<button id=save class=btn>Save order</button>
<button id=cancel class=btn>Cancel</button>
<button class=btn disabled>Pay now</button>
<a href="/help">Help &lt;!channel&gt; [x](https://evil.example)</a>
<script src=/out.js></script>`

// webSite is a page that runs, with the project that it is of.
type webSite struct {
	flow    *inspect.Flow
	page    string // its address
	ordered *atomic.Int64
	logins  *atomic.Int64
}

const testPassword = "s3cret-of-the-test-login"

// startWebSite serves the page, which shows itself only to who is signed in where login says so.
func startWebSite(t *testing.T, login bool) webSite {
	t.Helper()
	root := t.TempDir()
	for name, content := range webShop {
		file := filepath.Join(root, "web", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(root, "web", "src", "checkout.js")}, Bundle: true, Sourcemap: api.SourceMapInline, Outfile: "out.js",
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, AbsWorkingDir: filepath.Join(root, "web"),
	})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors[0].Text)
	}
	site := webSite{ordered: &atomic.Int64{}, logins: &atomic.Int64{}}
	server := httptest.NewServer(site.serve(string(built.OutputFiles[0].Contents), login))
	t.Cleanup(server.Close)
	options := browser.Options{Program: os.Getenv("CAIRN_TEST_CHROMIUM"), Pages: []string{server.URL + "/app/"}, NoSandbox: true}
	if login {
		options.Login = browser.Login{Page: server.URL + "/app/login", User: "tester", Password: testPassword}
	}
	looker, err := browser.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := looker.Close(); err != nil {
			t.Error(err)
		}
	})
	site.page = server.URL + "/app/checkout"
	if site.flow, err = inspect.New(inspect.Options{Open: repository.NewOpener(repository.Options{Roots: []string{root}}).Open, Web: looker}); err != nil {
		t.Fatal(err)
	}
	return site
}

// serve serves the page and its script, and counts orders and logins.
func (site webSite) serve(script string, login bool) http.Handler {
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, kind, text string) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, text)
	}
	mux.HandleFunc("GET /app/checkout", func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie("session"); login && (err != nil || cookie.Value != "ok") {
			write(w, "text/html", "<title>Closed</title>Sign in first")
			return
		}
		write(w, "text/html", webShopPage)
	})
	mux.HandleFunc("GET /app/login", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/html", "<title>Sign in</title><form method=post><input name=user><input type=password name=password><button>Sign in</button></form>")
	})
	mux.HandleFunc("POST /app/login", func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("user") == "tester" && r.PostFormValue("password") == testPassword {
			site.logins.Add(1)
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "ok", Path: "/"})
		}
		http.Redirect(w, r, "/app/", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /app/{$}", func(w http.ResponseWriter, _ *http.Request) { write(w, "text/html", "<p>"+testPassword) })
	mux.HandleFunc("GET /out.js", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/javascript", script)
	})
	mux.HandleFunc("POST /api/orders", func(w http.ResponseWriter, _ *http.Request) {
		site.ordered.Add(1)
		w.WriteHeader(http.StatusConflict)
	})
	mux.HandleFunc("GET /", http.NotFound)
	return mux
}

func checkContains(t *testing.T, what string, outcome flows.Outcome, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if outcome.Kind != flows.Answered || !strings.Contains(outcome.Text, want) {
			t.Errorf("%s: %q is not in %s\n%s\n%q", what, want, outcome.Kind, outcome.Text, outcome.Trace.Notes)
		}
	}
}

func TestQuestionsAboutAWebPage(t *testing.T) {
	site := startWebSite(t, false)
	asked := func(text string, replies ...string) flows.Outcome {
		return ask(t, site.flow, flows.Request{Text: strings.ReplaceAll(text, "PAGE", site.page)}, replies...)
	}
	outcome := asked("./web what happens when I press Save order on PAGE?")
	want := "`Save order` on page `" + site.page + "` of `web`:\n" + `
**Where it is**

- It is a ` + "`button` on the page titled `Checkout`." + `

**What happens**

- On ` + "`click` it calls a function: `async function saveOrder() {`. (`src/checkout.js:3`)" + `
  - It calls the function ` + "`send`. (`src/send.js:1`)" + `
    - It sends the request ` + "`POST /api/orders`. (`src/send.js:2`)" + `
      - The server answers that here. (` + "`server/main.go:4`" + `)

**Who owns it**

- ` + "`src/checkout.js` is owned by `@web-team`. (`src/checkout.js:3`)\n"
	if outcome.Text != want || !strings.Contains(outcome.Note, "Nothing was pressed") {
		t.Errorf("got\n%s\nwant\n%s\n%s", outcome.Text, want, outcome.Note)
	}
	checkContains(t, "coordinates", asked("what is at 20,20 on PAGE?"), "`Save order` on page")
	checkContains(t, "style", asked("why is the Pay now button grey on <PAGE>?"),
		"`background-color` is `#888888`, by the rule `.btn:disabled`", "which wins over `#4263eb` of `.btn`", "It is disabled")
	checkContains(t, "requests", asked("which request fails on PAGE?"), "`GET /api/missing` to", "failed: `404`", "`169.254.169.254:80`, which is private and was refused")
	checkContains(t, "owner", asked("./web who owns PAGE?"), "`src/checkout.js` is owned by `@web-team`")
	checkContains(t, "slip", asked("what happens when I click Cancle on PAGE?"), "`Cancel` on page")
	link := asked("what does the Help link do on PAGE?")
	checkContains(t, "link", link, "It is a link to `/help`")
	for line := range strings.SplitSeq(link.Text, "\n") {
		if outside := outsideCode(line); strings.Contains(outside, "evil.example") || strings.Contains(outside, "<!") {
			t.Errorf("not as code: %s", line)
		}
	}
	question := asked("what happens when I press Refund on PAGE?")
	if question.Kind != flows.Asked || !strings.Contains(question.Text, "is called `Refund`") || len(question.Question.Choices) != 4 {
		t.Errorf("%s: %s %+v", question.Kind, question.Text, question.Question)
	}
	if site.ordered.Load() != 0 {
		t.Error("something was pressed")
	}
}

func TestFollowUpsAboutAWebPage(t *testing.T) {
	site := startWebSite(t, false)
	first := "inspect: ./web what does the Save order button do on " + site.page + "?"
	history := []flows.Turn{{Role: flows.User, Text: first}, {Role: flows.Assistant, Text: ask(t, site.flow, flows.Request{Text: strings.TrimPrefix(first, "inspect: ")}).Text}}
	checkContains(t, "styles", ask(t, site.flow, flows.Request{Text: "and its styles?", History: history}), "`Save order` on page", "by the rule `.btn`")
	other := ask(t, site.flow, flows.Request{Text: "what about the other button?", History: history})
	if other.Kind != flows.Asked || len(other.Question.Choices) != 2 {
		t.Errorf("%s: %s", other.Kind, other.Text)
	}
	checkContains(t, "about", ask(t, site.flow, flows.Request{Text: "what about Cancel?", History: history}), "`Cancel` on page", "(`src/checkout.js:9`)")
	pressed := ask(t, site.flow, flows.Request{Text: "press it", History: history}, "approve")
	checkContains(t, "press", pressed, "I pressed it once, as you approved.", "It sent the request `POST /api/orders`", "which failed: `409`", "logged the error `not saved: 409`")
	if site.ordered.Load() != 1 {
		t.Errorf("%d orders", site.ordered.Load())
	}
	checkContains(t, "disabled", ask(t, site.flow, flows.Request{Text: "click Pay now", History: history}), "I could not press it: `it is disabled`")
	if site.ordered.Load() != 1 {
		t.Errorf("%d orders", site.ordered.Load())
	}
}

func TestATestLoginOpensThePage(t *testing.T) {
	site := startWebSite(t, true)
	outcome := ask(t, site.flow, flows.Request{Text: "what happens when I press Save order on " + site.page + "?"})
	checkContains(t, "signed in", outcome, "`Save order` on page", "in `src/checkout.js:3`")
	if told := fmt.Sprintf("%+v", outcome); strings.Contains(told, testPassword) || strings.Contains(told, "/app/login") || site.logins.Load() != 1 {
		t.Errorf("%d logins, %s", site.logins.Load(), told)
	}
}

// webOf is a page by script: it counts what is pressed.
type webOf struct {
	mu      sync.Mutex
	pressed int
	err     error
}

var _ inspect.Web = (*webOf)(nil)

const scriptedPage = "https://shop.example/checkout"

func (*webOf) Allows(address string) bool { return address == scriptedPage }

func (w *webOf) Look(_ context.Context, address string, target browser.Target) (browser.View, error) {
	view := browser.View{Address: address, Title: "Checkout", Tree: shown.Element{Tag: "page", Children: []shown.Element{{ID: "1", Name: "Save", Tag: "button"}}}}
	if target.Name == "Save" {
		view.Control = &browser.Control{ID: "1", Role: "button", Name: "Save"}
	}
	return view, w.err
}

func (w *webOf) Press(ctx context.Context, address string, target browser.Target) (browser.View, error) {
	w.mu.Lock()
	w.pressed++
	w.mu.Unlock()
	view, err := w.Look(ctx, address, target)
	view.Pressed = &browser.Press{Done: true}
	return view, err
}

// TestNoPressWithoutItsApproval kills the process at every save point of a run that asks for the
// control and for the approval: nothing is pressed more often than it was approved, and each run
// ends with an answer.
func TestNoPressWithoutItsApproval(t *testing.T) {
	for save := 1; ; save++ {
		crashed := false
		for _, written := range []bool{false, true} {
			looker := &webOf{}
			store := graphtest.NewMemory()
			crashing := graphtest.NewCrashing(store, graphtest.CrashPoint{Save: save, Written: written})
			approved, outcome := runPressing(t, looker, crashing, store)
			crashed = crashed || crashing.Crashed()
			if looker.pressed == 0 || looker.pressed > approved || !strings.Contains(outcome.Text, "I pressed it once") {
				t.Errorf("save %d, written %t: pressed %d times, approved %d times: %s %s", save, written, looker.pressed, approved, outcome.Kind, outcome.Text)
			}
		}
		if !crashed {
			return
		}
	}
}

// runPressing runs to the end, in a new process after each crash, and counts the approvals.
func runPressing(t *testing.T, looker *webOf, first, next graph.Store) (approved int, outcome flows.Outcome) {
	t.Helper()
	newProcess := func() *inspect.Flow {
		flow, err := inspect.New(inspect.Options{Open: repository.NewOpener(repository.Options{}).Open, Web: looker, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		return flow
	}
	flow, runtime := newProcess(), flows.Runtime{Store: first}
	request := flows.Request{Run: "run", Text: "press Sabe on " + scriptedPage}
	outcome, err := flow.Start(t.Context(), request, runtime)
	answers := make(map[string]graph.Answer)
	for steps := 0; steps < 20; steps++ {
		var given []graph.Answer
		switch {
		case err != nil:
			if !errors.Is(err, graphtest.ErrCrash) {
				t.Fatal(err)
			}
			flow, runtime = newProcess(), flows.Runtime{Store: next}
			for _, answer := range answers { // as a queue that redelivers
				given = append(given, answer)
			}
			outcome, err = flow.Resume(t.Context(), "run", given, runtime)
			if errors.Is(err, graph.ErrNoCheckpoint) {
				outcome, err = flow.Start(t.Context(), request, runtime)
			}
			continue
		case outcome.Kind != flows.Asked:
			return approved, outcome
		}
		answer := graph.Answer{QuestionID: outcome.Question.ID, Choice: "Save"}
		if outcome.Question.Key == "press" {
			answer.Choice = "approve"
			approved++
		}
		answers = map[string]graph.Answer{answer.QuestionID: answer}
		outcome, err = flow.Resume(t.Context(), "run", []graph.Answer{answer}, runtime)
	}
	t.Fatal("the run does not end")
	return 0, flows.Outcome{}
}

func TestOnlyAClearYesApproves(t *testing.T) {
	looker := &webOf{}
	flow, err := inspect.New(inspect.Options{Open: repository.NewOpener(repository.Options{}).Open, Web: looker})
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{"no", "hm, rather not", "yes if you must tell me why", "👎", "approve nothing"} {
		checkContains(t, reply, ask(t, flow, flows.Request{Text: "please press Save on " + scriptedPage}, reply), "I pressed nothing, as you decided.")
	}
	if looker.pressed != 0 {
		t.Errorf("pressed %d times", looker.pressed)
	}
	for i, reply := range []string{"approve", "Yes!", "go ahead", "ok."} {
		checkContains(t, reply, ask(t, flow, flows.Request{Text: "click Save on " + scriptedPage}, reply), "I pressed it once, as you approved.")
		if looker.pressed != i+1 {
			t.Errorf("%s: pressed %d times", reply, looker.pressed)
		}
	}
	for _, text := range []string{"what happens when I click Save on PAGE?", "why should I press Save on PAGE", "who may click Save on PAGE?", "what if I tap Save on PAGE and click it again"} {
		checkContains(t, text, ask(t, flow, flows.Request{Text: strings.ReplaceAll(text, "PAGE", scriptedPage)}), "`Save` on page")
	}
	checkContains(t, "asked again", ask(t, flow, flows.Request{Text: "what happens when I press Refund on " + scriptedPage}, "Nothing like it", "Save"), "`Save` on page")
	if ended := ask(t, flow, flows.Request{Text: "what happens when I press Refund on " + scriptedPage}, "x9", "x8", "x7"); ended.Kind != flows.Abstained || !strings.Contains(ended.Text, "I asked 3 times") {
		t.Errorf("%s: %s", ended.Kind, ended.Text)
	}
}

func TestAPageThatIsNotSeen(t *testing.T) {
	for text, want := range map[string]string{
		"what happens when I press Save on " + scriptedPage + "?":       "I could not look at the page `https://shop.example/checkout`: it took too long",
		"what happens when I press Save on https://other.example/page?": "I look at those that the setting `inspect.pages` lists",
	} {
		flow, err := inspect.New(inspect.Options{Open: repository.NewOpener(repository.Options{}).Open, Web: &webOf{err: errors.New("it took too long")}})
		if err != nil {
			t.Fatal(err)
		}
		if outcome := ask(t, flow, flows.Request{Text: text}); outcome.Kind != flows.Abstained || !strings.Contains(outcome.Text, want) {
			t.Errorf("%s: %s %s", text, outcome.Kind, outcome.Text)
		}
	}
}
