package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/uploads"
	"github.com/cairn-bot/cairn/internal/chat"
)

// accepted is the answer to a form sent by the page's script.
type accepted struct {
	Message string `json:"message,omitempty"` // id of the exchange's element
	Error   string `json:"error,omitempty"`
}

func (w *Web) serveMessage(out http.ResponseWriter, request *http.Request, in visit) {
	files, ok := (attacher{w}).readForm(out, request, in)
	if !ok {
		return
	}
	accepted := false
	defer func() {
		if sent := request.PostForm.Get(againField) == ""; sent && !accepted {
			(attacher{w}).removeFiles(request.Context(), in, files)
		}
	}()
	message, picked, status, problem := readMessage(request, files)
	if problem != "" {
		w.responder.renderFailure(out, request, status, problem)
		return
	}
	if message.Collections, problem = (manager{w}).readCollections(request, in); problem != "" {
		w.responder.renderFailure(out, request, http.StatusBadRequest, problem)
		return
	}
	message.Author, message.Asker = in.person, in.caller.identity
	added, err := in.threads.submitMessage(in.thread, message, picked)
	if err != nil {
		w.responder.refuseForm(out, request, err)
		return
	}
	accepted = true
	w.answerAccepted(out, request, in, added)
}

func (w *Web) serveRetry(out http.ResponseWriter, request *http.Request, in visit) {
	again, err := in.threads.retryRun(in.thread, in.person, request.PostForm.Get("said"))
	if err != nil {
		w.responder.refuseForm(out, request, err)
		return
	}
	w.answerAccepted(out, request, in, again)
}

// serveStop ends what works or waits. The bot may not know yet of a message that was
// just handed over: that one's context ends.
func (w *Web) serveStop(out http.ResponseWriter, request *http.Request, in visit) {
	if !in.canWrite() {
		w.responder.refuseForm(out, request, errNotYours)
		return
	}
	ended := in.thread.workDone()
	stopped, err := w.options.Controls.Stop(request.Context(), chatID(in.thread.id), in.person)
	if err != nil {
		w.responder.refuseForm(out, request, err)
		return
	}
	if !stopped {
		in.thread.stopWork()
	}
	if !isScripted(request) && ended != nil {
		w.awaitExchange(out, request, ended)
	}
	if err := in.threads.refreshThread(request.Context(), in.thread); err != nil { // a question that waited is closed
		w.responder.refuseForm(out, request, err)
		return
	}
	in.threads.people.notifyChange(in.person)
	w.answerDone(out, request, in)
}

func (w *Web) serveRating(out http.ResponseWriter, request *http.Request, in visit) {
	at, verdict := request.PostForm.Get("said"), chat.Verdict(request.PostForm.Get("verdict"))
	switch verdict {
	case chat.Unrated, chat.Up, chat.Down:
	default:
		w.responder.renderFailure(out, request, http.StatusBadRequest, "A rating is up, down, or empty to take it back.")
		return
	}
	rating := chat.Rating{By: in.person, Verdict: verdict, At: w.options.Now()}
	if verdict == chat.Down {
		rating.Reason = strings.TrimSpace(cmp.Or(request.PostForm.Get("reason"), request.PostForm.Get("words")))
	}
	run, err := in.thread.findRated(in.person, at)
	if err == nil {
		err = w.options.Controls.Rate(request.Context(), run, rating)
	}
	if err != nil {
		w.responder.refuseForm(out, request, err)
		return
	}
	in.thread.showRating(at, rating)
	w.answerDone(out, request, in)
}

// answerAccepted answers a form whose message is worked at from now on. Without scripts a
// person waits for the end of it.
func (w *Web) answerAccepted(out http.ResponseWriter, request *http.Request, in visit, e *exchange) {
	if isScripted(request) {
		w.responder.sendJSON(out, http.StatusAccepted, accepted{Message: domID(e.id)})
		return
	}
	w.awaitExchange(out, request, in.thread.exchangeDone(e))
	http.Redirect(out, request, "/t/"+in.thread.id+"#"+domID(e.id), http.StatusSeeOther)
}

func (w *Web) answerDone(out http.ResponseWriter, request *http.Request, in visit) {
	if isScripted(request) {
		w.responder.sendJSON(out, http.StatusAccepted, accepted{})
		return
	}
	http.Redirect(out, request, "/t/"+in.thread.id, http.StatusSeeOther)
}

// workDone gives a channel that is closed once what is worked at is over, nil where
// nothing is.
func (t *thread) workDone() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if e.state == working {
			return e.ended
		}
	}
	return nil
}

// exchangeDone is closed once what works in an exchange now is over.
func (t *thread) exchangeDone(e *exchange) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return e.ended
}

// awaitExchange waits for the end of an exchange, within bounds.
func (w *Web) awaitExchange(out http.ResponseWriter, request *http.Request, ended <-chan struct{}) {
	ctx, cancel := context.WithTimeout(request.Context(), patience)
	defer cancel()
	if err := http.NewResponseController(out).SetWriteDeadline(time.Now().Add(patience + writeTime)); err != nil {
		w.options.Logger.Error("allow time for an answer", "error", err)
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// isScripted tells a request of the page's script from a form's.
func isScripted(request *http.Request) bool {
	return request.Header.Get("Accept") == "application/json"
}

// readMessage reads the form: text and depth, or question and choice. problem is what
// to tell the person, with the status, when it can't be used.
func readMessage(request *http.Request, files []chat.File) (message chat.Message, picked *pick, status int, problem string) {
	form := request.PostForm
	if question := form.Get("question"); question != "" {
		choice, err := strconv.Atoi(form.Get("choice"))
		if err != nil {
			return message, nil, http.StatusBadRequest, "The choice could not be read: it is no number."
		}
		return message, &pick{question, choice}, 0, ""
	}
	if message.Depth = chat.Depth(form.Get("depth")); !isDepth(message.Depth) {
		return message, nil, http.StatusBadRequest, noDepth
	}
	message.Text, message.Files = formText(form.Get("text")), files
	switch {
	case message.Text == "" && len(files) == 0:
		return message, nil, http.StatusBadRequest, "The message is empty. Write a question first."
	case len(message.Text) > maxMessage:
		return message, nil, http.StatusRequestEntityTooLarge, longMessage
	}
	return message, nil, 0, ""
}

// formText is a text of a form, as messages have it.
func formText(value string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\r\n", "\n"))
}

// isDepth tells whether an answer can have a depth, or "" for the one that is configured.
func isDepth(depth chat.Depth) bool {
	return slices.Contains([]chat.Depth{"", chat.Brief, chat.Detailed, chat.Comprehensive}, depth)
}

const noDepth = "An answer is brief, detailed or comprehensive."

const longMessage = "The message is longer than 1 MiB. Shorten it."

// refusals are the errors that people may read, with their status.
var refusals = []struct {
	err    error
	status int
}{
	{uploads.ErrFull, http.StatusInsufficientStorage}, {errQueueFull, http.StatusTooManyRequests}, {errNoChoice, http.StatusConflict}, {errNoRun, http.StatusConflict}, {errNotLast, http.StatusConflict},
	{errNoDocument, http.StatusNotFound}, {errNotKept, http.StatusGone},
	{errNotYours, http.StatusForbidden}, {errClosing, http.StatusServiceUnavailable}, {errCrowded, http.StatusServiceUnavailable},
	{chat.ErrForbidden, http.StatusForbidden}, {chat.ErrUnknownRun, http.StatusNotFound}, {chat.ErrRunOver, http.StatusConflict},
}

// errorSentence makes an error that people may read a sentence.
func errorSentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
