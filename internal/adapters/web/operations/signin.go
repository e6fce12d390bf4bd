package operations

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"cairn/internal/audit"
	"cairn/internal/loopback"
)

// sessionCookie holds who is signed in, sealed.
const sessionCookie = "cairn-operations"

// sessionTime is how long a person stays signed in.
const sessionTime = 12 * time.Hour

// signed is a person who is signed in.
type signed struct {
	Who   string    `json:"who"` // as the audit log names them
	Until time.Time `json:"until"`
	// Operator is who has the token or sits at the machine; see identity for others.
	Operator bool `json:"operator,omitempty"`
	// Email is what the issuer has verified, Groups those that it names.
	Email  string   `json:"email,omitempty"`
	Groups []string `json:"groups,omitempty"`
}

// Names of those who have none of their own.
const (
	whoAtMachine = "whoever sits at this machine"
	whoHasToken  = "whoever has the token"
	whoUnknown   = "unknown"
)

type signedKey struct{}

// who is the person that a request is of, behind known.
func who(ctx context.Context) signed {
	person, _ := ctx.Value(signedKey{}).(signed)
	return person
}

// known lets those through who are signed in, and sends others to sign in.
func (p *Page) known(next http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		person, ok := p.person(request)
		switch {
		case ok:
			next(out, request.WithContext(context.WithValue(request.Context(), signedKey{}, person)))
		case request.Method != http.MethodGet || streams(request):
			p.fail(out, request, http.StatusUnauthorized, "You are not signed in any more. Load the page anew.")
		case comesFromElsewhere(request):
			p.sendOn(out, request)
		default:
			http.Redirect(out, request, Root+"/sign-in", http.StatusSeeOther)
		}
	}
}

// person is who a request is of; false for one who has to sign in.
func (p *Page) person(request *http.Request) (signed, bool) {
	if p.isOpen() {
		return signed{Who: whoAtMachine, Until: p.now().Add(sessionTime), Operator: true}, true
	}
	cookie, err := request.Cookie(sessionCookie)
	if err != nil {
		return signed{}, false
	}
	var person signed
	if err := p.sealer.Open(sessionCookie, cookie.Value, &person); err != nil {
		return signed{}, false
	}
	return person, person.Who != "" && p.now().Before(person.Until)
}

// arrived marks the address to which comesFromElsewhere sends on.
const arrived = "arrived"

// comesFromElsewhere tells a visit that followed another site's link: browsers keep a strict
// cookie back from it, so it is sent on from a page of ours before it counts as signed out.
func comesFromElsewhere(request *http.Request) bool {
	site := request.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && !request.URL.Query().Has(arrived)
}

// sendOn has the browser ask again from a page of ours.
func (p *Page) sendOn(out http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	query.Set(arrived, "")
	p.continueAt(out, request, request.URL.Path+"?"+query.Encode())
}

func (p *Page) continueAt(out http.ResponseWriter, request *http.Request, address string) {
	if err := p.render(out, http.StatusOK, "operations-arrive", address); err != nil {
		p.refuse(out, request, err)
	}
}

// signInView is what templates/signin.html shows.
type signInView struct {
	Token, Issuer bool
	Problem       string
}

func (p *Page) serveSignIn(out http.ResponseWriter, request *http.Request) {
	if _, ok := p.person(request); ok {
		http.Redirect(out, request, Root, http.StatusSeeOther)
		return
	}
	p.askToSignIn(out, request, http.StatusOK, "")
}

func (p *Page) askToSignIn(out http.ResponseWriter, request *http.Request, status int, problem string) {
	v := signInView{Token: p.options.SignIn.Token != "", Issuer: p.issuer != nil, Problem: problem}
	if err := p.render(out, status, "operations-sign-in", v); err != nil {
		p.refuse(out, request, err)
	}
}

// serveToken signs in whoever has the token.
func (p *Page) serveToken(out http.ResponseWriter, request *http.Request) {
	if p.options.SignIn.Token == "" {
		p.fail(out, request, http.StatusNotFound, "There is no token to sign in with.")
		return
	}
	from := loopback.Host(request.RemoteAddr)
	if !p.failed.allows(from) {
		p.askToSignIn(out, request, http.StatusTooManyRequests, "Too many tokens were wrong. Try again in ten minutes.")
		return
	}
	if !sameText(strings.TrimSpace(request.PostForm.Get("token")), p.options.SignIn.Token) {
		p.failed.add(from)
		if err := p.record(request, whoUnknown, audit.SignIn, audit.Refused); err != nil {
			p.refuse(out, request, err)
			return
		}
		p.askToSignIn(out, request, http.StatusForbidden, "This is not the token.")
		return
	}
	if err := p.signIn(out, request, signed{Who: whoHasToken, Operator: true}); err != nil {
		p.refuse(out, request, err)
		return
	}
	http.Redirect(out, request, Root, http.StatusSeeOther)
}

// sameText compares in a time that tells nothing of where, and how long, the texts differ.
func sameText(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// signIn gives the browser a session. It is written down first.
func (p *Page) signIn(out http.ResponseWriter, request *http.Request, person signed) error {
	if err := p.record(request, person.Who, audit.SignIn, audit.Done); err != nil {
		return err
	}
	person.Until = p.now().Add(sessionTime)
	sealed, err := p.sealer.Seal(sessionCookie, person)
	if err != nil {
		return err
	}
	http.SetCookie(out, &http.Cookie{
		Name: sessionCookie, Value: sealed, Path: Root, MaxAge: int(sessionTime.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: p.isSecure(request),
	})
	return nil
}

// isSecure tells whether the browser reaches the page by https.
func (p *Page) isSecure(request *http.Request) bool {
	return request.TLS != nil || request.Header.Get("X-Forwarded-Proto") == "https" || strings.HasPrefix(p.options.URL, "https://")
}

func (p *Page) serveSignOut(out http.ResponseWriter, request *http.Request) {
	if err := p.record(request, who(request.Context()).Who, audit.SignOut, audit.Done); err != nil {
		p.refuse(out, request, err)
		return
	}
	http.SetCookie(out, &http.Cookie{
		Name: sessionCookie, Path: Root, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: p.isSecure(request),
	})
	http.Redirect(out, request, Root+"/sign-in", http.StatusSeeOther)
}

// record writes into the audit log what had to do with signing in.
func (p *Page) record(request *http.Request, who string, action audit.Action, outcome audit.Outcome) error {
	return p.options.Audit.Record(request.Context(), audit.Entry{
		Time: p.now(), Actor: who, Action: action, Target: "operations page", Outcome: outcome, From: loopback.Host(request.RemoteAddr),
	})
}
