package operations_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/runs"
)

const token = "correct-horse-battery"

func withToken(o *operations.Options) { o.SignIn.Token = token }

func (p *place) signIn(with string) answer {
	p.t.Helper()
	return p.post("/operations/sign-in", url.Values{"token": {with}})
}

func TestWhoHasTheTokenGetsIn(t *testing.T) {
	p := open(t, embeddedStores(t), withToken)
	got := p.get("/operations")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/operations/sign-in" {
		t.Fatalf("status %d, to %q", got.status, got.header.Get("Location"))
	}
	p.contains(p.sees("/operations/sign-in"), `type="password"`)
	got = p.signIn(token)
	if got.status != http.StatusSeeOther {
		t.Fatalf("sign in: status %d: %s", got.status, got.body)
	}
	cookie := got.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/operations", "Max-Age=43200"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q lacks %s", cookie, want)
		}
	}
	if strings.Contains(cookie, "Secure") || strings.Contains(cookie, token) {
		t.Errorf("cookie %q", cookie)
	}
	p.contains(p.sees("/operations"), "whoever has the token", "Sign out")
	p.contains(p.journal.text(), `"actor":"whoever has the token","action":"operations.sign_in"`, `"outcome":"done"`)
	p.lacks(p.journal.text()+p.logged.text(), token)

	p.post("/operations/sign-out", nil)
	if got := p.get("/operations"); got.status != http.StatusSeeOther {
		t.Errorf("signed out: status %d", got.status)
	}
	p.contains(p.journal.text(), `"action":"operations.sign_out"`)
}

func TestACookieIsSecureBehindHTTPS(t *testing.T) {
	p := open(t, embeddedStores(t), func(o *operations.Options) { withToken(o); o.URL = "https://cairn.example.com" })
	if cookie := p.signIn(token).header.Get("Set-Cookie"); !strings.Contains(cookie, "Secure") {
		t.Errorf("cookie %q", cookie)
	}
}

func TestASessionEnds(t *testing.T) {
	p := open(t, embeddedStores(t), withToken)
	p.signIn(token)
	p.sees("/operations")
	p.now = p.now.Add(13 * time.Hour)
	if got := p.get("/operations"); got.status != http.StatusSeeOther {
		t.Errorf("after 13 hours: status %d", got.status)
	}
}

func TestAForgedCookieIsNoSession(t *testing.T) {
	p := open(t, embeddedStores(t), withToken)
	p.signIn(token)
	sealed := p.client.Jar.Cookies(p.request(http.MethodGet, "/operations", nil).URL)[0].Value
	other := open(t, embeddedStores(t), func(o *operations.Options) { o.SignIn.Token = token + "2" })
	for name, value := range map[string]string{
		"none": "", "no base64": "%%%", "short": "AAAA", "changed": sealed[:len(sealed)-2] + "AA", "long": strings.Repeat("A", 5000),
		"plain": "eyJ3aG8iOiJldmUiLCJ1bnRpbCI6IjIwOTktMDEtMDFUMDA6MDA6MDBaIn0",
	} {
		request := p.request(http.MethodGet, "/operations", nil)
		request.AddCookie(&http.Cookie{Name: "cairn-operations", Value: value})
		p.client.Jar = nil
		if got := p.do(request); got.status != http.StatusSeeOther {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
	request := other.request(http.MethodGet, "/operations", nil)
	request.AddCookie(&http.Cookie{Name: "cairn-operations", Value: sealed})
	if got := other.do(request); got.status != http.StatusSeeOther {
		t.Errorf("sealed under another token: status %d", got.status)
	}
}

func TestTheTokenCannotBeGuessed(t *testing.T) {
	p := open(t, embeddedStores(t), withToken)
	for i := range 10 {
		if got := p.signIn(fmt.Sprint("guess ", i)); got.status != http.StatusForbidden {
			t.Fatalf("guess %d: status %d", i, got.status)
		}
	}
	for range 3 {
		if got := p.signIn(token); got.status != http.StatusTooManyRequests || got.header.Get("Set-Cookie") != "" {
			t.Errorf("the token after ten guesses: status %d", got.status)
		}
	}
	if n := strings.Count(p.journal.text(), `"outcome":"refused"`); n != 10 {
		t.Errorf("%d refusals are written down", n)
	}
	p.lacks(p.journal.text()+p.logged.text(), "guess 3")
	p.now = p.now.Add(11 * time.Minute)
	if got := p.signIn(token); got.status != http.StatusSeeOther {
		t.Errorf("the token in the next window: status %d", got.status)
	}
}

func TestNothingIsDoneForThoseWhoAreNotSignedIn(t *testing.T) {
	p := open(t, embeddedStores(t), withToken)
	p.save(record("run-1", runs.Running, "question"))
	for _, path := range []string{"/operations/cancel", "/operations/replay", "/operations/letters", "/operations/sign-out"} {
		if got := p.post(path, url.Values{"run": {"run-1"}}); got.status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", path, got.status)
		}
	}
	request := p.request(http.MethodGet, "/operations", nil)
	request.Header.Set("Accept", "text/event-stream")
	if got := p.do(request); got.status != http.StatusUnauthorized {
		t.Errorf("the stream: status %d", got.status)
	}
	for _, path := range []string{"", "/run?id=run-1", "/questions", "/queue", "/agents", "/sources", "/gaps", "/answers", "/threads", "/thread?id=slack:T1:C1:run-1", "/configuration"} {
		if got := p.get("/operations" + path); got.status != http.StatusSeeOther || strings.Contains(got.body, "run-1") {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
	if p.journal.text() != "" {
		t.Errorf("written down: %s", p.journal.text())
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	p := open(t, embeddedStores(t), withToken)
	p.save(record("run-1", runs.Running, "question"))
	p.signIn(token)
	for name, header := range map[string]http.Header{
		"cross-site": {"Sec-Fetch-Site": {"cross-site"}},
		"same-site":  {"Sec-Fetch-Site": {"same-site"}},
		"origin":     {"Origin": {"https://evil.example"}},
	} {
		request := p.request(http.MethodPost, "/operations/cancel", strings.NewReader("run=run-1"))
		request.Header = header
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if got := p.do(request); got.status != http.StatusForbidden {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
	if stands, err := p.stores.records.Load(t.Context(), "run-1"); err != nil || stands.Status() != runs.Running {
		t.Errorf("the run is %s, %v", stands.Status(), err)
	}
	large := p.post("/operations/cancel", url.Values{"run": {strings.Repeat("x", 100<<10)}})
	if large.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of 100 KiB: status %d", large.status)
	}
}

func TestALinkFromElsewhereFindsThePersonSignedIn(t *testing.T) {
	p := open(t, embeddedStores(t), withToken)
	request := p.request(http.MethodGet, "/operations/run?id=run-1", nil)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	got := p.do(request) // the browser keeps the cookie back
	p.contains(got.body, `content="0; url=/operations/run?arrived=&amp;id=run-1"`)
}

// TestOnlyThisMachineIsLetInWithoutSignIn: what a proxy passes on, and names that others made
// to mean this machine, are not from here.
func TestOnlyThisMachineIsLetInWithoutSignIn(t *testing.T) {
	p := open(t, embeddedStores(t), nil)
	p.sees("/operations")
	for name, change := range map[string]func(*http.Request){
		"another name": func(r *http.Request) { r.Host = "evil.example:80" },
		"a proxy":      func(r *http.Request) { r.Header.Set("X-Forwarded-For", "203.0.113.7") },
		"a standard":   func(r *http.Request) { r.Header.Set("Forwarded", "for=203.0.113.7") },
	} {
		request := p.request(http.MethodGet, "/operations", nil)
		change(request)
		if got := p.do(request); got.status != http.StatusForbidden || !strings.Contains(got.body, "operations.token") {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
}

// events reads a stream of the page.
func (p *place) events(path string) (next func() string) {
	p.t.Helper()
	request := p.request(http.MethodGet, path, nil)
	request.Header.Set("Accept", "text/event-stream")
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := response.Body.Close(); err != nil {
			p.t.Error(err)
		}
	})
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		p.t.Fatalf("stream: status %d, %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return func() string {
		p.t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return data
			}
		}
		p.t.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
}

func TestTheListIsLive(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		next := p.events("/operations?status=running")
		if first := next(); strings.Contains(first, "run-1") {
			t.Errorf("first: %s", first)
		}
		p.save(record("run-1", runs.Running, "question"))
		if second := next(); !strings.Contains(second, "run-1") {
			t.Errorf("after a run began: %s", second)
		}
		p.save(record("run-1", runs.Failed, "question"))
		if third := next(); strings.Contains(third, "run-1") {
			t.Errorf("after it failed: %s", third)
		}
	})
}

func TestStreamsAreBounded(t *testing.T) {
	p := open(t, embeddedStores(t), nil)
	for range 50 {
		p.events("/operations/queue")()
	}
	request := p.request(http.MethodGet, "/operations/queue", nil)
	request.Header.Set("Accept", "text/event-stream")
	if got := p.do(request); got.status != http.StatusServiceUnavailable {
		t.Errorf("the 51st: status %d", got.status)
	}
	request = p.request(http.MethodGet, "/operations/configuration", nil)
	request.Header.Set("Accept", "text/event-stream")
	if got := p.do(request); got.status != http.StatusNotAcceptable {
		t.Errorf("what is not live: status %d", got.status)
	}
}
