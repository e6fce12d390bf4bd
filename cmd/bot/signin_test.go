package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/openidtest"
)

// TestWhoSignsInIsAnsweredFromWhatTheyMayRead has people sign in to the page of the real
// program, at an issuer that names their groups.
func TestWhoSignsInIsAnsweredFromWhatTheyMayRead(t *testing.T) {
	o := newOffice(t, "http")
	o.readRestricted("group:management")
	issuer := openidtest.New(t)
	const address = "http://localhost:1" // of a proxy, as people have it
	issuer.Back = address + "/sign-in/callback"
	o.env = append(o.env, "CAIRN_ACCESS_WEB=sign-in", "CAIRN_ACCESS_GROUPS=management=group:oidc:managers", "CAIRN_WEB_LISTEN=127.0.0.1:0",
		"CAIRN_WEB_URL="+address, "CAIRN_OPERATIONS_URL="+address, "CAIRN_OPERATIONS_OIDC_ISSUER="+issuer.URL,
		"CAIRN_OPERATIONS_OIDC_CLIENT_ID="+openidtest.ClientID, "CAIRN_OPERATIONS_OIDC_CLIENT_SECRET="+openidtest.ClientSecret,
		"CAIRN_OPERATIONS_OIDC_ALLOWED=ann@example.com")
	p := o.start(pageLine)
	for name, test := range map[string]struct {
		says func(*openidtest.Claims)
		more bool
	}{
		"a manager": {func(c *openidtest.Claims) { c.Groups = []string{"managers"} }, true},
		"others":    {func(c *openidtest.Claims) { c.Subject, c.Groups = "815", []string{"staff"} }, false},
	} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		// People come back from the issuer to the proxy's address, which leads to the program.
		here := &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(request *http.Request, _ []*http.Request) error {
			if request.URL.Host == "localhost:1" {
				return http.ErrUseLastResponse
			}
			return nil
		}}
		person := &operator{t: t, client: here, page: p.address}
		person.sees("/", "Sign in with your organisation")
		issuer.Person = test.says
		begun, err := here.Get(p.address + "/sign-in/begin") //nolint:noctx // the client has a limit
		if err != nil {
			t.Fatal(err)
		}
		person.read(begun, nil)
		back, err := url.Parse(begun.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		person.sees(back.Path + "?" + back.RawQuery)
		started, err := here.Get(p.address + "/") //nolint:noctx // likewise
		if err != nil {
			t.Fatal(err)
		}
		person.read(started, nil)
		_, body := person.post(started.Request.URL.Path+"/messages", url.Values{"text": {"where do managers get a laptop?"}})
		if !strings.Contains(body, room12) && !strings.Contains(body, "laptop") || strings.Contains(body, "golden laptop") != test.more {
			t.Errorf("%s: answered by\n%s", name, body)
		}
	}
	p.end(syscall.SIGTERM)
	if said := p.String(); strings.Count(said, `"action":"web.sign_in","target":"web page","outcome":"done"`) != 2 {
		t.Errorf("the sign-ins are not in the audit log:\n%s", said)
	}
	o.isUnsaid([]*process{p}, openidtest.ClientSecret, "access-token-of-ann")
}
