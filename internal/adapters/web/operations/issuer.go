package operations

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/audit"
)

// beginCookie holds what a sign-in that was begun at the issuer must come back with, sealed.
const beginCookie = "cairn-operations-begin"

func (a *access) newIssuer() *web.Issuer {
	signIn := a.signIn
	return web.NewIssuer(web.IssuerOptions{
		Issuer: signIn.Issuer, ClientID: signIn.ClientID, ClientSecret: signIn.ClientSecret,
		Back: a.url + Root + "/callback", Path: Root + "/callback", Cookie: beginCookie,
		Sealer: a.sealer, Secure: a.isSecure, Now: a.now,
	})
}

func isGroup(allowed string) bool { return !strings.Contains(allowed, "@") }

// serveBegin sends a person to the issuer.
func (a *access) serveBegin(out http.ResponseWriter, request *http.Request) {
	err := a.issuer.Begin(out, request)
	if told, ok := errors.AsType[*web.ProblemError](err); ok {
		a.logProblem(told)
		a.askToSignIn(out, request, told.Status, told.Text)
	} else if err != nil {
		a.responder.refuseRequest(out, request, err)
	}
}

func (a *access) logProblem(told *web.ProblemError) {
	if told.Cause != nil {
		a.logger.Error("sign in to the operations page", "error", told.Cause)
	}
}

// serveCallback signs in a person who comes back from the issuer.
func (a *access) serveCallback(out http.ResponseWriter, request *http.Request) {
	found, err := a.issuer.Return(out, request)
	var person signed
	if err == nil {
		person, err = a.signIn.admit(found)
	}
	if told, ok := errors.AsType[*web.ProblemError](err); ok {
		a.logProblem(told)
		if err := a.recordEvent(request, nameOf(person.Who), audit.SignIn, audit.Refused); err != nil {
			a.responder.refuseRequest(out, request, err)
			return
		}
		a.askToSignIn(out, request, told.Status, told.Text)
		return
	}
	if err == nil {
		err = a.startSession(out, request, person)
	}
	if err != nil {
		a.responder.refuseRequest(out, request, err)
		return
	}
	// A redirect would still count as the issuer's link, from which strict cookies are kept.
	a.responder.continueAt(out, request, Root)
}

func nameOf(person string) string {
	if person == "" {
		return whoUnknown
	}
	return person
}

// admit tells who a person is, and whether they are allowed. The name is known of one who is
// refused, too.
func (s SignIn) admit(found web.Person) (signed, error) {
	person := signed{Who: found.Subject, Email: found.Email, Groups: found.Groups}
	if found.Email != "" {
		person.Who = found.Email
	}
	unverified := false
	for _, allowed := range s.Allowed {
		switch {
		case isGroup(allowed) && slices.Contains(found.Groups, allowed), !isGroup(allowed) && strings.EqualFold(allowed, found.Email):
			return person, nil
		case !isGroup(allowed) && strings.EqualFold(allowed, found.Unverified):
			unverified = true
		}
	}
	if unverified {
		return person, &web.ProblemError{Status: http.StatusForbidden, Text: "The issuer has not verified your e-mail address."}
	}
	return person, &web.ProblemError{
		Status: http.StatusForbidden, Text: "You may not open this page. Ask those who run Cairn to add you to operations.oidc_allowed.",
	}
}
