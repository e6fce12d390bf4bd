package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/listen"
)

// personCookie holds a browser's secret, by which its person is known again. It is
// not the person's id: ids stand in logs and stores, the secret only in the browser.
const personCookie = "cairn-person"

// cookieAge is as long as browsers keep a cookie at most.
const cookieAge = 400 * 24 * 60 * 60

// requestPerson is who sends a request, "" for a browser that was given no secret yet.
func requestPerson(request *http.Request) chat.UserID {
	cookie, err := request.Cookie(personCookie)
	if err != nil || !threadID.MatchString(cookie.Value) {
		return ""
	}
	return personOf(cookie.Value)
}

func personOf(secret string) chat.UserID {
	hash := sha256.Sum256([]byte("cairn web person " + secret))
	return chat.UserID(hex.EncodeToString(hash[:16]))
}

// issueSecret gives a browser its secret.
func issueSecret(out http.ResponseWriter, request *http.Request) string {
	secret := rand.Text()
	http.SetCookie(out, &http.Cookie{
		Name: personCookie, Value: secret, Path: "/", MaxAge: cookieAge, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: isSecure(request),
	})
	return secret
}

// isSecure tells whether the browser reaches the page by https.
func isSecure(request *http.Request) bool {
	return request.TLS != nil || request.Header.Get("X-Forwarded-Proto") == "https"
}

// arrived marks the address to which comesFromElsewhere sends on.
const arrived = "arrived"

// comesFromElsewhere tells a visit that followed another site's link. A browser keeps
// a strict cookie back from it, so that a new secret would replace the person's own:
// the visit is first sent on from a page of ours.
func comesFromElsewhere(request *http.Request) bool {
	site := request.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && !request.URL.Query().Has(arrived)
}

// hostAllowed tells whether a Host header names this server: to listen at a loopback
// address means to serve this machine, and a name that a foreign site made to mean it
// is not one of its names.
func (w *Web) hostAllowed(host string) bool {
	name := listen.HostOf(host)
	if slices.ContainsFunc(w.options.Hosts, func(known string) bool { return strings.EqualFold(known, name) }) || listen.IsLoopbackHost(host) {
		return true
	}
	return !w.loopback && (net.ParseIP(name) != nil || len(w.options.Hosts) == 0)
}
