package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// whyView is what templates/why.html shows: how an answer came about, or comes about.
type whyView struct {
	Thread    string
	Place     string // of the answer, or of the exchange that is worked at
	Question  string
	Live      bool
	Unknown   bool // nothing is kept
	Picture   template.HTML
	Path      string // the nodes of the picture that were passed
	Took      string
	Count     string // "7 steps"
	Steps     []traceStepView
	Queries   []queryView
	Evidence  []evidenceView
	Agents    []agentView
	Models    []modelView
	Total     *modelView // of several models
	Inputs    []inputView
	Notes     []string
	Retrieved string // how many candidates there were, and how many were kept
}

type traceStepView struct {
	Node, Status, Took string
	Share              int // of the longest step, in per cent
}

type queryView struct {
	Text, Used, Pruned, Took string
	Lexical, Dense           int
}

type evidenceView struct {
	Title, Section, Access, Score, Lexical, Dense string
	Kept                                          bool
}

type agentView struct {
	Name, Took         string
	Requests, Failures int
}

type modelView struct {
	Role, Model, Cost, Took, FirstToken, Failure string
	Prompt, Completion                           int
}

type inputView struct {
	Name, Value, Limit string
	Decided            bool
}

// serveWhy shows how an answer came about: as a part of the page to its script, as a
// page of its own otherwise.
func (w *Web) serveWhy(out http.ResponseWriter, request *http.Request, in visit) {
	place := request.PathValue("place")
	e, what := in.thread.findExplained(place)
	if e == nil {
		w.responder.refuseForm(out, request, errNoRun)
		return
	}
	v, err := w.whyView(request.Context(), e, what)
	if err != nil {
		w.responder.refuseForm(out, request, err)
		return
	}
	v.Thread, v.Place = in.thread.id, place
	shown := "explained"
	if request.URL.Query().Has("panel") {
		shown = "why"
	}
	if err := w.responder.renderPage(out, http.StatusOK, shown, v); err != nil {
		w.responder.refuseForm(out, request, err)
	}
}

// findExplained gives a copy of the exchange at a place, and of what was said where the
// place is that of a reply or a question; both nil where there is none.
func (t *thread) findExplained(at string) (*exchange, *said) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, what := t.findSaid(at); e != nil {
		kept := *what
		return e.copyExchange(), &kept
	}
	for _, e := range t.exchanges {
		if domID(e.id) == at {
			return e.copyExchange(), nil
		}
	}
	return nil, nil
}

func (w *Web) whyView(ctx context.Context, e *exchange, what *said) (whyView, error) {
	trace, err := w.traceOf(ctx, e, what)
	if errors.Is(err, chat.ErrUnknownRun) {
		return whyView{Question: exchangeTitle(e.text), Unknown: true}, nil
	}
	if err != nil {
		return whyView{}, fmt.Errorf("explain a run: %w", err)
	}
	v := newWhyView(trace)
	v.Question, v.Live = exchangeTitle(e.text), e.state != done && what == nil
	svg, known := w.options.Graphs.Graph(trace.Flow)
	if !known {
		return v, nil
	}
	err = v.addPicture(trace, svg)
	return v, err
}

// traceOf is what is known of a run. Of one that works it has the steps so far.
func (w *Web) traceOf(ctx context.Context, e *exchange, what *said) (chat.Trace, error) {
	if what != nil {
		return w.options.Controls.Explain(ctx, what.runID())
	}
	trace, err := w.options.Controls.Explain(ctx, e.live)
	if err != nil && !errors.Is(err, chat.ErrUnknownRun) || e.state == done {
		return trace, err
	}
	trace.Steps = nil
	for _, step := range e.steps {
		if step.Status != chat.Pending && step.Status != chat.Skipped {
			trace.Steps = append(trace.Steps, chat.TraceStep{Node: step.Step, Status: step.Status, Took: step.Took})
		}
	}
	return trace, nil
}

func newWhyView(t chat.Trace) whyView {
	v := whyView{Took: durationText(t.Took), Count: english.Plural(len(t.Steps), "step", ""), Steps: stepViews(t.Steps), Models: modelViews(t.Models), Total: modelTotal(t.Models)}
	for _, query := range t.Queries {
		v.Queries = append(v.Queries, queryView{
			markup.CleanLine(query.Text), joinTerms(query.Used), joinTerms(query.Pruned), durationText(query.Took), query.Lexical, query.Dense,
		})
	}
	kept := 0
	for _, candidate := range t.Evidence {
		v.Evidence = append(v.Evidence, evidenceView{
			markup.CleanLine(candidate.Title), markup.CleanLine(candidate.Section), markup.CleanLine(candidate.Access),
			fmt.Sprintf("%.2f", candidate.Score), fmt.Sprintf("%.1f", candidate.Lexical), fmt.Sprintf("%.2f", candidate.Dense), candidate.Kept,
		})
		if candidate.Kept {
			kept++
		}
	}
	v.Retrieved = fmt.Sprintf("%d of %d used", kept, len(t.Evidence))
	for _, agent := range t.Agents {
		v.Agents = append(v.Agents, agentView{markup.CleanLine(agent.Name), durationText(agent.Took), agent.Requests, agent.Failures})
	}
	for _, input := range t.Inputs {
		v.Inputs = append(v.Inputs, inputView{markup.CleanLine(input.Name), numberText(input.Value), numberText(input.Limit), input.Decided})
	}
	for _, note := range t.Notes {
		v.Notes = append(v.Notes, markup.CleanLine(note))
	}
	return v
}

func stepViews(steps []chat.TraceStep) []traceStepView {
	var longest time.Duration
	for _, step := range steps {
		longest = max(longest, step.Took)
	}
	views := make([]traceStepView, 0, len(steps))
	for _, step := range steps {
		share := 0
		if longest > 0 {
			share = max(1, int(100*step.Took/longest))
		}
		views = append(views, traceStepView{markup.CleanLine(step.Node), statusText(step.Status), durationText(step.Took), share})
	}
	return views
}

// statusText is a step's status to show; one that is not known is none.
func statusText(s chat.StepStatus) string {
	switch s {
	case chat.Pending, chat.Running, chat.Completed, chat.Failed, chat.Skipped:
		return string(s)
	}
	return ""
}

func modelViews(uses []chat.TraceModel) []modelView {
	views := make([]modelView, 0, len(uses))
	for _, use := range uses {
		views = append(views, modelView{
			Role: markup.CleanLine(use.Role), Model: markup.CleanLine(use.Model), Cost: costText(use.Cost), Took: durationText(use.Took),
			FirstToken: durationText(use.FirstToken), Failure: markup.CleanLine(use.Failure), Prompt: use.Prompt, Completion: use.Completion,
		})
	}
	return views
}

// modelTotal sums up several requests, nil for less than two.
func modelTotal(uses []chat.TraceModel) *modelView {
	if len(uses) < 2 {
		return nil
	}
	var total modelView
	var price float64
	var all time.Duration
	for _, use := range uses {
		total.Prompt += use.Prompt
		total.Completion += use.Completion
		price += use.Cost
		all += use.Took
	}
	total.Cost, total.Took = costText(price), durationText(all)
	return &total
}

// costText is a price to show, "" for none.
func costText(price float64) string {
	if price == 0 {
		return ""
	}
	return strconv.FormatFloat(price, 'f', 4, 64)
}

func numberText(value float64) string { return strconv.FormatFloat(value, 'g', 3, 64) }

func joinTerms(terms []string) string { return markup.CleanLine(strings.Join(terms, ", ")) }
