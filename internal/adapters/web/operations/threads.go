package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/runs"
)

// threadsView is what templates/threads.html shows.
type threadsView struct {
	Threads    []threadRow
	Cut        bool // there are more threads
	MostListed int
	MostRuns   int
}

// threadRow is a thread by its runs.
type threadRow struct {
	Thread          string
	Adapter, Status string
	Runs            int // among those that are looked through
	Last            momentView
}

func (p *Page) threadsView(ctx context.Context, _ url.Values) (any, error) {
	listed, err := p.options.Records.List(ctx, runs.Filter{}, mostRuns)
	if err != nil {
		return nil, err
	}
	v := threadsView{MostListed: mostListed, MostRuns: mostRuns}
	rows := make(map[chat.ThreadID]int)
	for _, record := range listed {
		at, known := rows[record.Thread]
		switch {
		case known:
			v.Threads[at].Runs++
		case len(v.Threads) == mostListed:
			v.Cut = true
		default:
			rows[record.Thread] = len(v.Threads)
			last := p.run(ctx, shownRecord{Record: record})
			v.Threads = append(v.Threads, threadRow{
				Thread: last.Thread, Adapter: last.Adapter, Status: last.Status, Runs: 1, Last: last.Since,
			})
		}
	}
	return v, nil
}

// threadView is what templates/thread.html shows: what a thread's session holds, without
// what was said.
type threadView struct {
	Thread                 string
	Adapter, Flow          string
	Turns, Earlier, People int
	Updated                momentView
	Waiting                string // the run that waits, "" for none
	State                  stateView
	Busy                   bool // it has work
	Runs                   []runView
	MostListed             int
}

func (p *Page) threadView(ctx context.Context, query url.Values) (any, error) {
	thread := chat.ThreadID(query.Get("id"))
	if thread == "" || len(thread) > 4*maxFilter {
		return nil, &problem{http.StatusBadRequest, "The address names no thread."}
	}
	if shownThread(ctx, thread) != string(thread) {
		return nil, &problem{http.StatusForbidden, "A conversation on the web page is looked into by those who run Cairn, on its machine or with the token."}
	}
	remembered, err := p.options.Sessions.Load(ctx, thread)
	if err != nil {
		return nil, err
	}
	state, err := p.options.Queues.State(ctx, thread)
	if err != nil {
		return nil, err
	}
	listed, err := p.options.Records.List(ctx, runs.Filter{Thread: thread}, mostListed)
	if err != nil {
		return nil, err
	}
	if remembered.Updated.IsZero() && len(listed) == 0 && state.Queued+state.Delayed == 0 {
		return nil, &problem{http.StatusNotFound, "There is no such thread, or nothing is kept of it any more."}
	}
	v := threadView{
		Thread: string(thread), Adapter: markup.CleanLine(adapterOf(thread)), Flow: markup.CleanLine(remembered.Flow),
		Turns: len(remembered.Turns), Earlier: len(remembered.Earlier), People: len(remembered.People),
		Updated: p.now.moment(remembered.Updated), State: p.state(ctx, state), Busy: state.Queued+state.Delayed > 0, MostListed: mostListed,
	}
	if remembered.Waiting != nil {
		v.Waiting = string(remembered.Waiting.Run)
	}
	v.Runs, err = p.runViews(ctx, listed)
	return v, err
}

func isUnknown(err error) bool { return errors.Is(err, chat.ErrUnknownRun) }

// configurationView is what templates/configuration.html shows.
type configurationView struct{ Settings []Setting }

func (p *Page) configurationView(context.Context, url.Values) (any, error) {
	return configurationView{p.options.Settings}, nil
}
