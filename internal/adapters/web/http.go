package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cairn/internal/chat"
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

func (w *Web) routes(ts *threads) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(out http.ResponseWriter, request *http.Request) {
		http.Redirect(out, request, "/t/"+newThreadID(), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /assets/{name}", w.serveAsset)
	mux.HandleFunc("GET /t/{thread}", w.inThread(ts, w.servePage))
	mux.HandleFunc("GET /t/{thread}/events", w.inThread(ts, w.serveEvents))
	mux.HandleFunc("POST /t/{thread}/messages", w.inThread(ts, func(out http.ResponseWriter, request *http.Request, t *thread) {
		w.serveMessage(out, request, ts, t)
	}))
	mux.HandleFunc("POST /t/{thread}/stop", w.inThread(ts, w.serveStop))
	mux.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		w.fail(out, request, http.StatusNotFound, "There is no such page.")
	})
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		w.fail(out, request, http.StatusForbidden, "A request of another site was refused.")
	}))
	return w.secured(sameOrigin.Handler(mux))
}

// policy lets the page load its own files and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secured sets the headers of every answer, and refuses names that a foreign site
// could have made to mean this machine.
func (w *Web) secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		header := out.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if w.loopback && !loopbackName(request.Host) {
			w.fail(out, request, http.StatusMisdirectedRequest, "This page is served to this machine only, as localhost or 127.0.0.1.")
			return
		}
		next.ServeHTTP(out, request)
	})
}

// loopbackName tells whether a Host header, with or without a port, is a name of this
// machine that needs no name server.
func loopbackName(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// inThread checks the thread's id and holds the thread while serve works with it.
func (w *Web) inThread(ts *threads, serve func(http.ResponseWriter, *http.Request, *thread)) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		id := request.PathValue("thread")
		if !threadID.MatchString(id) {
			w.fail(out, request, http.StatusNotFound, "There is no such conversation.")
			return
		}
		t, err := ts.hold(request.Context(), id)
		switch {
		case errors.Is(err, errCrowded):
			w.fail(out, request, http.StatusServiceUnavailable, sentence(err))
		case err != nil:
			w.options.Logger.Error("open conversation", "error", err)
			w.fail(out, request, http.StatusInternalServerError, "The conversation could not be read. Try again in a minute.")
		default:
			defer ts.release(t)
			serve(out, request, t)
		}
	}
}

// sentence makes an error that people may read a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (w *Web) servePage(out http.ResponseWriter, request *http.Request, t *thread) {
	v, err := w.pageView(t)
	if err == nil {
		err = w.render(out, http.StatusOK, "page", v)
	}
	if err != nil {
		w.options.Logger.Error("show conversation", "error", err)
		w.fail(out, request, http.StatusInternalServerError, "The conversation could not be shown.")
	}
}

func (w *Web) pageView(t *thread) (pageView, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := pageView{Thread: t.id, Seen: t.mark(t.version), Cut: t.cut, Suggestions: w.options.Suggestions, Stats: w.options.Stats}
	for _, e := range t.exchanges {
		shown, err := w.view(t.id, e)
		if err != nil {
			return pageView{}, err
		}
		v.Working = v.Working || shown.Working
		v.Exchanges = append(v.Exchanges, shown)
	}
	return v, nil
}

// render sends a template, or nothing at all when it fails.
func (w *Web) render(out http.ResponseWriter, status int, name string, view any) error {
	var page bytes.Buffer
	if err := w.page.ExecuteTemplate(&page, name, view); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteHeader(status)
	if _, err := out.Write(page.Bytes()); err != nil {
		w.options.Logger.Debug("send page", "error", err)
	}
	return nil
}

// accepted is the answer to a message sent by the page's script.
type accepted struct {
	Message string `json:"message,omitempty"` // id of the exchange's element
	Error   string `json:"error,omitempty"`
}

func (w *Web) serveMessage(out http.ResponseWriter, request *http.Request, ts *threads, t *thread) {
	message, picked, status, problem := readMessage(out, request)
	if problem != "" {
		w.fail(out, request, status, problem)
		return
	}
	added, err := ts.submit(t, message, picked)
	switch {
	case errors.Is(err, errQueueFull):
		w.fail(out, request, http.StatusTooManyRequests, sentence(err))
		return
	case errors.Is(err, errNoChoice):
		w.fail(out, request, http.StatusConflict, sentence(err))
		return
	case err != nil:
		w.fail(out, request, http.StatusServiceUnavailable, sentence(err))
		return
	}
	if scripted(request) {
		w.sendJSON(out, http.StatusAccepted, accepted{Message: domID(added.id)})
		return
	}
	w.await(out, request, added)
	http.Redirect(out, request, "/t/"+t.id+"#"+domID(added.id), http.StatusSeeOther)
}

// await waits for the end of an exchange, within bounds.
func (w *Web) await(out http.ResponseWriter, request *http.Request, e *exchange) {
	ctx, cancel := context.WithTimeout(request.Context(), patience)
	defer cancel()
	if err := http.NewResponseController(out).SetWriteDeadline(time.Now().Add(patience + writeTime)); err != nil {
		w.options.Logger.Error("allow time for an answer", "error", err)
	}
	select {
	case <-e.ended:
	case <-ctx.Done():
	}
}

// scripted tells a request of the page's script from a form's.
func scripted(request *http.Request) bool {
	return request.Header.Get("Accept") == "application/json"
}

// readMessage reads the form: text and depth, or question and choice. problem is what
// to tell the person, with the status, when it can't be used.
func readMessage(out http.ResponseWriter, request *http.Request) (message chat.Message, picked *pick, status int, problem string) {
	kind, _, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return message, nil, http.StatusUnsupportedMediaType, "A message is sent as a form (application/x-www-form-urlencoded)."
	}
	request.Body = http.MaxBytesReader(out, request.Body, maxForm)
	var tooLong *http.MaxBytesError
	if err := request.ParseForm(); errors.As(err, &tooLong) {
		return message, nil, http.StatusRequestEntityTooLarge, longMessage
	} else if err != nil {
		return message, nil, http.StatusBadRequest, "The message could not be read: its form is broken."
	}
	form := request.PostForm
	if question := form.Get("question"); question != "" {
		choice, err := strconv.Atoi(form.Get("choice"))
		if err != nil {
			return message, nil, http.StatusBadRequest, "The choice could not be read: it is no number."
		}
		return message, &pick{question, choice}, 0, ""
	}
	message.Depth = chat.Depth(form.Get("depth"))
	switch message.Depth {
	case "", chat.Brief, chat.Detailed, chat.Comprehensive:
	default:
		return message, nil, http.StatusBadRequest, "An answer is brief, detailed or comprehensive."
	}
	text := strings.ToValidUTF8(form.Get("text"), "\uFFFD")
	message.Text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case message.Text == "":
		return message, nil, http.StatusBadRequest, "The message is empty. Write a question first."
	case len(message.Text) > maxMessage:
		return message, nil, http.StatusRequestEntityTooLarge, longMessage
	}
	return message, nil, 0, ""
}

const longMessage = "The message is longer than 1 MiB. Shorten it."

func (w *Web) serveStop(out http.ResponseWriter, request *http.Request, t *thread) {
	t.stop()
	if scripted(request) {
		w.sendJSON(out, http.StatusAccepted, accepted{})
		return
	}
	http.Redirect(out, request, "/t/"+t.id, http.StatusSeeOther)
}

func (w *Web) sendJSON(out http.ResponseWriter, status int, answer accepted) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		w.options.Logger.Debug("send answer", "error", err)
	}
}

// fail tells what is wrong, as the one who asks reads it.
func (w *Web) fail(out http.ResponseWriter, request *http.Request, status int, problem string) {
	if scripted(request) {
		w.sendJSON(out, status, accepted{Error: problem})
		return
	}
	if err := w.render(out, status, "problem", problem); err != nil {
		w.options.Logger.Error("show problem", "error", err)
		http.Error(out, problem, status)
	}
}
