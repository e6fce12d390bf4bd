package web

import (
	"errors"
	"net/http"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// Bounds of what is pinned, in letters, as the form has them.
const (
	maxPinQuestion = 500
	maxPinText     = 20_000
)

// draftView is the page on which an answer is edited before it is pinned.
type draftView struct {
	Thread, Place        string
	Question, Text       string
	MaxQuestion, MaxText int
	Problem              string // why it is not pinned
	Done                 string // what comes of it, once it is pinned
}

// pinner pins answers of conversations.
type pinner struct{ web *Web }

// address is that of the page on which the answer at a place is pinned; "" where none can be.
func (p pinner) address(thread, place string) string {
	if p.web.options.Pins == nil {
		return ""
	}
	return "/t/" + thread + "/pins/" + place
}

// serveDraft shows the answer at a place to somebody who may pin it.
func (p pinner) serveDraft(out http.ResponseWriter, request *http.Request, in visit) {
	run, err := in.thread.findRated(in.person, request.PathValue("place"))
	var draft chat.PinDraft
	if err == nil {
		draft, err = p.web.options.Pins.DraftPin(request.Context(), run, p.curatorOf(in))
	}
	p.showDraft(out, request, in, pinned{draft: draft, err: err})
}

// servePin pins the answer at a place, as the form has it.
func (p pinner) servePin(out http.ResponseWriter, request *http.Request, in visit) {
	draft := chat.PinDraft{Question: formText(request.PostForm.Get("question")), Text: formText(request.PostForm.Get("text"))}
	run, err := in.thread.findRated(in.person, request.PathValue("place"))
	done := ""
	if err == nil {
		var answer chat.PinnedAnswer
		answer, err = p.web.options.Pins.PinAnswer(request.Context(), run, p.curatorOf(in), draft)
		done = answer.Describe(true)
	}
	p.showDraft(out, request, in, pinned{draft, done, err})
}

func (p pinner) curatorOf(in visit) chat.Reader {
	return chat.Reader{Adapter: name, User: in.person, Identity: in.caller.identity}
}

// pinned is what came of pinning a draft.
type pinned struct {
	draft chat.PinDraft
	done  string // what to tell of it; "" where it is not pinned yet
	err   error
}

// showDraft shows a draft, what came of it, or why nothing did.
func (p pinner) showDraft(out http.ResponseWriter, request *http.Request, in visit, was pinned) {
	draft, err := was.draft, was.err
	v := draftView{
		Thread: in.thread.id, Place: request.PathValue("place"), Question: markup.CleanLine(draft.Question), Text: markup.Clean(draft.Text),
		MaxQuestion: maxPinQuestion, MaxText: maxPinText, Done: markup.CleanLine(was.done),
	}
	status := http.StatusOK
	if refused, ok := errors.AsType[*chat.PinError](err); ok {
		if draft == (chat.PinDraft{}) {
			p.web.responder.renderFailure(out, request, http.StatusForbidden, refused.Text)
			return
		}
		v.Done, v.Problem, status, err = "", refused.Text, http.StatusConflict, nil
	}
	if err == nil {
		err = p.web.responder.renderPage(out, status, "pin", v)
	}
	if err != nil {
		p.web.responder.refuseForm(out, request, err)
	}
}
