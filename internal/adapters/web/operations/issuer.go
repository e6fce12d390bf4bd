package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"cairn/internal/audit"
	"cairn/internal/chat/markup"
)

// beginCookie holds what a sign-in that was begun at the issuer must come back with, sealed.
const beginCookie = "cairn-operations-begin"

// Times of a sign-in at the issuer.
const (
	beginTime   = 10 * time.Minute // for a person to sign in there
	issuerLimit = 10 * time.Second // for the issuer to answer
)

// begun is a sign-in that was begun at the issuer.
type begun struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	Until    time.Time `json:"until"`
}

// issuer is the OpenID Connect provider that people sign in with. What it has to say of
// itself is asked for with the first sign-in, so that Cairn starts without it.
type issuer struct {
	signIn SignIn
	back   string // address that people come back to
	client *http.Client

	mu    sync.Mutex
	ready *provider // nil until it answered
}

// provider is an issuer that has said where what is.
type provider struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
}

func newIssuer(signIn SignIn, back string) *issuer {
	return &issuer{signIn: signIn, back: back, client: &http.Client{Timeout: issuerLimit}}
}

// provider gives what the issuer says of itself, for which it is asked until it has answered
// once.
func (i *issuer) provider(ctx context.Context) (*provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ready != nil {
		return i.ready, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.signIn.Issuer)
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
	if slices.Contains(tells.Scopes, "groups") && slices.ContainsFunc(i.signIn.Allowed, isGroup) {
		scopes = append(scopes, "groups")
	}
	i.ready = &provider{
		oauth: oauth2.Config{
			ClientID: i.signIn.ClientID, ClientSecret: i.signIn.ClientSecret, Endpoint: found.Endpoint(),
			RedirectURL: i.back, Scopes: scopes,
		},
		verifier: found.Verifier(&oidc.Config{ClientID: i.signIn.ClientID}),
	}
	return i.ready, nil
}

func isGroup(allowed string) bool { return !strings.Contains(allowed, "@") }

// serveBegin sends a person to the issuer.
func (p *Page) serveBegin(out http.ResponseWriter, request *http.Request) {
	at, err := p.issuer.provider(request.Context())
	if err != nil {
		p.options.Logger.Error("sign in to the operations page", "error", err)
		p.askToSignIn(out, request, http.StatusBadGateway, "The issuer can't be reached. The log has the cause.")
		return
	}
	b := begun{State: secret(), Nonce: secret(), Verifier: oauth2.GenerateVerifier(), Until: p.now().Add(beginTime)}
	sealed, err := p.sealer.seal(beginCookie, b)
	if err != nil {
		p.refuse(out, request, err)
		return
	}
	// Lax: the person comes back by a link of the issuer's.
	http.SetCookie(out, &http.Cookie{
		Name: beginCookie, Value: sealed, Path: Root + "/callback", MaxAge: int(beginTime.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: p.isSecure(request),
	})
	http.Redirect(out, request, at.oauth.AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier)), http.StatusSeeOther)
}

// serveCallback signs in a person who comes back from the issuer.
func (p *Page) serveCallback(out http.ResponseWriter, request *http.Request) {
	http.SetCookie(out, &http.Cookie{
		Name: beginCookie, Path: Root + "/callback", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: p.isSecure(request),
	})
	person, err := p.returned(request)
	if told, ok := errors.AsType[*problem](err); ok {
		if err := p.record(request, nameOf(person.Who), audit.SignIn, audit.Refused); err != nil {
			p.refuse(out, request, err)
			return
		}
		p.askToSignIn(out, request, told.status, told.text)
		return
	}
	if err == nil {
		err = p.signIn(out, request, person)
	}
	if err != nil {
		p.refuse(out, request, err)
		return
	}
	// A redirect would still count as the issuer's link, from which strict cookies are kept.
	p.continueAt(out, request, Root)
}

func nameOf(person string) string {
	if person == "" {
		return whoUnknown
	}
	return person
}

// returned checks what a person came back with, and tells who it is. The name may be known
// of one who is refused.
func (p *Page) returned(request *http.Request) (person signed, err error) {
	b, err := p.begun(request)
	if err != nil {
		return signed{}, err
	}
	query := request.URL.Query()
	if refused := query.Get("error"); refused != "" {
		return signed{}, &problem{http.StatusForbidden, "The issuer did not sign you in: " + short(refused, 60) + "."}
	}
	at, err := p.issuer.provider(request.Context())
	if err != nil {
		p.options.Logger.Error("sign in to the operations page", "error", err)
		return signed{}, &problem{http.StatusBadGateway, "The issuer can't be reached. The log has the cause."}
	}
	ctx := oidc.ClientContext(request.Context(), p.issuer.client)
	tokens, err := at.oauth.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(b.Verifier))
	if err != nil {
		p.options.Logger.Error("sign in to the operations page", "error", withoutBody(err))
		return signed{}, &problem{http.StatusForbidden, "The issuer did not confirm the sign-in. Try again."}
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := at.verifier.Verify(ctx, raw)
	if err != nil {
		p.options.Logger.Error("sign in to the operations page", "error", err)
		return signed{}, &problem{http.StatusForbidden, "What the issuer says of you does not hold: it is for another program, too old, or not signed by the issuer."}
	}
	if !sameText(token.Nonce, b.Nonce) {
		return signed{}, &problem{http.StatusForbidden, "What the issuer says of you belongs to another sign-in. Try again."}
	}
	return p.issuer.admits(token)
}

// begun reads what the sign-in that comes back was begun with.
func (p *Page) begun(request *http.Request) (begun, error) {
	stale := &problem{http.StatusForbidden, "This sign-in was not begun here, or took too long. Try again."}
	cookie, err := request.Cookie(beginCookie)
	if err != nil {
		return begun{}, stale
	}
	var b begun
	if err := p.sealer.open(beginCookie, cookie.Value, &b); err != nil {
		return begun{}, stale
	}
	if b.State == "" || !sameText(request.URL.Query().Get("state"), b.State) || !p.now().Before(b.Until) {
		return begun{}, stale
	}
	return b, nil
}

// withoutBody is what failed in the exchange, without what the issuer sent along.
func withoutBody(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the issuer answered %s (%s)", refused.Response.Status, short(refused.ErrorCode, 60))
	}
	return err
}

// claims are what an issuer says of a person.
type claims struct {
	Email    string          `json:"email"`
	Verified json.RawMessage `json:"email_verified"` // some issuers give it as a text
	Groups   json.RawMessage `json:"groups"`         // a list, where there are any
}

// admits tells who a person is, by the name that lets them in.
func (i *issuer) admits(token *oidc.IDToken) (signed, error) {
	var said claims
	if err := token.Claims(&said); err != nil {
		return signed{}, fmt.Errorf("read what the issuer says of a person: %w", err)
	}
	verified := bytes.Equal(said.Verified, []byte("true")) || bytes.Equal(said.Verified, []byte(`"true"`))
	person := signed{Who: token.Subject}
	if verified && said.Email != "" {
		person.Who, person.Email = said.Email, said.Email
	}
	var groups []string
	if json.Unmarshal(said.Groups, &groups) != nil {
		groups = nil // no list: none that could be allowed
	}
	person.Groups = boundedGroups(groups)
	unverified := false
	for _, allowed := range i.signIn.Allowed {
		switch {
		case isGroup(allowed) && slices.Contains(groups, allowed):
			return person, nil
		case !isGroup(allowed) && strings.EqualFold(allowed, said.Email):
			if verified {
				return person, nil
			}
			unverified = true
		}
	}
	if unverified {
		return person, &problem{http.StatusForbidden, "The issuer has not verified your e-mail address."}
	}
	return person, &problem{http.StatusForbidden, "You may not open this page. Ask those who run Cairn to add you to operations.oidc_allowed."}
}

// maxGroups bounds the groups of a person that a cookie holds, in bytes.
const maxGroups = 2000

// boundedGroups are the first groups, as many as a cookie holds: without the others a person
// sees less.
func boundedGroups(groups []string) []string {
	size := 0
	for i, group := range groups {
		if size += len(group) + 3; size > maxGroups {
			return groups[:i]
		}
	}
	return groups
}

// short is the beginning of a text on one line.
func short(text string, letters int) string {
	runes := []rune(markup.CleanLine(text))
	if len(runes) <= letters {
		return string(runes)
	}
	return string(runes[:letters]) + "…"
}
