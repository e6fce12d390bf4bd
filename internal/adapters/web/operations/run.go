package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/runs"
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
	Pin         bool // its answer may be pinned to its question
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
	loaded, err := loadRecord(ctx, p.options.Records, query.Get("id"))
	if err != nil {
		return nil, err
	}
	shown, err := p.viewer.showRecords(ctx, []runs.Record{loaded})
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
	v.Pin = !record.hidden && wasAnswered(record.Record)
	for _, transition := range record.Transitions {
		v.Transitions = append(v.Transitions, transitionView{string(transition.To), markup.CleanLine(transition.Reason), p.now.moment(transition.At)})
	}
	for _, rating := range record.Ratings {
		v.Ratings = append(v.Ratings, ratingView{string(rating.Verdict), markup.CleanLine(rating.Reason), p.now.moment(rating.At)})
	}
	svg, known := p.options.Graphs.Graph(record.Trace.Flow)
	if !known {
		svg = ""
	}
	v.Explanation, err = web.Explain(record.Trace, svg, !mayCancel(record.Record))
	return v, err
}

// loadRecord reads the record of a run that somebody named.
func loadRecord(ctx context.Context, records Records, named string) (runs.Record, error) {
	if named == "" || len(named) > maxFilter {
		return runs.Record{}, &problem{http.StatusBadRequest, "The address names no run."}
	}
	record, err := records.Load(ctx, chat.RunID(named))
	if errors.Is(err, chat.ErrUnknownRun) {
		return runs.Record{}, &problem{http.StatusNotFound, "There is no such run, or nothing is kept of it any more."}
	}
	return record, err
}

// wasAnswered reports whether a run ended with an answer.
func wasAnswered(record runs.Record) bool {
	last := len(record.Transitions) - 1
	return last >= 0 && record.Transitions[last].To == runs.Done && record.Transitions[last].Reason == string(chat.Answered)
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
