package web

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

var suggestions = []string{"How do I roll back a release?", "Who is on call this weekend?", "What is the retention of audit logs?", "Which ports does the gateway use?"}

// behind is a bot as the adapter needs it.
type behind interface {
	chat.Transcripts
	chat.Controls
	chat.Graphs
	chat.Threads
}

func over(bot behind) Options {
	options := Options{
		Transcripts: bot, Controls: bot, Graphs: bot, Threads: bot, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return chattest.Now },
	}
	options.Manager, _ = bot.(chat.ThreadManager)
	options.Rewriter, _ = bot.(chat.Rewriter)
	return options
}

func open(t *testing.T, bot behind) *Web {
	t.Helper()
	options := over(bot)
	options.Suggestions, options.Stats = suggestions, "412 documents in 3 collections, last read 4 minutes ago."
	w, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// served is a bot that messages are handed to.
type served interface {
	behind
	chat.Handler
}

// serve runs the adapter over a bot until the test ends.
func serve(t *testing.T, bot served) *Web {
	t.Helper()
	w := open(t, bot)
	run(t, w, bot)
	return w
}

func run(t *testing.T, w *Web, bot chat.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, bot) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v after ctx ended, want nil", err)
		}
	})
}

// visitor uses the page as a browser without scripts does.
type visitor struct {
	page   string // address of the conversation
	client *http.Client
}

func newVisitor(t *testing.T, w *Web) visitor {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	jar := newJar(t)
	home, err := url.Parse(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(home, []*http.Cookie{{Name: personCookie, Value: newThreadID(), Path: "/"}})
	return visitor{w.URL() + "t/" + newThreadID(), &http.Client{Transport: transport, Jar: jar}}
}

func newJar(t *testing.T) *cookiejar.Jar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return jar
}

func (v visitor) post(t *testing.T, form url.Values) string {
	t.Helper()
	return v.postTo(t, "messages", form)
}

func (v visitor) postTo(t *testing.T, action string, form url.Values) string {
	t.Helper()
	response, err := v.client.PostForm(v.page+"/"+action, form)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, response)
}

func read(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func (v visitor) get(t *testing.T) string {
	t.Helper()
	response, err := v.client.Get(v.page)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, response)
}

// Send sends like the page's script, which does not wait.
func (v visitor) Send(t *testing.T, text string) {
	t.Helper()
	if status, problem := v.script(t, url.Values{"text": {text}}); status != http.StatusAccepted {
		t.Fatalf("sending answers %d: %s", status, problem)
	}
}

func (v visitor) script(t *testing.T, form url.Values) (status int, problem string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.page+"/messages", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	response, err := v.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	var answer accepted
	if err := json.Unmarshal([]byte(read(t, response)), &answer); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer.Error
}

func (v visitor) Say(t *testing.T, text string) string {
	t.Helper()
	return lastExchange(v.post(t, url.Values{"text": {text}}))
}

var (
	questionField = regexp.MustCompile(`name="question" value="([^"]*)"`)
	choiceButton  = regexp.MustCompile(`name="choice" value="([^"]*)"`)
)

func (v visitor) Choose(t *testing.T, number int) string {
	t.Helper()
	page := v.get(t)
	question, choices := questionField.FindStringSubmatch(page), choiceButton.FindAllStringSubmatch(page, -1)
	if question == nil || len(choices) < number {
		t.Fatalf("the page offers no choice %d:\n%s", number, page)
	}
	return lastExchange(v.post(t, url.Values{
		"question": {html.UnescapeString(question[1])}, "choice": {html.UnescapeString(choices[number-1][1])},
	}))
}

var tag = regexp.MustCompile(`<[^>]*>`)

// lastExchange is the text of the last exchange on a page.
func lastExchange(page string) string {
	last := page[max(strings.LastIndex(page, `<article`), 0):]
	return html.UnescapeString(tag.ReplaceAllString(last, ""))
}

func TestAdapter(t *testing.T) {
	chattest.TestAdapter(t, func(t *testing.T, transcripts chat.Transcripts) (chat.Adapter, chattest.Client) {
		w := open(t, transcripts.(*chattest.Bot))
		return w, newVisitor(t, w)
	})
}

func TestControls(t *testing.T) {
	chattest.TestControls(t, func(t *testing.T, bot *chattest.Bot) (chat.Adapter, chattest.Client, chattest.Controller) {
		w := open(t, bot)
		v := newVisitor(t, w)
		return w, v, v
	})
}

var (
	retryButton = regexp.MustCompile(`/retries"><button class="quiet" type="submit" name="said" value="([^"]*)"`)
	ratedField  = regexp.MustCompile(`<input type="hidden" name="said" value="([^"]*)">`)
	whyLink     = regexp.MustCompile(`<a class="quiet why" href="/t/[A-Z2-7]*(/why/[^"]*)"`)
)

// only gives what is in the last match of a page.
func only(t *testing.T, page string, pattern *regexp.Regexp) string {
	t.Helper()
	found := pattern.FindAllStringSubmatch(page, -1)
	if len(found) == 0 {
		t.Fatalf("the page lacks %s:\n%s", pattern, page)
	}
	return html.UnescapeString(found[len(found)-1][1])
}

// Stop presses the button, whose page comes when what worked is over.
func (v visitor) Stop(t *testing.T) string {
	t.Helper()
	return lastExchange(v.postTo(t, "stop", nil))
}

func (v visitor) Retry(t *testing.T) string {
	t.Helper()
	return lastExchange(v.postTo(t, "retries", url.Values{"said": {only(t, v.get(t), retryButton)}}))
}

func (v visitor) Rate(t *testing.T, verdict chat.Verdict) {
	t.Helper()
	v.postTo(t, "ratings", url.Values{"said": {only(t, v.get(t), ratedField)}, "verdict": {string(verdict)}})
}

func (v visitor) Why(t *testing.T) string {
	t.Helper()
	response, err := v.client.Get(v.page + only(t, v.get(t), whyLink))
	if err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(tag.ReplaceAllString(read(t, response), ""))
}

// sampleBot answers with the samples.
func sampleBot() *chattest.Bot {
	bot := &chattest.Bot{}
	bot.On("How do I roll back a release?", chattest.InTurn(chattest.Reports(chattest.Steps()...), chattest.Says(chattest.Answer())))
	bot.On("Who owns the billing dashboard?", chattest.Says(chattest.Abstained()))
	bot.On("And the database?", chattest.Says(chattest.Failed()))
	bot.On("Roll it back", chattest.Asks(chattest.Question()))
	bot.On("hostile", chattest.InTurn(chattest.Says(chattest.Hostile()), chattest.Asks(chattest.HostileQuestion())))
	bot.On("worldly", chattest.Says(chattest.Worldly()))
	bot.On("Analyze the risks", chattest.Says(chattest.Analysis()))
	return bot
}

func TestFragmentsGolden(t *testing.T) {
	w := open(t, &chattest.Bot{})
	defer w.listener.Close()
	reply := func(reply chat.Reply) []said { return []said{newReplySaid(reply)} }
	ask := func(question chat.Question, answer string) []said {
		return []said{{question: &question, answer: answer}}
	}
	steps := []chat.Progress{chattest.Steps()[1], chattest.Steps()[2], chattest.Steps()[3]}
	for name, e := range map[string]exchange{
		"answer":   {state: done, text: "How do I roll back a release?", steps: steps, said: reply(chattest.Answer())},
		"abstain":  {state: done, text: "Who owns it?", said: reply(chattest.Abstained())},
		"failed":   {state: done, text: "And the database?", said: reply(chattest.Failed())},
		"worldly":  {state: done, text: "回滚？", said: reply(chattest.Worldly())},
		"hostile":  {state: done, text: chattest.Evil, said: append(reply(chattest.Hostile()), ask(chattest.HostileQuestion(), "")...), failure: chattest.Evil},
		"document": {state: done, text: "Analyze the risks", said: append(reply(chattest.Analysis()), reply(chat.Reply{Documents: chattest.Documents(chattest.Evil, "x")})...)},
		"question": {state: done, text: "Roll it back", said: ask(chattest.Question(), "")},
		"answered": {state: done, text: "Roll it back", said: ask(chattest.Question(), "The API")},
		"working":  {state: working, text: "How?", steps: steps},
		"draft":    {state: working, text: "How?", steps: steps, draft: []byte("It is *rolled* back [1] with **one com")},
		"queued":   {state: queued, text: "And then?"},
	} {
		t.Run(name, func(t *testing.T) {
			e.id = "ABC"
			in := visit{thread: newThread("THREAD")}
			v, err := w.exchangeViewOf(in, &e)
			if err != nil {
				t.Fatal(err)
			}
			got, err := w.responder.renderFragment("exchange", v)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".golden.html", got)
			if err := harmless(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run go test -update and look at the change. got:\n%s", name, got)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	w := serve(t, &chattest.Bot{})
	thread := "/t/" + newThreadID()
	const form = "application/x-www-form-urlencoded"
	for _, test := range []struct {
		name, method, path, body string
		header                   map[string]string
		want                     int
	}{
		{"foreign name", "GET", thread, "", map[string]string{"Host": "evil.example"}, http.StatusMisdirectedRequest},
		{"name that begins like ours", "GET", thread, "", map[string]string{"Host": "localhost.evil.example"}, http.StatusMisdirectedRequest},
		{"foreign site", "POST", thread + "/messages", "text=x", map[string]string{"Content-Type": form, "Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		{"foreign origin", "POST", thread + "/messages", "text=x", map[string]string{"Content-Type": form, "Origin": "https://evil.example"}, http.StatusForbidden},
		{"foreign stop", "POST", thread + "/stop", "", map[string]string{"Origin": "null"}, http.StatusForbidden},
		{"guessed thread", "GET", "/t/1", "", nil, http.StatusNotFound},
		{"path for a thread", "GET", "/t/..%2F..%2Fetc", "", nil, http.StatusNotFound},
		{"no such page", "GET", "/admin", "", nil, http.StatusNotFound},
		{"no such file", "GET", "/assets/..%2Fweb.go", "", nil, http.StatusNotFound},
		{"other kind", "POST", thread + "/messages", "{}", map[string]string{"Content-Type": "application/json"}, http.StatusUnsupportedMediaType},
		{"broken form", "POST", thread + "/messages", "text=%zz", map[string]string{"Content-Type": form}, http.StatusBadRequest},
		{"empty", "POST", thread + "/messages", "text=+%0A", map[string]string{"Content-Type": form}, http.StatusBadRequest},
		{"no such depth", "POST", thread + "/messages", "text=x&depth=abyss", map[string]string{"Content-Type": form}, http.StatusBadRequest},
		{"no such question", "POST", thread + "/messages", "question=m-A-0&choice=0", map[string]string{"Content-Type": form}, http.StatusConflict},
		{"no such choice", "POST", thread + "/messages", "question=m-A-0&choice=first", map[string]string{"Content-Type": form}, http.StatusBadRequest},
		{"over 1 MiB", "POST", thread + "/messages", "text=" + strings.Repeat("x", maxMessage+1), map[string]string{"Content-Type": form}, http.StatusRequestEntityTooLarge},
		{"far over 1 MiB", "POST", thread + "/messages", "text=" + strings.Repeat("x", maxForm), map[string]string{"Content-Type": form}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, strings.TrimSuffix(w.URL(), "/")+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.AddCookie(&http.Cookie{Name: personCookie, Value: newThreadID()})
			for name, value := range test.header {
				request.Header.Set(name, value)
			}
			if host := test.header["Host"]; host != "" {
				request.Host = host
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			body := read(t, response)
			if response.StatusCode != test.want {
				t.Errorf("answers %d, want %d", response.StatusCode, test.want)
			}
			if !strings.Contains(body, "That did not work") {
				t.Errorf("does not tell what is wrong:\n%s", body)
			}
			if got := response.Header.Get("Content-Security-Policy"); got != policy {
				t.Errorf("policy is %q", got)
			}
		})
	}
}

func TestLongestMessagePassesAndDepthIsKept(t *testing.T) {
	bot := &chattest.Bot{}
	v := newVisitor(t, serve(t, bot))
	text := strings.Repeat("é", maxMessage/2)
	v.post(t, url.Values{"text": {text}, "depth": {"brief"}})
	messages := bot.Messages()
	if len(messages) != 1 || messages[0].Text != text || messages[0].Depth != chat.Brief {
		t.Error("a message of 1 MiB did not arrive whole, or lost its depth")
	}
}

func TestQueueIsBounded(t *testing.T) {
	bot := &chattest.Bot{}
	gate, begun := make(chan struct{}), make(chan struct{})
	bot.On("slow", chattest.InTurn(func(context.Context, chat.Message, chat.Conversation) error {
		close(begun)
		return nil
	}, chattest.Until(gate)))
	v := newVisitor(t, serve(t, bot))
	v.Send(t, "slow")
	<-begun
	for i := range maxQueued {
		v.Send(t, fmt.Sprint(i))
	}
	if status, problem := v.script(t, url.Values{"text": {"one more"}}); status != http.StatusTooManyRequests || !strings.Contains(problem, "wait for an answer") {
		t.Errorf("one more answers %d: %s", status, problem)
	}
	close(gate)
}

func TestStopCancelsTheRun(t *testing.T) {
	bot := &chattest.Bot{}
	begun := make(chan struct{})
	bot.On("forever", chattest.InTurn(func(context.Context, chat.Message, chat.Conversation) error {
		close(begun)
		return nil
	}, chattest.Until(nil)))
	v := newVisitor(t, serve(t, bot))
	v.Send(t, "forever")
	<-begun
	response, err := v.client.PostForm(v.page+"/stop", nil)
	if err != nil {
		t.Fatal(err)
	}
	read(t, response)
	v.Say(t, "next")
	if page := v.get(t); !strings.Contains(page, "Stopped.") {
		t.Error("the page does not tell that the run was stopped")
	}
}

func TestConversationSurvivesTheProcess(t *testing.T) {
	bot := sampleBot()
	first := newVisitor(t, serve(t, bot))
	first.Say(t, "How do I roll back a release?")
	first.Say(t, "Roll it back")
	again := serve(t, bot)
	second := newVisitor(t, again)
	second.page, second.client.Jar = again.URL()+"t/"+after(first.page, "/t/"), first.client.Jar
	for _, want := range []string{"one command", "Which <strong>rollback</strong>", "How do I roll back a release?"} {
		if page := second.get(t); !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if shown := second.Choose(t, 3); !strings.Contains(shown, "You chose app") {
		t.Errorf("a choice of the old question shows %q", shown)
	}
	if page := second.get(t); strings.Contains(page, `name="choice"`) || !strings.Contains(page, "You answered") {
		t.Error("the answered question still offers choices")
	}
}

func TestThreadsGiveWay(t *testing.T) {
	ts := newThreads(Options{Transcripts: &chattest.Bot{}, Now: time.Now}, nil)
	held, err := ts.holdThread(t.Context(), newThreadID())
	if err != nil {
		t.Fatal(err)
	}
	for range maxThreads + 10 {
		other, err := ts.holdThread(t.Context(), newThreadID())
		if err != nil {
			t.Fatal(err)
		}
		ts.releaseThread(other)
	}
	if len(ts.byID) > maxThreads || ts.byID[held.id] != held {
		t.Errorf("%d threads are held, of at most %d; the one in use is among them: %v", len(ts.byID), maxThreads, ts.byID[held.id] == held)
	}
	for len(ts.byID) < maxThreads || ts.makeRoom() == nil {
		if _, err := ts.holdThread(t.Context(), newThreadID()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ts.holdThread(t.Context(), newThreadID()); !errors.Is(err, errCrowded) {
		t.Errorf("one thread too many gives %v", err)
	}
}

// after gives what follows the first mark in a text.
func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}
