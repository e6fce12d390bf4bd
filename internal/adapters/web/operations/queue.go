package operations

import (
	"context"
	"net/url"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/runs"
)

// mostListed bounds each list but that of runs.
const mostListed = 200

// queueView is what templates/queue.html shows.
type queueView struct {
	Threads    []stateView
	Letters    []letterView
	MostListed int
}

// stateView is a thread with work.
type stateView struct {
	Thread, Lane             string
	Worker, Reason           string
	Queued, Delayed, Attempt int
	Waits                    momentView // since when its first job does
	NotBefore                momentView
	Stopped                  bool
}

// letterView is a job that was put aside.
type letterView struct {
	Run, Thread, Event string
	Reason             string
	At                 momentView
}

func (p *Page) queueView(ctx context.Context, _ url.Values) (any, error) {
	states, err := p.options.Queues.Threads(ctx, mostListed)
	if err != nil {
		return nil, err
	}
	letters, err := p.options.Queues.DeadLetters(ctx, mostListed)
	if err != nil {
		return nil, err
	}
	v := queueView{MostListed: mostListed}
	for _, state := range states {
		v.Threads = append(v.Threads, p.state(ctx, state))
	}
	for _, letter := range letters {
		v.Letters = append(v.Letters, letterView{
			Run: string(letter.Job.Run), Thread: shownThread(ctx, letter.Job.Thread()), Event: string(letter.Job.Event),
			Reason: markup.CleanLine(letter.Reason), At: p.now.moment(letter.At),
		})
	}
	return v, nil
}

func (p *Page) state(ctx context.Context, state runs.ThreadState) stateView {
	return stateView{
		Thread: shownThread(ctx, state.Thread), Lane: string(state.Lane), Worker: markup.CleanLine(string(state.Worker)), Reason: markup.CleanLine(state.Reason),
		Queued: state.Queued, Delayed: state.Delayed, Attempt: state.Head.Attempt,
		Waits: p.now.moment(state.Head.Enqueued), NotBefore: p.now.moment(state.NotBefore), Stopped: state.Stopped != nil,
	}
}

// questionsView is what templates/questions.html shows.
type questionsView struct {
	Runs       []runView
	MostListed int
}

func (p *Page) questionsView(ctx context.Context, _ url.Values) (any, error) {
	waiting, err := p.options.Records.List(ctx, runs.Filter{Status: runs.Waiting}, mostListed)
	if err != nil {
		return nil, err
	}
	v := questionsView{MostListed: mostListed}
	v.Runs, err = p.runViews(ctx, waiting)
	return v, err
}
