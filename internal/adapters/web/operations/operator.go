package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/listen"
	"github.com/cairn-bot/cairn/internal/runs"
)

// operator does what the page's forms ask for, and writes it down.
type operator struct {
	records   Records
	control   Control
	queues    runs.Operator
	audit     audit.Log
	now       clock
	responder *responder
}

func (o *operator) serveCancel(out http.ResponseWriter, request *http.Request) {
	o.changeRun(out, request, action{
		kind: audit.CancelRun, allowed: mayCancel, refusal: "This run neither works nor waits.", did: "cancelled", do: o.control.Cancel,
	})
}

func (o *operator) serveReplay(out http.ResponseWriter, request *http.Request) {
	o.changeRun(out, request, action{
		kind: audit.ReplayRun, allowed: mayReplay, refusal: "This run is done, or goes on already.", did: "replayed", do: o.control.Replay,
	})
}

// action is what an operator may do to a run.
type action struct {
	kind    audit.Action
	allowed func(runs.Record) bool
	refusal string // for a run that it is not allowed to
	did     string // among notices
	do      func(ctx context.Context, run chat.RunID) error
}

// changeRun does it to the run that a form names, and writes that down.
func (o *operator) changeRun(out http.ResponseWriter, request *http.Request, a action) {
	record, err := loadRecord(request.Context(), o.records, request.PostForm.Get("run"))
	if err == nil && !a.allowed(record) {
		err = &problem{http.StatusConflict, a.refusal}
	}
	if err == nil {
		err = o.recordAction(request, a.kind, string(record.ID), func(ctx context.Context) error { return a.do(ctx, record.ID) })
	}
	switch {
	case errors.Is(err, ErrNotGoingOn):
		err = &problem{http.StatusConflict, "This run neither works nor waits at this moment: others of its thread may be before it, or it has just ended."}
	case errors.Is(err, chat.ErrRunOver):
		err = &problem{http.StatusConflict, "This run is done, or goes on already."}
	}
	if err != nil {
		o.responder.refuseRequest(out, request, err)
		return
	}
	query := url.Values{"id": {string(record.ID)}, "did": {a.did}}
	http.Redirect(out, request, Root+"/run?"+query.Encode(), http.StatusSeeOther)
}

// serveLetter puts a dead letter back into its queue, or discards it. One whose run is known
// is gone on with by its run, see serveReplay; this is for the others, too.
func (o *operator) serveLetter(out http.ResponseWriter, request *http.Request) {
	thread, event := request.PostForm.Get("thread"), request.PostForm.Get("event")
	kind, did, do := audit.ReplayRun, "replayed", o.queues.Replay
	if request.PostForm.Has("discard") {
		kind, did, do = audit.DiscardRun, "discarded", o.queues.Discard
	}
	err := o.recordAction(request, kind, thread+" "+event, func(ctx context.Context) error {
		return do(ctx, chat.ThreadID(thread), runs.EventID(event))
	})
	if errors.Is(err, runs.ErrUnknownLetter) {
		err = &problem{http.StatusNotFound, "It is not among what was put aside any more."}
	}
	if err != nil {
		o.responder.refuseRequest(out, request, err)
		return
	}
	http.Redirect(out, request, Root+"/queue?did="+did, http.StatusSeeOther)
}

// recordAction does something and writes down that it was done, or failed. The entry is written
// also where whoever asked has gone meanwhile.
func (o *operator) recordAction(request *http.Request, kind audit.Action, target string, do func(ctx context.Context) error) error {
	err := do(request.Context())
	return errors.Join(err, o.audit.Record(context.WithoutCancel(request.Context()), audit.Entry{
		Time: o.now(), Actor: who(request.Context()).Who, Action: kind, Target: target, Outcome: audit.Of(err), From: listen.HostOf(request.RemoteAddr),
	}))
}
