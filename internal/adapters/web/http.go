package web

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// maxMessage is the most bytes of a message. The form that carries it may be three
// times as long, as every byte may be percent-encoded.
const (
	maxMessage = 1 << 20
	maxForm    = 3*maxMessage + 4096
)

// patience is how long a form sent without scripts waits for the answer before it
// shows the page without it.
const patience = 2 * time.Minute

// pagePattern is the route of a conversation's page.
const pagePattern = "GET /t/{thread}"

func (w *Web) newHandler(ts *threads) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(out http.ResponseWriter, request *http.Request) {
		http.Redirect(out, request, "/t/"+newThreadID(), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /assets/{path...}", w.responder.serveAsset)
	mux.HandleFunc(pagePattern, w.withVisitor(w.inThread(ts, w.servePage)))
	mux.HandleFunc("GET /t/{thread}/events", w.inThread(ts, w.serveEvents))
	mux.HandleFunc("GET /t/{thread}/why/{place}", w.withVisitor(w.inThread(ts, w.serveWhy)))
	mux.HandleFunc("GET /t/{thread}/documents/{place}/{number}", w.inThread(ts, w.serveDocument))
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request, visit){
		"stop": w.serveStop, "retries": w.serveRetry, "ratings": w.serveRating,
	} {
		mux.HandleFunc("POST /t/{thread}/"+path, w.withForm(w.inThread(ts, serve)))
	}
	mux.HandleFunc("POST /t/{thread}/messages", w.withSender(w.inThread(ts, w.serveMessage)))
	manager{w}.registerRoutes(ts, mux)
	if w.options.Pins != nil {
		mux.HandleFunc("GET /t/{thread}/pins/{place}", w.withVisitor(w.inThread(ts, pinner{w}.serveDraft)))
		mux.HandleFunc("POST /t/{thread}/pins/{place}", w.withForm(w.inThread(ts, pinner{w}.servePin)))
	}
	if w.options.Sources != nil {
		w.sourceRoutes(mux)
	}
	if w.signing != nil {
		w.signInRoutes(mux)
	}
	if w.options.Operations != nil {
		mux.Handle("/operations", w.options.Operations)
		mux.Handle("/operations/", w.options.Operations)
	}
	if w.options.Pages != nil {
		for _, path := range []string{"/pages", "/pages/", "/page/"} {
			mux.HandleFunc(path, w.withIdentity(w.options.Pages))
		}
	}
	mux.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		w.responder.renderFailure(out, request, http.StatusNotFound, "There is no such page.")
	})
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		w.responder.renderFailure(out, request, http.StatusForbidden, "A request of another site was refused.")
	}))
	return w.withSecurity(compressed(sameOrigin.Handler(mux)))
}

// withSecurity sets the headers of every answer, and refuses names that a foreign site
// could have made to mean this machine.
func (w *Web) withSecurity(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		Secure(out.Header(), "no-referrer")
		if !w.hostAllowed(request.Host) {
			w.responder.renderFailure(out, request, http.StatusMisdirectedRequest, "This page is not served under that name. Use localhost, or have the name configured.")
			return
		}
		next.ServeHTTP(out, request)
	})
}

// withVisitor gives the visitors of a page their secret, or has them sign in, and first sends
// those on who come from elsewhere.
func (w *Web) withVisitor(next http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		switch {
		case w.findCaller(request).id != "":
		case comesFromElsewhere(request):
			if err := w.responder.renderPage(out, http.StatusOK, "arrive", request.URL.Path+"?"+arrived); err != nil {
				w.options.Logger.Error("send a visitor on", "error", err)
			}
			return
		case w.signing != nil:
			w.signing.keepDestination(out, request)
			http.Redirect(out, request, "/sign-in", http.StatusSeeOther)
			return
		default:
			request = request.Clone(request.Context())
			request.AddCookie(&http.Cookie{Name: personCookie, Value: issueSecret(out, request)})
		}
		next(out, request)
	}
}

// withSender checks that a known person sends a form.
func (w *Web) withSender(next http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		if w.findCaller(request).id == "" && w.signing != nil {
			w.responder.renderFailure(out, request, http.StatusForbidden, "You are not signed in any more. Load the page anew.")
			return
		}
		if w.findCaller(request).id == "" {
			w.responder.renderFailure(out, request, http.StatusForbidden, "Your browser sent no cookie, by which this page knows you again. Allow it cookies, and load the page anew.")
			return
		}
		next(out, request)
	}
}

// withForm checks what all forms have in common: that a known person sends them, as a
// form, within bounds.
func (w *Web) withForm(next http.HandlerFunc) http.HandlerFunc {
	return w.withSender(func(out http.ResponseWriter, request *http.Request) {
		if w.responder.parseForm(out, request) {
			next(out, request)
		}
	})
}

// parseForm reads a form into the request, or answers why it can't be read.
func (r *responder) parseForm(out http.ResponseWriter, request *http.Request) bool {
	if mediaType(request) != "application/x-www-form-urlencoded" {
		r.renderFailure(out, request, http.StatusUnsupportedMediaType, "A message is sent as a form (application/x-www-form-urlencoded).")
		return false
	}
	request.Body = http.MaxBytesReader(out, request.Body, maxForm)
	var tooLong *http.MaxBytesError
	switch err := request.ParseForm(); {
	case errors.As(err, &tooLong):
		r.renderFailure(out, request, http.StatusRequestEntityTooLarge, longMessage)
	case err != nil:
		r.renderFailure(out, request, http.StatusBadRequest, brokenForm)
	default:
		return true
	}
	return false
}

const brokenForm = "The message could not be read: its form is broken."

// mediaType is the type of a request's body, "" for none.
func mediaType(request *http.Request) string {
	kind, _, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// visit is one request in a conversation.
type visit struct {
	threads *threads
	thread  *thread
	person  chat.UserID
	caller  caller
	static  bool // the conversation is another person's, who shares it: nothing of it is followed
}

// canWrite tells whether the visitor may write: nobody has yet, or the visitor did.
func (in visit) canWrite() bool {
	in.thread.mu.Lock()
	defer in.thread.mu.Unlock()
	return in.thread.owner == "" || in.thread.owner == in.person
}

// inThread checks the thread's id and holds the thread while serve works with it.
func (w *Web) inThread(ts *threads, serve func(http.ResponseWriter, *http.Request, visit)) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		id := request.PathValue("thread")
		if !threadID.MatchString(id) {
			w.responder.renderFailure(out, request, http.StatusNotFound, "There is no such conversation.")
			return
		}
		t, err := ts.holdThread(request.Context(), id)
		if err != nil {
			w.responder.refuseForm(out, request, err)
			return
		}
		defer ts.releaseThread(t)
		by := w.findCaller(request)
		if !w.mayRead(by, t) {
			if request.Pattern == pagePattern && by.id != "" && (manager{w}).serveShared(out, request, by, t) {
				return
			}
			w.responder.renderFailure(out, request, http.StatusNotFound, "There is no such conversation.")
			return
		}
		if w.signing != nil {
			ctx, cancel := context.WithTimeout(request.Context(), by.until.Sub(w.options.Now()))
			defer cancel()
			request = request.WithContext(ctx)
		}
		serve(out, request, visit{threads: ts, thread: t, person: by.id, caller: by})
	}
}

func (w *Web) servePage(out http.ResponseWriter, request *http.Request, in visit) {
	v, err := w.pageView(request.Context(), in)
	if err == nil {
		err = w.responder.renderPage(out, http.StatusOK, "page", v)
	}
	if err != nil {
		w.options.Logger.Error("show conversation", "error", err)
		w.responder.renderFailure(out, request, http.StatusInternalServerError, "The conversation could not be shown.")
	}
}

func (w *Web) pageView(ctx context.Context, in visit) (pageView, error) {
	list, err := w.listView(ctx, in.threads, in.person, in.thread.id)
	if err != nil {
		return pageView{}, err
	}
	exchanges, seen, cut := in.thread.copyExchanges()
	v := pageView{
		Thread: in.thread.id, Seen: seen, Mine: in.canWrite(), List: list, Cut: cut,
		Suggestions: w.options.Suggestions, Stats: w.options.Stats, Person: in.caller.name, Pages: w.options.Pages != nil,
		Static: in.static,
	}
	if v.Mine {
		v.Attach = attacher{w}.view()
		if err := (manager{w}).addOffers(ctx, in, &v, len(exchanges) == 0); err != nil {
			return pageView{}, err
		}
	}
	for _, e := range exchanges {
		shown, err := w.exchangeViewOf(in, e)
		if err != nil {
			return pageView{}, err
		}
		v.Working = v.Working || shown.Working
		v.Exchanges = append(v.Exchanges, shown)
	}
	return v, nil
}

// copyExchanges gives copies of the exchanges, what a client has seen with them, and whether
// older ones were dropped.
func (t *thread) copyExchanges() (exchanges []*exchange, seen string, cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		exchanges = append(exchanges, e.copyExchange())
	}
	return exchanges, t.versionMark(t.version), t.cut
}
