package operations

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/listen"
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

// who is the person that a request is of, behind requirePerson.
func who(ctx context.Context) signed {
	person, _ := ctx.Value(signedKey{}).(signed)
	return person
}

// access lets people see the page: whoever sits at the machine, or who signed in.
type access struct {
	signIn    SignIn
	url       string // see Options.URL
	audit     audit.Log
	logger    *slog.Logger
	now       func() time.Time
	responder *responder
	sealer    *web.Sealer
	issuer    *web.Issuer // nil: none
	failed    *failures
}

func newAccess(options Options, respond *responder) (*access, error) {
	a := &access{
		signIn: options.SignIn, url: options.URL, audit: options.Audit, logger: options.Logger, now: options.Now,
		responder: respond, failed: newFailures(options.Now),
	}
	var err error
	if a.sealer, err = a.signIn.newSealer(); err != nil {
		return nil, err
	}
	if a.signIn.Issuer != "" {
		a.issuer = a.newIssuer()
	}
	return a, nil
}

// isOpen tells that nobody has to sign in.
func (a *access) isOpen() bool { return !a.signIn.isConfigured() }

// withSecurity sets the headers of every answer. Where nobody has to sign in, it refuses all
// that did not come straight from this machine.
func (a *access) withSecurity(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		web.Secure(out.Header(), "same-origin")
		if a.isOpen() && !fromThisMachine(request) {
			a.responder.renderFailure(out, request, http.StatusForbidden, "This page is for the machine that Cairn runs on. "+
				"To open it elsewhere, set operations.token or an issuer to sign in with.")
			return
		}
		next.ServeHTTP(out, request)
	})
}

// fromThisMachine tells a request that a browser on this machine sent under a name of it: a
// foreign site could have its own name mean this machine, and a proxy passes on what others
// ask for.
func fromThisMachine(request *http.Request) bool {
	for _, passedOn := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if request.Header.Get(passedOn) != "" {
			return false
		}
	}
	peer := net.ParseIP(listen.HostOf(request.RemoteAddr))
	return peer != nil && peer.IsLoopback() && listen.IsLoopbackHost(request.Host)
}

// requirePerson lets those through who are signed in, and sends others to sign in.
func (a *access) requirePerson(next http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		person, ok := a.findPerson(request)
		switch {
		case ok:
			next(out, request.WithContext(context.WithValue(request.Context(), signedKey{}, person)))
		case request.Method != http.MethodGet || streams(request):
			a.responder.renderFailure(out, request, http.StatusUnauthorized, "You are not signed in any more. Load the page anew.")
		case comesFromElsewhere(request):
			a.continueHere(out, request)
		default:
			http.Redirect(out, request, Root+"/sign-in", http.StatusSeeOther)
		}
	}
}

// findPerson tells who a request is of; false for one who has to sign in.
func (a *access) findPerson(request *http.Request) (signed, bool) {
	if a.isOpen() {
		return signed{Who: whoAtMachine, Until: a.now().Add(sessionTime), Operator: true}, true
	}
	cookie, err := request.Cookie(sessionCookie)
	if err != nil {
		return signed{}, false
	}
	var person signed
	if err := a.sealer.Open(sessionCookie, cookie.Value, &person); err != nil {
		return signed{}, false
	}
	return person, person.Who != "" && a.now().Before(person.Until)
}

// arrived marks the address to which comesFromElsewhere sends on.
const arrived = "arrived"

// comesFromElsewhere tells a visit that followed another site's link: browsers keep a strict
// cookie back from it, so it is sent on from a page of ours before it counts as signed out.
func comesFromElsewhere(request *http.Request) bool {
	site := request.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && !request.URL.Query().Has(arrived)
}

// continueHere has the browser ask again from a page of ours.
func (a *access) continueHere(out http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	query.Set(arrived, "")
	a.responder.continueAt(out, request, request.URL.Path+"?"+query.Encode())
}

// signInView is what templates/signin.html shows.
type signInView struct {
	Token, Issuer bool
	Problem       string
}

func (a *access) serveSignIn(out http.ResponseWriter, request *http.Request) {
	if _, ok := a.findPerson(request); ok {
		http.Redirect(out, request, Root, http.StatusSeeOther)
		return
	}
	a.askToSignIn(out, request, http.StatusOK, "")
}

func (a *access) askToSignIn(out http.ResponseWriter, request *http.Request, status int, problem string) {
	v := signInView{Token: a.signIn.Token != "", Issuer: a.issuer != nil, Problem: problem}
	if err := a.responder.renderPage(out, status, "operations-sign-in", v); err != nil {
		a.responder.refuseRequest(out, request, err)
	}
}

// serveToken signs in whoever has the token.
func (a *access) serveToken(out http.ResponseWriter, request *http.Request) {
	if a.signIn.Token == "" {
		a.responder.renderFailure(out, request, http.StatusNotFound, "There is no token to sign in with.")
		return
	}
	from := listen.HostOf(request.RemoteAddr)
	if !a.failed.allows(from) {
		a.askToSignIn(out, request, http.StatusTooManyRequests, "Too many tokens were wrong. Try again in ten minutes.")
		return
	}
	if !sameText(strings.TrimSpace(request.PostForm.Get("token")), a.signIn.Token) {
		a.failed.add(from)
		if err := a.recordEvent(request, whoUnknown, audit.SignIn, audit.Refused); err != nil {
			a.responder.refuseRequest(out, request, err)
			return
		}
		a.askToSignIn(out, request, http.StatusForbidden, "This is not the token.")
		return
	}
	if err := a.startSession(out, request, signed{Who: whoHasToken, Operator: true}); err != nil {
		a.responder.refuseRequest(out, request, err)
		return
	}
	http.Redirect(out, request, Root, http.StatusSeeOther)
}

// sameText compares in a time that tells nothing of where, and how long, the texts differ.
func sameText(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// startSession gives the browser a session. It is written down first.
func (a *access) startSession(out http.ResponseWriter, request *http.Request, person signed) error {
	if err := a.recordEvent(request, person.Who, audit.SignIn, audit.Done); err != nil {
		return err
	}
	person.Until = a.now().Add(sessionTime)
	sealed, err := a.sealer.Seal(sessionCookie, person)
	if err != nil {
		return err
	}
	http.SetCookie(out, &http.Cookie{
		Name: sessionCookie, Value: sealed, Path: Root, MaxAge: int(sessionTime.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: a.isSecure(request),
	})
	return nil
}

// isSecure tells whether the browser reaches the page by https.
func (a *access) isSecure(request *http.Request) bool {
	return request.TLS != nil || request.Header.Get("X-Forwarded-Proto") == "https" || strings.HasPrefix(a.url, "https://")
}

func (a *access) serveSignOut(out http.ResponseWriter, request *http.Request) {
	if err := a.recordEvent(request, who(request.Context()).Who, audit.SignOut, audit.Done); err != nil {
		a.responder.refuseRequest(out, request, err)
		return
	}
	http.SetCookie(out, &http.Cookie{
		Name: sessionCookie, Path: Root, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.isSecure(request),
	})
	http.Redirect(out, request, Root+"/sign-in", http.StatusSeeOther)
}

// recordEvent writes into the audit log what had to do with signing in.
func (a *access) recordEvent(request *http.Request, who string, action audit.Action, outcome audit.Outcome) error {
	return a.audit.Record(request.Context(), audit.Entry{
		Time: a.now(), Actor: who, Action: action, Target: "operations page", Outcome: outcome, From: listen.HostOf(request.RemoteAddr),
	})
}
