package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Times of a sign-in at the issuer.
const (
	beginTime   = 10 * time.Minute // for a person to sign in there
	issuerLimit = 10 * time.Second // for the issuer to answer
)

// IssuerOptions are what an Issuer needs; all are required.
type IssuerOptions struct {
	Issuer, ClientID, ClientSecret string
	// Back is the address that people come back to, and Path its path: the cookie of a
	// sign-in under way is sent there alone.
	Back, Path string
	Cookie     string // its name
	Sealer     *Sealer
	Secure     func(request *http.Request) bool // whether the browser reaches the page by https
	Now        func() time.Time
}

// Person is who signed in.
type Person struct {
	Subject string
	// Email is the address that the issuer has verified, Unverified one that it has not.
	Email, Unverified string
	Groups            []string
}

// groupPrincipal is before the issuer's name of a group in the name of its principal.
const groupPrincipal = "group:oidc:"

// Identity is what decides whom answers are for: the verified address, and the groups as
// "group:oidc:NAME".
func (p Person) Identity() *chat.Identity {
	identity := &chat.Identity{Name: p.Email, Email: p.Email}
	for _, group := range p.Groups {
		identity.Holds = append(identity.Holds, groupPrincipal+group)
	}
	return identity
}

// ProblemError says why somebody was not signed in, in words for them. Cause is for the log; nil
// where there is no more to say.
type ProblemError struct {
	Status int
	Text   string
	Cause  error
}

// Error implements error.
func (e *ProblemError) Error() string { return e.Text }

// Unwrap gives the cause.
func (e *ProblemError) Unwrap() error { return e.Cause }

// Issuer is the OpenID Connect provider that people sign in with, by an authorization code with
// PKCE, state and nonce; what a browser keeps meanwhile is sealed. It is asked for their groups where
// it knows that scope. What it has to say of itself is asked for with the first sign-in, so that
// Cairn starts without it. Its methods may be called concurrently.
type Issuer struct {
	options IssuerOptions
	client  *http.Client

	mu    sync.Mutex
	ready *provider // nil until it answered
}

// provider is an issuer that has said where what is.
type provider struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
}

// begun is a sign-in that was begun at the issuer.
type begun struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	Until    time.Time `json:"until"`
}

// NewIssuer gives an issuer that was not asked yet.
func NewIssuer(options IssuerOptions) *Issuer {
	return &Issuer{options: options, client: &http.Client{Timeout: issuerLimit}}
}

// provider gives what the issuer says of itself, for which it is asked until it has answered
// once.
func (i *Issuer) provider(ctx context.Context) (*provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ready != nil {
		return i.ready, nil
	}
	ready, err := i.ask(ctx)
	if err != nil {
		return nil, &ProblemError{http.StatusBadGateway, "The issuer can't be reached. The log has the cause.", err}
	}
	i.ready = ready
	return ready, nil
}

func (i *Issuer) ask(ctx context.Context) (*provider, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.options.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask the issuer about itself: %w", err)
	}
	var tells struct {
		Scopes []string `json:"scopes_supported"`
	}
	if err := found.Claims(&tells); err != nil {
		return nil, fmt.Errorf("read what the issuer says about itself: %w", err)
	}
	scopes := []string{oidc.ScopeOpenID, "email"}
	if slices.Contains(tells.Scopes, "groups") {
		scopes = append(scopes, "groups")
	}
	return &provider{
		oauth: oauth2.Config{
			ClientID: i.options.ClientID, ClientSecret: i.options.ClientSecret, Endpoint: found.Endpoint(),
			RedirectURL: i.options.Back, Scopes: scopes,
		},
		verifier: found.Verifier(&oidc.Config{ClientID: i.options.ClientID}),
	}, nil
}

// Begin sends a person to the issuer. On an error nothing was answered yet.
func (i *Issuer) Begin(out http.ResponseWriter, request *http.Request) error {
	at, err := i.provider(request.Context())
	if err != nil {
		return err
	}
	b := begun{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Until: i.options.Now().Add(beginTime)}
	sealed, err := i.options.Sealer.Seal(i.options.Cookie, b)
	if err != nil {
		return err
	}
	i.setCookie(out, request, sealed, int(beginTime.Seconds()))
	http.Redirect(out, request, at.oauth.AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier)), http.StatusSeeOther)
	return nil
}

// setCookie is lax: a person comes back by a link of the issuer's.
func (i *Issuer) setCookie(out http.ResponseWriter, request *http.Request, value string, age int) {
	http.SetCookie(out, &http.Cookie{
		Name: i.options.Cookie, Value: value, Path: i.options.Path, MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: i.options.Secure(request),
	})
}

// Return checks what a person came back with, and tells who it is. A sign-in serves once.
// The error is a *ProblemError where the person was not signed in.
func (i *Issuer) Return(out http.ResponseWriter, request *http.Request) (Person, error) {
	i.setCookie(out, request, "", -1)
	b, err := i.begun(request)
	if err != nil {
		return Person{}, err
	}
	query := request.URL.Query()
	if refused := query.Get("error"); refused != "" {
		return Person{}, &ProblemError{http.StatusForbidden, "The issuer did not sign you in: " + shorten.Text(markup.CleanLine(refused), maxShort) + ".", nil}
	}
	at, err := i.provider(request.Context())
	if err != nil {
		return Person{}, err
	}
	ctx := oidc.ClientContext(request.Context(), i.client)
	tokens, err := at.oauth.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return Person{}, &ProblemError{http.StatusForbidden, "The issuer did not confirm the sign-in. Try again.", withoutBody(err)}
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := at.verifier.Verify(ctx, raw)
	if err != nil {
		return Person{}, &ProblemError{http.StatusForbidden, "What the issuer says of you does not hold: it is for another program, too old, or not signed by the issuer.", err}
	}
	if !sameText(token.Nonce, b.Nonce) {
		return Person{}, &ProblemError{http.StatusForbidden, "What the issuer says of you belongs to another sign-in. Try again.", nil}
	}
	return personOfToken(token)
}

// begun reads what the sign-in that comes back was begun with.
func (i *Issuer) begun(request *http.Request) (begun, error) {
	stale := &ProblemError{http.StatusForbidden, "This sign-in was not begun here, or took too long. Try again.", nil}
	cookie, err := request.Cookie(i.options.Cookie)
	if err != nil {
		return begun{}, stale
	}
	var b begun
	if err := i.options.Sealer.Open(i.options.Cookie, cookie.Value, &b); err != nil {
		return begun{}, stale
	}
	if b.State == "" || !sameText(request.URL.Query().Get("state"), b.State) || !i.options.Now().Before(b.Until) {
		return begun{}, stale
	}
	return b, nil
}

// sameText compares in a time that tells nothing of where, and how long, the texts differ.
func sameText(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// withoutBody is what failed in the exchange, without what the issuer sent along.
func withoutBody(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the issuer answered %s (%s)", refused.Response.Status, shorten.Text(markup.CleanLine(refused.ErrorCode), maxShort))
	}
	return err
}

// claims are what an issuer says of a person.
type claims struct {
	Email    string          `json:"email"`
	Verified json.RawMessage `json:"email_verified"` // some issuers give it as a text
	Groups   json.RawMessage `json:"groups"`         // a list, where there are any
}

func personOfToken(token *oidc.IDToken) (Person, error) {
	var said claims
	if err := token.Claims(&said); err != nil {
		return Person{}, fmt.Errorf("read what the issuer says of a person: %w", err)
	}
	person := Person{Subject: token.Subject}
	if bytes.Equal(said.Verified, []byte("true")) || bytes.Equal(said.Verified, []byte(`"true"`)) {
		person.Email = said.Email
	} else {
		person.Unverified = said.Email
	}
	if json.Unmarshal(said.Groups, &person.Groups) != nil {
		person.Groups = nil // no list: none that could be counted
	}
	person.Groups = bounded(person.Groups)
	return person, nil
}

// maxGroups bounds the groups of a person, in bytes: a cookie is to hold them.
const maxGroups = 2000

// bounded are the first groups, as many as a cookie holds: without the others a person may
// do and see less.
func bounded(groups []string) []string {
	size := 0
	for i, group := range groups {
		if size += len(group) + 3; size > maxGroups {
			return groups[:i]
		}
	}
	return groups
}

// maxShort is how much is repeated of what an issuer says, in characters.
const maxShort = 60
