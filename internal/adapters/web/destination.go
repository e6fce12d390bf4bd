package web

import (
	"net/http"
	"regexp"
)

// destinationCookie holds the page that a person wanted before they had to sign in.
const destinationCookie = "cairn-destination"

// destinations are the pages that a person is sent on to after they signed in: conversations
// and documents, which others' messages lead to.
var destinations = regexp.MustCompile(`^/(t|source)/[A-Za-z0-9_-]+(/[A-Za-z0-9-]+)?$`)

// keepDestination remembers the page of a request until the person has signed in.
func (s *signing) keepDestination(out http.ResponseWriter, request *http.Request) {
	if destinations.MatchString(request.URL.Path) {
		s.setDestination(out, request, request.URL.Path, int(beginTime.Seconds()))
	}
}

// takeDestination gives the page that was kept, once; "/" where none was.
func (s *signing) takeDestination(out http.ResponseWriter, request *http.Request) string {
	cookie, err := request.Cookie(destinationCookie)
	if err != nil {
		return "/"
	}
	s.setDestination(out, request, "", -1)
	if !destinations.MatchString(cookie.Value) {
		return "/"
	}
	return cookie.Value
}

// setDestination sets a lax cookie: a person comes back by a link of the issuer's.
func (s *signing) setDestination(out http.ResponseWriter, request *http.Request, path string, age int) {
	http.SetCookie(out, &http.Cookie{
		Name: destinationCookie, Value: path, Path: "/sign-in/callback", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: s.isSecure(request),
	})
}
