package web

import (
	"context"
	"net/http"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Visitor is who sends a request to a handler of Options.
type Visitor struct {
	ID chat.UserID
	// Identity is of one who signed in; nil where nobody does.
	Identity *chat.Identity
	Name     string // as people read it; "" where nobody signs in
}

// visitorKey is the key of a Visitor in a context.
type visitorKey struct{}

// VisitorFrom gives who sends the request of a context; the zero Visitor for nobody.
func VisitorFrom(ctx context.Context) Visitor {
	visitor, _ := ctx.Value(visitorKey{}).(Visitor)
	return visitor
}

// WithVisitor gives a context for a request that somebody sends.
func WithVisitor(ctx context.Context, visitor Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, visitor)
}

// withIdentity tells a handler who sends a request. One who is not known is given a secret, or is
// sent to sign in, where they ask for a page, and is refused elsewhere. What a request takes
// ends with the session of its sender.
func (w *Web) withIdentity(next http.Handler) http.HandlerFunc {
	identified := func(out http.ResponseWriter, request *http.Request) {
		by := w.findCaller(request)
		ctx := WithVisitor(request.Context(), Visitor{by.id, by.identity, by.name})
		if w.signing != nil {
			limited, cancel := context.WithTimeout(ctx, by.until.Sub(w.options.Now()))
			defer cancel()
			ctx = limited
		}
		next.ServeHTTP(out, request.WithContext(ctx))
	}
	return func(out http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodGet && !isScripted(request) {
			w.withVisitor(identified)(out, request)
			return
		}
		if w.findCaller(request).id == "" {
			w.responder.renderFailure(out, request, http.StatusForbidden, "You are not known here any more. Load the page anew.")
			return
		}
		identified(out, request)
	}
}
