package operations

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of the list of runs.
const (
	pageSize  = 50
	mostPages = 20   // that are shown
	mostRuns  = 1000 // that gaps and threads are made of, the last saved first
	maxFilter = 200  // bytes of a filter's text
)

// statuses are those that runs are filtered by.
var statuses = []runs.Status{runs.Queued, runs.Running, runs.Waiting, runs.Done, runs.Failed, runs.Cancelled, runs.Expired}

// runsView is what templates/runs.html shows.
type runsView struct {
	Filter          filterView
	Runs            []runView
	Page            int
	Newer, Older    string // addresses, "" for none
	Export          string // the address of the list as CSV
	Flows, Adapters []string
	Statuses        []runs.Status
}

// filterView is what the list is filtered by; "" filters by nothing.
type filterView struct {
	Status, Outcome, Flow, Adapter, Text string
}

// The outcomes that runs are filtered by.
const (
	outcomeAnswered = "answered"
	outcomeNone     = "none" // no answer was found
)

// runView is a run in a list. As in all views, ids are as stores have them, for addresses and
// forms, and may hold anything; in a text a template cleans them.
type runView struct {
	ID, Thread                              string
	Status, Outcome, Flow, Adapter, Request string
	Since                                   momentView
	Took, Tokens, Cost                      string
	Sources, Retries                        int
}

// momentView is a time as it is shown: how long ago, and exactly.
type momentView struct{ Ago, Exact string }

// clock tells the time.
type clock func() time.Time

func (c clock) moment(at time.Time) momentView {
	if at.IsZero() {
		return momentView{}
	}
	return momentView{Ago: markup.Age(c(), at), Exact: at.UTC().Format("2006-01-02 15:04:05 UTC")}
}

func (p *Page) runsView(ctx context.Context, query url.Values) (any, error) {
	filter, page, err := readFilter(query)
	if err != nil {
		return nil, err
	}
	matching, err := p.options.Records.List(ctx, filter.ofRecords(ctx), page*pageSize+1)
	if err != nil {
		return nil, err
	}
	v := runsView{
		Filter: filter, Page: page, Export: Root + "/runs.csv?" + filter.query().Encode(),
		Flows: p.options.Flows, Adapters: p.options.Adapters, Statuses: statuses,
	}
	from, to := min((page-1)*pageSize, len(matching)), min(page*pageSize, len(matching))
	if v.Runs, err = p.runViews(ctx, matching[from:to]); err != nil {
		return nil, err
	}
	if page > 1 {
		v.Newer = filter.address(page - 1)
	}
	if len(matching) > to && page < mostPages {
		v.Older = filter.address(page + 1)
	}
	return v, nil
}

func readFilter(query url.Values) (filter filterView, page int, err error) {
	filter = filterView{Status: query.Get("status"), Outcome: query.Get("outcome"), Flow: query.Get("flow"), Adapter: query.Get("adapter"), Text: markup.CleanLine(query.Get("text"))}
	page = 1
	if text := query.Get("page"); text != "" {
		if page, err = strconv.Atoi(text); err != nil || page < 1 || page > mostPages {
			return filter, 0, &problem{http.StatusBadRequest, fmt.Sprintf("page is a number from 1 to %d.", mostPages)}
		}
	}
	if filter.Status != "" && !slices.Contains(statuses, runs.Status(filter.Status)) {
		return filter, 0, &problem{http.StatusBadRequest, "status is one of queued, running, waiting, done, failed, cancelled and expired."}
	}
	if !slices.Contains([]string{"", outcomeAnswered, outcomeNone}, filter.Outcome) {
		return filter, 0, &problem{http.StatusBadRequest, "outcome is answered or none."}
	}
	if max(len(filter.Flow), len(filter.Adapter), len(filter.Text)) > maxFilter {
		return filter, 0, &problem{http.StatusBadRequest, fmt.Sprintf("A filter has %d bytes at most.", maxFilter)}
	}
	return filter, page, nil
}

// ofRecords chooses the records that the person of the context is listed. What was asked is
// searched for those who see all of it.
func (f filterView) ofRecords(ctx context.Context) runs.Filter {
	seesAll := who(ctx).identity() == nil
	return runs.Filter{Status: runs.Status(f.Status), Match: func(record runs.Record) bool {
		asked := ""
		if seesAll {
			asked = record.Request
		}
		return f.takes(record, shownThread(ctx, record.Thread), asked)
	}}
}

// takes tells whether a run is listed, by the id of its thread and by what was asked as they are
// shown. Its status was looked at by the store.
func (f filterView) takes(record runs.Record, thread, asked string) bool {
	if f.Flow != "" && record.Flow != f.Flow || f.Adapter != "" && adapterOf(record.Thread) != f.Adapter {
		return false
	}
	if f.Outcome != "" && (record.Status() != runs.Done || hasAbstained(record) != (f.Outcome == outcomeNone)) {
		return false
	}
	for _, id := range []string{string(record.ID), thread, string(record.Author), string(record.Message)} {
		if strings.Contains(id, f.Text) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(asked), strings.ToLower(f.Text))
}

// query is what an address names the filter by.
func (f filterView) query() url.Values {
	query := url.Values{}
	for key, value := range map[string]string{"status": f.Status, "outcome": f.Outcome, "flow": f.Flow, "adapter": f.Adapter, "text": f.Text} {
		if value != "" {
			query.Set(key, value)
		}
	}
	return query
}

// address is that of a page of the list.
func (f filterView) address(page int) string {
	query := f.query()
	query.Set("page", strconv.Itoa(page))
	return Root + "?" + query.Encode()
}

// adapterOf is the adapter that a thread is in, by which its id begins.
func adapterOf(thread chat.ThreadID) string {
	adapter, _, _ := strings.Cut(string(thread), ":")
	return adapter
}

// maxRequest is how many letters of a question a list shows.
const maxRequest = 120

// runViews are runs as the person of the context may see them.
func (p *Page) runViews(ctx context.Context, records []runs.Record) ([]runView, error) {
	shown, err := p.viewer.showRecords(ctx, records)
	if err != nil {
		return nil, err
	}
	var views []runView
	for _, record := range shown {
		views = append(views, p.run(ctx, record))
	}
	return views, nil
}

func (p *Page) run(ctx context.Context, record shownRecord) runView {
	v := runView{
		ID: string(record.ID), Status: string(record.Status()), Flow: markup.CleanLine(record.Flow),
		Adapter: markup.CleanLine(adapterOf(record.Thread)), Thread: shownThread(ctx, record.Thread), Request: shorten.Text(markup.CleanLine(record.Request), maxRequest),
		Took: took(record.Trace.Took), Tokens: tokens(record.Trace.Models), Cost: cost(record.Trace.Models),
		Sources: usedSources(record.Trace.Evidence), Retries: retries(record.Transitions),
	}
	if record.hidden {
		v.Request = hiddenRequest
	}
	if n := len(record.Transitions); n > 0 {
		v.Since = p.now.moment(record.Transitions[n-1].At)
		if hasAbstained(record.Record) {
			v.Outcome = "no answer found"
		}
	}
	return v
}

// hasAbstained tells a run that ended without an answer, as the bot notes it.
func hasAbstained(record runs.Record) bool {
	n := len(record.Transitions)
	return n > 0 && record.Transitions[n-1].To == runs.Done && record.Transitions[n-1].Reason == string(chat.Abstained)
}

// retries is how often a run was taken up again but for its answers to questions.
func retries(transitions []runs.Transition) int {
	count := 0
	before := runs.Status("")
	for _, transition := range transitions {
		if transition.To == runs.Running && before != "" && before != runs.Queued && before != runs.Waiting {
			count++
		}
		before = transition.To
	}
	return count
}

// usedSources counts the documents that an answer was made from.
func usedSources(evidence []chat.TraceEvidence) int {
	titles := make(map[string]bool)
	for _, candidate := range evidence {
		if candidate.Kept {
			titles[candidate.Title] = true
		}
	}
	return len(titles)
}

// took is a time to show, "" for none.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
}

// tokens are those that a run's models read and wrote, "" for none.
func tokens(uses []chat.TraceModel) string {
	sum := 0
	for _, use := range uses {
		sum += use.Prompt + use.Completion
	}
	if sum == 0 {
		return ""
	}
	return strconv.Itoa(sum)
}

// cost is what a run's models cost, "" for nothing.
func cost(uses []chat.TraceModel) string {
	sum := 0.0
	for _, use := range uses {
		sum += use.Cost
	}
	if sum == 0 {
		return ""
	}
	return strconv.FormatFloat(sum, 'f', 4, 64)
}
