package operations_test

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/openidtest"
	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
)

// openWithIssuer serves a page that people sign in to at an issuer.
func openWithIssuer(t *testing.T, change func(*operations.Options)) (*place, *openidtest.Issuer) {
	t.Helper()
	i := openidtest.New(t)
	p := open(t, embeddedStores(t), func(o *operations.Options) {
		o.SignIn = operations.SignIn{
			Issuer: i.URL, ClientID: openidtest.ClientID, ClientSecret: openidtest.ClientSecret, Allowed: []string{"ann@example.com", "operators"},
		}
		o.URL = "http://cairn.test"
		if change != nil {
			change(o)
		}
	})
	i.Back = "http://cairn.test/operations/callback"
	return p, i
}

// toIssuer begins a sign-in, and gives the address that the issuer sends back to.
func (p *place) toIssuer() *url.URL {
	p.t.Helper()
	begun := p.get("/operations/begin")
	if begun.status != http.StatusSeeOther {
		p.t.Fatalf("begin: status %d: %s", begun.status, begun.body)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, begun.header.Get("Location"), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	signed := p.do(request)
	back, err := url.Parse(signed.header.Get("Location"))
	if err != nil || signed.status != http.StatusFound {
		p.t.Fatalf("the issuer: status %d, %v: %s", signed.status, err, signed.body)
	}
	return back
}

// comesBack follows the issuer's link.
func (p *place) comesBack(to *url.URL) answer {
	p.t.Helper()
	return p.get(to.Path + "?" + to.RawQuery)
}

func TestAnAllowedPersonSignsInAtTheIssuer(t *testing.T) {
	p, _ := openWithIssuer(t, nil)
	p.contains(p.sees("/operations/sign-in"), "Sign in with your organisation")
	back := p.toIssuer()
	got := p.comesBack(back)
	if got.status != http.StatusOK {
		t.Fatalf("status %d: %s", got.status, bodyOf(got.body))
	}
	p.contains(got.body, `content="0; url=/operations"`)
	p.contains(p.sees("/operations"), "Ann@example.com")
	p.contains(p.journal.text(), `"actor":"Ann@example.com","action":"operations.sign_in"`)
	p.lacks(p.journal.text()+p.logged.text(), openidtest.ClientSecret, "access-token-of-ann")
	// The code and the cookie serve once.
	if got := p.comesBack(back); got.status != http.StatusForbidden {
		t.Errorf("come back twice: status %d", got.status)
	}
}

func TestAGroupMayBeAllowed(t *testing.T) {
	p, i := openWithIssuer(t, nil)
	i.Person = func(c *openidtest.Claims) {
		c.Email, c.Verified, c.Groups = "bob@example.com", false, []string{"staff", "operators"}
	}
	if got := p.comesBack(p.toIssuer()); got.status != http.StatusOK {
		t.Fatalf("status %d: %s", got.status, bodyOf(got.body))
	}
	p.contains(p.sees("/operations"), "4711") // the address was not verified, so it is not the name
}

func TestTheIssuerIsNotBelievedBlindly(t *testing.T) {
	for _, test := range []struct {
		name   string
		issuer func(t *testing.T, i *openidtest.Issuer)
		back   func(back *url.URL)
		want   string
	}{
		{"wrong audience", says(func(c *openidtest.Claims) { c.Audience = "another-program" }), nil, "for another program"},
		{"expired", says(func(c *openidtest.Claims) { c.Expires = time.Now().Add(-time.Hour).Unix() }), nil, "too old"},
		{"another issuer's", says(func(c *openidtest.Claims) { c.Issuer = "https://evil.example" }), nil, "does not hold"},
		{"bad nonce", says(func(c *openidtest.Claims) { c.Nonce = "of another sign-in" }), nil, "belongs to another sign-in"},
		{"no nonce", says(func(c *openidtest.Claims) { c.Nonce = "" }), nil, "belongs to another sign-in"},
		{"unverified address", says(func(c *openidtest.Claims) { c.Verified = false }), nil, "has not verified your e-mail address"},
		{"not allowed", says(func(c *openidtest.Claims) { c.Email = "eve@example.com" }), nil, "You may not open this page"},
		{"no address", says(func(c *openidtest.Claims) { c.Email = "" }), nil, "You may not open this page"},
		{"a group named like an address", says(func(c *openidtest.Claims) { c.Email, c.Groups = "eve@example.com", []string{"ann@example.com"} }), nil, "You may not open this page"},
		{"an address named like a group", says(func(c *openidtest.Claims) { c.Email = "operators" }), nil, "You may not open this page"},
		{"forged signature", func(t *testing.T, i *openidtest.Issuer) {
			forger, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				t.Fatal(err)
			}
			i.Signer = forger
		}, nil, "not signed by the issuer"},
		{"bad state", nil, query("state", "forged"), "was not begun here"},
		{"no state", nil, query("state", ""), "was not begun here"},
		{"stolen code", nil, query("code", "of somebody else"), "did not confirm"},
		{"refused there", nil, query("error", "access_denied"), "did not sign you in: access_denied."},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, i := openWithIssuer(t, nil)
			if test.issuer != nil {
				test.issuer(t, i)
			}
			back := p.toIssuer()
			if test.back != nil {
				test.back(back)
			}
			got := p.comesBack(back)
			if got.status != http.StatusForbidden || !strings.Contains(got.body, test.want) {
				t.Errorf("status %d, want %q: %s", got.status, test.want, bodyOf(got.body))
			}
			if got := p.get("/operations"); got.status != http.StatusSeeOther {
				t.Errorf("signed in all the same: status %d", got.status)
			}
			p.contains(p.journal.text(), `"outcome":"refused"`)
			p.lacks(p.journal.text()+p.logged.text(), openidtest.ClientSecret, "access-token-of-ann")
		})
	}
}

func says(change func(*openidtest.Claims)) func(*testing.T, *openidtest.Issuer) {
	return func(_ *testing.T, i *openidtest.Issuer) { i.Person = change }
}

func query(key, value string) func(*url.URL) {
	return func(back *url.URL) {
		q := back.Query()
		q.Set(key, value)
		back.RawQuery = q.Encode()
	}
}

func TestASignInThatAnotherBrowserBeganIsRefused(t *testing.T) {
	p, _ := openWithIssuer(t, nil)
	back := p.toIssuer()
	p.client = newClient(t)
	if got := p.comesBack(back); got.status != http.StatusForbidden {
		t.Errorf("status %d", got.status)
	}
}

func TestASignInThatTookTooLongIsRefused(t *testing.T) {
	p, _ := openWithIssuer(t, nil)
	back := p.toIssuer()
	p.now = p.now.Add(11 * time.Minute)
	if got := p.comesBack(back); got.status != http.StatusForbidden {
		t.Errorf("status %d", got.status)
	}
}

func TestASessionIsNoBegunSignIn(t *testing.T) {
	p, _ := openWithIssuer(t, withToken)
	p.signIn(token)
	sealed := p.client.Jar.Cookies(p.request(http.MethodGet, "/operations", nil).URL)[0].Value
	request := p.request(http.MethodGet, "/operations/callback?code=x", nil)
	request.AddCookie(&http.Cookie{Name: "cairn-operations-begin", Value: sealed})
	if got := p.do(request); got.status != http.StatusForbidden {
		t.Errorf("status %d", got.status)
	}
}

func TestAnIssuerThatIsDownIsToldOf(t *testing.T) {
	p, i := openWithIssuer(t, nil)
	i.Close()
	got := p.get("/operations/begin")
	if got.status != http.StatusBadGateway || !strings.Contains(got.body, "can&#39;t be reached") {
		t.Errorf("status %d: %s", got.status, bodyOf(got.body))
	}
}
