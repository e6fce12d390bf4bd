package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/listen"
)

// SignIn is the OpenID Connect provider that people sign in with.
type SignIn struct {
	Issuer, ClientID, ClientSecret string
	// URL is where people reach the page, without a / at its end: "https://cairn.example.com".
	URL string
	// Changed is told of each sign-in and sign-out, to write it down; it is required. Where it
	// fails nobody is signed in or out.
	Changed func(ctx context.Context, change SignInChange) error
}

// SignInChange is a person who signs in or out.
type SignInChange struct {
	By      string // the e-mail address that the issuer has verified, else its own name; "" for unknown
	From    string // the address of the browser
	Out     bool   // signs out
	Refused bool   // was not signed in
}

// Cookies of people who sign in.
const (
	sessionCookie = "cairn-session"
	beginCookie   = "cairn-begin"
)

// sessionTime is how long a person stays signed in.
const sessionTime = 12 * time.Hour

// session is a person who is signed in, as their browser keeps it sealed.
type session struct {
	Subject string    `json:"subject"`
	Email   string    `json:"email,omitempty"` // which the issuer has verified
	Groups  []string  `json:"groups,omitempty"`
	Until   time.Time `json:"until"`
}

// caller is who sends a request; the zero caller is nobody, who has to sign in, or whose
// browser was given no secret yet.
type caller struct {
	id       chat.UserID
	identity *chat.Identity // of one who signed in; nil where nobody does
	name     string         // as the person reads it
	until    time.Time      // when the session ends
}

// signing is what people sign in with.
type signing struct {
	options SignIn
	issuer  *Issuer
	sealer  *Sealer
	now     func() time.Time
}

func newSigning(options SignIn, now func() time.Time) (*signing, error) {
	address, err := url.Parse(options.URL)
	if err != nil || address.Host == "" || options.Issuer == "" || options.ClientID == "" || options.Changed == nil {
		return nil, errors.New("signing in needs Issuer, ClientID, Changed, and URL as an address")
	}
	sealer, err := NewSealer("cairn web session", options.Issuer, options.ClientID, options.ClientSecret)
	if err != nil {
		return nil, err
	}
	s := &signing{options: options, sealer: sealer, now: now}
	s.issuer = NewIssuer(IssuerOptions{
		Issuer: options.Issuer, ClientID: options.ClientID, ClientSecret: options.ClientSecret,
		Back: options.URL + "/sign-in/callback", Path: "/sign-in/callback", Cookie: beginCookie,
		Sealer: sealer, Secure: s.isSecure, Now: now,
	})
	return s, nil
}

func (s *signing) isSecure(request *http.Request) bool {
	return isSecure(request) || strings.HasPrefix(s.options.URL, "https://")
}

// sessionCaller is the person whose session a request brings.
func (s *signing) sessionCaller(request *http.Request) caller {
	cookie, err := request.Cookie(sessionCookie)
	if err != nil {
		return caller{}
	}
	var kept session
	if err := s.sealer.Open(sessionCookie, cookie.Value, &kept); err != nil || kept.Subject == "" || !s.now().Before(kept.Until) {
		return caller{}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "cairn web person %q %q", s.options.Issuer, kept.Subject))
	person := Person{Subject: kept.Subject, Email: kept.Email, Groups: kept.Groups}
	return caller{id: chat.UserID(hex.EncodeToString(sum[:16])), identity: person.Identity(), name: nameOf(person), until: kept.Until}
}

// nameOf names a person by the address that the issuer has verified, or by its own name of them.
func nameOf(person Person) string { return cmp.Or(person.Email, person.Subject) }

// record has a sign-in or sign-out written down.
func (s *signing) record(request *http.Request, change SignInChange) error {
	change.From = listen.HostOf(request.RemoteAddr)
	return s.options.Changed(context.WithoutCancel(request.Context()), change)
}

// findCaller is who sends a request.
func (w *Web) findCaller(request *http.Request) caller {
	if w.signing != nil {
		return w.signing.sessionCaller(request)
	}
	return caller{id: requestPerson(request)}
}

// mayRead tells whether somebody may read a conversation: where people sign in its owner
// alone, else whoever has its address.
func (w *Web) mayRead(by caller, t *thread) bool {
	if w.signing == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return by.id != "" && (t.owner == "" || t.owner == by.id)
}

func (w *Web) signInRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /sign-in", func(out http.ResponseWriter, request *http.Request) {
		if w.findCaller(request).id != "" {
			http.Redirect(out, request, "/", http.StatusSeeOther)
			return
		}
		w.askToSignIn(out, http.StatusOK, "")
	})
	mux.HandleFunc("GET /sign-in/begin", func(out http.ResponseWriter, request *http.Request) {
		w.explainSignIn(out, request, w.signing.issuer.Begin(out, request))
	})
	mux.HandleFunc("GET /sign-in/callback", w.serveSignedIn)
	mux.HandleFunc("POST /sign-out", w.serveSignOut)
}

// serveSignOut ends the session of a person, if they have one.
func (w *Web) serveSignOut(out http.ResponseWriter, request *http.Request) {
	if by := w.findCaller(request); by.id != "" {
		if err := w.signing.record(request, SignInChange{By: by.name, Out: true}); err != nil {
			w.options.Logger.Error("sign out of the web page", "error", err)
			w.responder.renderFailure(out, request, http.StatusInternalServerError, "You could not be signed out. The log has the cause.")
			return
		}
	}
	w.setSession(out, request, "", -1)
	http.Redirect(out, request, "/sign-in", http.StatusSeeOther)
}

// serveSignedIn signs in a person who comes back from the issuer. It is written down first.
func (w *Web) serveSignedIn(out http.ResponseWriter, request *http.Request) {
	found, err := w.signing.issuer.Return(out, request)
	err = cmp.Or(w.signing.record(request, SignInChange{By: nameOf(found), Refused: err != nil}), err)
	sealed := ""
	if err == nil {
		sealed, err = w.signing.sealer.Seal(sessionCookie, session{
			Subject: found.Subject, Email: found.Email, Groups: found.Groups, Until: w.options.Now().Add(sessionTime),
		})
	}
	if err != nil {
		w.explainSignIn(out, request, err)
		return
	}
	w.setSession(out, request, sealed, int(sessionTime.Seconds()))
	// A redirect would still count as the issuer's link, from which strict cookies are kept.
	if err := w.responder.renderPage(out, http.StatusOK, "arrive", w.signing.takeDestination(out, request)); err != nil {
		w.options.Logger.Error("send a person on", "error", err)
	}
}

func (w *Web) setSession(out http.ResponseWriter, request *http.Request, value string, age int) {
	http.SetCookie(out, &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: w.signing.isSecure(request),
	})
}

// explainSignIn answers with what kept a person from signing in; a nil error was answered
// already.
func (w *Web) explainSignIn(out http.ResponseWriter, request *http.Request, err error) {
	told, ok := errors.AsType[*ProblemError](err)
	switch {
	case err == nil:
	case ok:
		if told.Cause != nil {
			w.options.Logger.Error("sign in to the web page", "error", told.Cause)
		}
		w.askToSignIn(out, told.Status, told.Text)
	default:
		w.options.Logger.Error("sign in to the web page", "error", err)
		w.responder.renderFailure(out, request, http.StatusInternalServerError, "You could not be signed in. The log has the cause.")
	}
}

func (w *Web) askToSignIn(out http.ResponseWriter, status int, problem string) {
	if err := w.responder.renderPage(out, status, "sign-in", problem); err != nil {
		w.options.Logger.Error("ask to sign in", "error", err)
	}
}
