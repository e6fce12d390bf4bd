package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"cairn/internal/adapters/web"
	"cairn/internal/audit"
	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/loopback"
	"cairn/internal/runs"
)

// oneRunView is what templates/run.html shows.
type oneRunView struct {
	Run         runView
	Author      string
	Message     string
	Request     string // as the record keeps it
	Depth       string
	Transitions []transitionView
	Ratings     []ratingView
	Cancel      bool // it may be cancelled
	Replay      bool // it may be gone on with
	Explanation web.Explanation
}

type transitionView struct {
	To, Reason string
	At         momentView
}

type ratingView struct {
	Verdict, Reason string
	At              momentView
}

func (p *Page) runView(ctx context.Context, query url.Values) (any, error) {
	loaded, err := p.load(ctx, query.Get("id"))
	if err != nil {
		return nil, err
	}
	shown, err := p.showRecords(ctx, []runs.Record{loaded})
	if err != nil {
		return nil, err
	}
	record := shown[0]
	v := oneRunView{
		Run: p.run(ctx, record), Author: markup.CleanLine(string(record.Author)), Message: markup.CleanLine(string(record.Message)),
		Request: markup.Clean(record.Request), Depth: markup.CleanLine(string(record.Depth)),
	}
	if record.hidden {
		v.Request = hiddenRequest
	}
	v.Cancel, v.Replay = mayCancel(record.Record), mayReplay(record.Record)
	for _, transition := range record.Transitions {
		v.Transitions = append(v.Transitions, transitionView{string(transition.To), markup.CleanLine(transition.Reason), p.moment(transition.At)})
	}
	for _, rating := range record.Ratings {
		v.Ratings = append(v.Ratings, ratingView{string(rating.Verdict), markup.CleanLine(rating.Reason), p.moment(rating.At)})
	}
	svg, known := p.options.Graphs.Graph(record.Trace.Flow)
	if !known {
		svg = ""
	}
	v.Explanation, err = web.Explain(record.Trace, svg, !mayCancel(record.Record))
	return v, err
}

// load reads the record of a run that somebody named.
func (p *Page) load(ctx context.Context, named string) (runs.Record, error) {
	if named == "" || len(named) > maxFilter {
		return runs.Record{}, &problem{http.StatusBadRequest, "The address names no run."}
	}
	record, err := p.options.Records.Load(ctx, chat.RunID(named))
	if errors.Is(err, chat.ErrUnknownRun) {
		return runs.Record{}, &problem{http.StatusNotFound, "There is no such run, or nothing is kept of it any more."}
	}
	return record, err
}

func mayCancel(record runs.Record) bool {
	switch record.Status() {
	case runs.Queued, runs.Running, runs.Waiting:
		return true
	}
	return false
}

func mayReplay(record runs.Record) bool {
	switch record.Status() {
	case runs.Failed, runs.Cancelled, runs.Expired:
		return true
	}
	return false
}

func (p *Page) serveCancel(out http.ResponseWriter, request *http.Request) {
	p.act(out, request, action{
		kind: audit.CancelRun, allowed: mayCancel, refusal: "This run neither works nor waits.", did: "cancelled", do: p.options.Control.Cancel,
	})
}

func (p *Page) serveReplay(out http.ResponseWriter, request *http.Request) {
	p.act(out, request, action{
		kind: audit.ReplayRun, allowed: mayReplay, refusal: "This run is done, or goes on already.", did: "replayed", do: p.options.Control.Replay,
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

// act does it to the run that a form names, and writes that down.
func (p *Page) act(out http.ResponseWriter, request *http.Request, a action) {
	record, err := p.load(request.Context(), request.PostForm.Get("run"))
	if err == nil && !a.allowed(record) {
		err = &problem{http.StatusConflict, a.refusal}
	}
	if err == nil {
		err = p.noted(request, a.kind, string(record.ID), func(ctx context.Context) error { return a.do(ctx, record.ID) })
	}
	switch {
	case errors.Is(err, ErrNotGoingOn):
		err = &problem{http.StatusConflict, "This run neither works nor waits at this moment: others of its thread may be before it, or it has just ended."}
	case errors.Is(err, chat.ErrRunOver):
		err = &problem{http.StatusConflict, "This run is done, or goes on already."}
	}
	if err != nil {
		p.responder.refuseRequest(out, request, err)
		return
	}
	query := url.Values{"id": {string(record.ID)}, "did": {a.did}}
	http.Redirect(out, request, Root+"/run?"+query.Encode(), http.StatusSeeOther)
}

// noted does something and writes down that it was done, or failed. The entry is written
// also where whoever asked has gone meanwhile.
func (p *Page) noted(request *http.Request, kind audit.Action, target string, do func(ctx context.Context) error) error {
	err := do(request.Context())
	return errors.Join(err, p.options.Audit.Record(context.WithoutCancel(request.Context()), audit.Entry{
		Time: p.now(), Actor: who(request.Context()).Who, Action: kind, Target: target, Outcome: audit.Of(err), From: loopback.Host(request.RemoteAddr),
	}))
}
