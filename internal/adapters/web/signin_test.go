package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/openidtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// signedPage is a page that people sign in to.
type signedPage struct {
	*Web
	t      *testing.T
	issuer *openidtest.Issuer
	now    time.Time // changed between requests alone
	told   []SignInChange
	full   error // that keeps sign-ins from being written down
}

func openSigned(t *testing.T, bot served) *signedPage {
	t.Helper()
	p := &signedPage{t: t, issuer: openidtest.New(t), now: chattest.Now}
	options := over(bot)
	options.Now = func() time.Time { return p.now }
	options.SignIn = &SignIn{Issuer: p.issuer.URL, ClientID: openidtest.ClientID, ClientSecret: openidtest.ClientSecret, URL: "http://cairn.test"}
	options.SignIn.Changed = func(_ context.Context, change SignInChange) error {
		p.told = append(p.told, change)
		return p.full
	}
	p.issuer.Back = "http://cairn.test/sign-in/callback"
	options.Sources, _ = bot.(chat.SourceReader)
	var err error
	if p.Web, err = New(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	run(t, p.Web, bot)
	return p
}

// browser has no secret, and follows no redirect.
func (p *signedPage) browser() visitor {
	made := newVisitor(p.t, p.Web)
	made.client.Jar = newJar(p.t)
	made.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return made
}

// get asks for an address, and gives the status, where it leads and what it shows.
func (p *signedPage) get(by visitor, address string) (status int, location, body string) {
	p.t.Helper()
	response, err := by.client.Get(address)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Location"), read(p.t, response)
}

// toIssuer begins a sign-in, and gives the address that the issuer sends back to, as it is
// at this server.
func (p *signedPage) toIssuer(by visitor) string {
	p.t.Helper()
	status, issuer, body := p.get(by, p.URL()+"sign-in/begin")
	if status != http.StatusSeeOther {
		p.t.Fatalf("begin: status %d: %s", status, body)
	}
	_, back, _ := p.get(by, issuer)
	return strings.Replace(back, "http://cairn.test/", p.URL(), 1)
}

func (p *signedPage) signIn(by visitor, says func(*openidtest.Claims)) {
	p.t.Helper()
	p.issuer.Person = says
	if status, _, body := p.get(by, p.toIssuer(by)); status != http.StatusOK || !strings.Contains(body, `url=/"`) {
		p.t.Fatalf("sign in: status %d: %s", status, body)
	}
}

func isAnn(c *openidtest.Claims) { c.Groups = []string{"legal"} }

func isBob(c *openidtest.Claims) { c.Subject, c.Email = "815", "bob@example.com" }

// pathsOf are all that is served of a conversation.
func pathsOf(page string) []string {
	return []string{page, page + "/events", page + "/why/m-x-0", page + "/documents/m-x-0/0"}
}

func TestNobodyAsksWithoutSigningIn(t *testing.T) {
	bot := sampleBot()
	p := openSigned(t, bot)
	stranger := p.browser()
	for _, path := range pathsOf(stranger.page) {
		if status, location, _ := p.get(stranger, path); status != http.StatusNotFound && (status != http.StatusSeeOther || location != "/sign-in") {
			t.Errorf("%s: status %d, to %q", path, status, location)
		}
	}
	for _, action := range []string{"messages", "stop", "ratings", "retries", "rewrites", "title", "sharing", "deletion"} {
		if body := stranger.postTo(t, action, url.Values{"text": {"hello"}}); !strings.Contains(body, "not signed in") {
			t.Errorf("%s: %s", action, body)
		}
	}
	if _, _, body := p.get(stranger, p.URL()+"sign-in"); !strings.Contains(body, "Sign in with your organisation") {
		t.Errorf("the sign-in shows %s", body)
	}
	if got := bot.Messages(); len(got) != 0 {
		t.Errorf("arrived: %+v", got)
	}
}

func TestWhoSignsInIsKnownInEachBrowser(t *testing.T) {
	bot := sampleBot()
	p := openSigned(t, bot)
	first, second, bob := p.browser(), p.browser(), p.browser()
	p.signIn(first, isAnn)
	first.post(t, url.Values{"text": {"How do I roll back a release?"}})
	second.page, bob.page = first.page, first.page
	p.signIn(second, isAnn)
	p.signIn(bob, isBob)
	second.post(t, url.Values{"text": {"Roll it back"}})
	if status, _, body := p.get(second, first.page); status != http.StatusOK || !strings.Contains(body, "roll back a release") || !strings.Contains(body, "Ann@example.com") {
		t.Errorf("Ann's other browser: status %d: %s", status, body)
	}
	for _, path := range pathsOf(first.page) {
		if status, _, body := p.get(bob, path); status != http.StatusNotFound || strings.Contains(body, "roll back") {
			t.Errorf("%s for Bob: status %d: %s", path, status, body)
		}
	}
	if body := bob.postTo(t, "messages", url.Values{"text": {"and me?"}}); !strings.Contains(body, "no such conversation") {
		t.Errorf("Bob's message: %s", body)
	}
	messages := bot.Messages()
	if len(messages) != 2 || messages[0].Author != messages[1].Author {
		t.Fatalf("arrived: %+v", messages)
	}
	for _, message := range messages {
		if want := (&chat.Identity{Name: "Ann@example.com", Email: "Ann@example.com", Holds: []string{"group:oidc:legal"}}); !reflect.DeepEqual(message.Asker, want) {
			t.Errorf("the asker is %+v, want %+v", message.Asker, want)
		}
	}
}

func TestAnUnverifiedAddressIsNone(t *testing.T) {
	bot := sampleBot()
	p := openSigned(t, bot)
	eve := p.browser()
	p.signIn(eve, func(c *openidtest.Claims) { c.Verified = false })
	eve.post(t, url.Values{"text": {"Roll it back"}})
	if got := bot.Messages(); len(got) != 1 || !reflect.DeepEqual(got[0].Asker, &chat.Identity{}) {
		t.Errorf("arrived: %+v", got)
	}
}

func TestASignInEnds(t *testing.T) {
	p := openSigned(t, sampleBot())
	for name, end := range map[string]func(by visitor){
		"time": func(visitor) { p.now = p.now.Add(sessionTime) },
		"signing out": func(by visitor) {
			response, err := by.client.PostForm(p.URL()+"sign-out", nil)
			if err != nil {
				t.Fatal(err)
			}
			read(t, response)
		},
		"another cookie": func(by visitor) {
			home, err := url.Parse(p.URL())
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := p.signing.sealer.Seal(beginCookie, session{Subject: "4711", Until: p.now.Add(time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			by.client.Jar.SetCookies(home, []*http.Cookie{{Name: sessionCookie, Value: sealed, Path: "/"}})
		},
	} {
		ann := p.browser()
		p.signIn(ann, isAnn)
		if status, _, _ := p.get(ann, ann.page); status != http.StatusOK {
			t.Fatalf("signed in: status %d", status)
		}
		end(ann)
		if status, location, _ := p.get(ann, ann.page); status != http.StatusSeeOther || location != "/sign-in" {
			t.Errorf("after %s: status %d, to %q", name, status, location)
		}
	}
}

// TestSignInsAreWrittenDown has people sign in and out, one whom the issuer refuses, and one who
// has no session to end.
func TestSignInsAreWrittenDown(t *testing.T) {
	p := openSigned(t, sampleBot())
	ann, bob, eve := p.browser(), p.browser(), p.browser()
	p.signIn(ann, isAnn)
	p.signIn(bob, func(c *openidtest.Claims) { c.Subject, c.Verified = "815", false })
	if status, _, _ := p.get(eve, p.toIssuer(ann)); status != http.StatusForbidden {
		t.Errorf("another's sign-in: status %d", status)
	}
	for _, by := range []visitor{ann, ann, eve} {
		response, err := by.client.PostForm(p.URL()+"sign-out", nil)
		if err != nil {
			t.Fatal(err)
		}
		read(t, response)
	}
	const from = "127.0.0.1"
	want := []SignInChange{{By: "Ann@example.com", From: from}, {By: "815", From: from}, {From: from, Refused: true}, {By: "Ann@example.com", From: from, Out: true}}
	if !slices.Equal(p.told, want) {
		t.Errorf("written down is %+v", p.told)
	}
}

// TestNobodySignsInUnrecorded has nothing be written down any more: who is not written down is not signed in.
func TestNobodySignsInUnrecorded(t *testing.T) {
	p := openSigned(t, sampleBot())
	p.full = errors.New("no space left")
	bob := p.browser()
	p.issuer.Person = isBob
	if status, _, _ := p.get(bob, p.toIssuer(bob)); status != http.StatusInternalServerError {
		t.Errorf("signing in: status %d", status)
	}
	if status, location, _ := p.get(bob, bob.page); status != http.StatusSeeOther || location != "/sign-in" {
		t.Errorf("signed in all the same: status %d, to %q", status, location)
	}
}

func TestASignInServesOneBrowserOnce(t *testing.T) {
	p := openSigned(t, sampleBot())
	p.issuer.Person = isAnn
	ann, eve := p.browser(), p.browser()
	back := p.toIssuer(ann)
	if status, _, body := p.get(eve, back); status != http.StatusForbidden || !strings.Contains(body, "was not begun here") {
		t.Errorf("in another browser: status %d: %s", status, body)
	}
	if status, _, _ := p.get(ann, back); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if status, _, _ := p.get(ann, back); status != http.StatusForbidden {
		t.Errorf("the second time: status %d", status)
	}
	p.issuer.Close()
	down := openSigned(t, sampleBot())
	down.issuer.Close()
	if status, _, body := down.get(down.browser(), down.URL()+"sign-in/begin"); status != http.StatusBadGateway || !strings.Contains(body, "can&#39;t be reached") && !strings.Contains(body, "can't be reached") {
		t.Errorf("an issuer that is away: status %d: %s", status, body)
	}
}

// TestASignInLeadsToThePageThatWasWanted checks that a link to a document survives the sign-in, and
// that nobody is sent elsewhere.
func TestASignInLeadsToThePageThatWasWanted(t *testing.T) {
	for path, want := range map[string]string{
		"source/aGFuZGJvb2s6YS5tZA/3-9f86d081884c": "0; url=/source/aGFuZGJvb2s6YS5tZA/3-9f86d081884c", "source/aGFuZGJvb2s6YS5tZA": "0; url=/source/aGFuZGJvb2s6YS5tZA",
		"source/a.b": "0; url=/\"", "nowhere": "0; url=/\"",
	} {
		p := openSigned(t, &shelf{office: screenBot()})
		person := p.browser()
		p.get(person, p.URL()+path)
		_, _, body := p.get(person, p.toIssuer(person))
		if !strings.Contains(body, want) {
			t.Errorf("%s leads to\n%s\nwant %s", path, body, want)
		}
	}
}
