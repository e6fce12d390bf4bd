package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// operator is a browser on the operations page.
type operator struct {
	t      *testing.T
	client *http.Client
	page   string // address, without a slash at the end
}

func newOperator(t *testing.T, page string) *operator {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &operator{t: t, client: &http.Client{Jar: jar, Timeout: 20 * time.Second}, page: page}
}

func (o *operator) read(response *http.Response, err error) (status int, body string) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func (o *operator) get(path string) (status int, body string) {
	o.t.Helper()
	return o.read(o.client.Get(o.page + path)) //nolint:noctx // the client has a limit
}

func (o *operator) post(path string, form url.Values) (status int, body string) {
	o.t.Helper()
	return o.read(o.client.PostForm(o.page+path, form)) //nolint:noctx // likewise
}

// sees fails unless a page is there and holds these texts.
func (o *operator) sees(path string, texts ...string) string {
	o.t.Helper()
	status, body := o.get(path)
	if status != http.StatusOK {
		o.t.Fatalf("%s: status %d: %s", path, status, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			o.t.Errorf("%s does not hold %q:\n%s", path, text, body)
		}
	}
	return body
}

var operationsAt = regexp.MustCompile(`Operations at (\S+)`)

// TestOperatorsSeeWhatGoesOn is with Redis, PostgreSQL and a token.
func TestOperatorsSeeWhatGoesOn(t *testing.T) {
	const token = "operators-know-this-token"
	o := newOffice(t, "http")
	o.env = append(o.env, "CAIRN_OPERATIONS_LISTEN=127.0.0.1:0", "CAIRN_OPERATIONS_TOKEN="+token, "CAIRN_WEB_LISTEN=127.0.0.1:0")
	served := o.start(operationsAt)
	if out, err := o.command("ask", "where do I get a laptop?").CombinedOutput(); err != nil || !strings.Contains(string(out), "room 12") {
		t.Fatalf("ask: %v\n%s", err, out)
	}
	if out, err := o.command("ask", "who painted the zeppelin?").CombinedOutput(); err != nil {
		t.Fatalf("ask: %v\n%s", err, out)
	}

	ann := newOperator(t, served.address)
	if _, body := ann.get(""); !strings.Contains(body, `type="password"`) {
		t.Errorf("nobody is signed in, and the page is\n%s", body)
	}
	if status, _ := ann.post("/sign-in", url.Values{"token": {"a-guess-of-the-token"}}); status != http.StatusForbidden {
		t.Errorf("a wrong token: status %d", status)
	}
	if status, body := ann.post("/sign-in", url.Values{"token": {token}}); status != http.StatusOK || !strings.Contains(body, "where do I get a laptop?") {
		t.Fatalf("signed in: status %d\n%s", status, body)
	}
	run := regexp.MustCompile(`run\?id=([^"]+)">where do I get`).FindStringSubmatch(ann.sees(""))
	if run == nil {
		t.Fatal("the run is not listed")
	}
	ann.sees("/run?id="+run[1], "where do I get a laptop?", `<svg viewBox`, "taken completed", "Laptops")
	ann.sees("/gaps", "who painted the zeppelin?")
	ann.sees("/sources", "3 looked at, 3 changed, 0 taken away", "read</span>")
	ann.sees("/threads", "terminal:")
	ann.sees("/queue", "Nothing was put aside.")
	agents := regexp.MustCompile(`agents +\S+: AnswerGeneration idle, HybridSearch idle, QueryUnderstander idle, SourceLinking idle, Orchestrator idle`)
	if !o.wait(func() bool {
		out, err := o.command("status").Output()
		return err == nil && agents.Match(out)
	}) {
		t.Error("cairn status does not list the agents of the process that serves")
	}
	ann.sees("/agents", "HybridSearch", `<span class="status done">idle</span>`)
	settings := ann.sees("/configuration", "slack.bot_token", "set, and not shown")
	for _, secret := range []string{token, slacktest.BotToken, slacktest.SigningSecret, slacktest.AppToken} {
		if strings.Contains(settings, secret) {
			t.Errorf("the configuration holds the secret %q", secret)
		}
	}
	served.end(syscall.SIGTERM)
	if out, err := o.command("status", "--json").Output(); err != nil || !strings.Contains(string(out), `"agents": [],`) {
		t.Errorf("after its end the process still reports agents: %v\n%s", err, out)
	}
	for _, line := range []string{`"actor":"unknown","action":"operations.sign_in","target":"operations page","outcome":"refused"`,
		`"actor":"whoever has the token","action":"operations.sign_in","target":"operations page","outcome":"done","from":"127.0.0.1"`} {
		if !strings.Contains(served.String(), line) {
			t.Errorf("the audit log lacks %s", line)
		}
	}
	o.isUnsaid([]*process{served}, token, "a-guess-of-the-token", "zeppelin")
}

// TestThePageIsOnTheWebPageOfThisMachine is with nothing configured.
func TestThePageIsOnTheWebPageOfThisMachine(t *testing.T) {
	t.Parallel()
	p := program{t: t, env: append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir())}
	p.readHandbook()
	served := p.start(regexp.MustCompile(`Ask at (\S+)/`), "--listen", "127.0.0.1:0")
	newOperator(t, served.address+"/operations").sees("", "whoever sits at this machine", "No runs.")
	served.end(syscall.SIGTERM)

	open := p.start(regexp.MustCompile(`Ask at (\S+)/`), "--listen", "0.0.0.0:0")
	address := open.address[strings.LastIndex(open.address, ":"):]
	if status, body := newOperator(t, "http://127.0.0.1"+address+"/operations").get(""); status != http.StatusNotFound {
		t.Errorf("where others reach the page: status %d\n%s", status, body)
	}
	open.end(syscall.SIGTERM)
}
