package bot

import (
	"context"
	"errors"
	"sync"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/store"
)

// watch is what a run is given of a turn: its checkpoints go to the journal, its steps
// and tokens to those who look on.
type watch struct {
	job      *job
	delivery *delivery
	steps    []chat.TraceStep // that ended, in order
	draft    draft
	ownSteps bool // the flow tells of research steps, which are shown in place of its nodes

	shown   chan shown
	sending sync.WaitGroup
}

// shown is what is shown and not kept, or what waits until all before it is shown.
type shown struct {
	progress *chat.Progress
	seq      int64 // of progress
	token    *chat.Token
	reached  chan<- struct{}
}

// maxShown is how much waits for a slow store before the run waits too.
const maxShown = 64

// storeError is the failure of a store, not of the run.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// startWatch begins to watch a run; end must be called.
func (t *turn) startWatch(ctx context.Context) *watch {
	w := &watch{job: t.job, delivery: t.delivery, shown: make(chan shown, maxShown)}
	w.sending.Go(func() { w.sendPending(ctx) })
	return w
}

// stopWatch waits until all is shown.
func (w *watch) stopWatch() {
	close(w.shown)
	w.sending.Wait()
}

// Save implements graph.Store. Once the worker is to end, a run stops at the checkpoint
// that was saved.
func (w *watch) Save(ctx context.Context, run string, checkpoint []byte) error {
	reached := make(chan struct{})
	w.shown <- shown{reached: reached}
	<-reached
	err := w.job.start.commit(ctx, w.job.journal, &store.Checkpoint{Run: chat.RunID(run), Body: checkpoint})
	if err != nil {
		return &storeError{err}
	}
	select {
	case <-w.job.stopping:
		return errDraining
	default:
		return nil
	}
}

// Load implements graph.Store.
func (w *watch) Load(ctx context.Context, run string) ([]byte, error) {
	checkpoint, err := w.job.journal.Load(ctx, run)
	if err != nil && !errors.Is(err, graph.ErrNoCheckpoint) {
		return nil, &storeError{err}
	}
	return checkpoint, err
}

// observeEvent notes and shows an event of the run.
func (w *watch) observeEvent(event graph.Event) {
	if step, ended := stepOf(event); ended {
		w.steps = append(w.steps, step)
	}
	drafting := w.delivery.drafting
	if progress, seen := progressOf(event); seen && !w.ownSteps {
		w.recordProgress(progress, event.Seq)
		drafting.queueUpdate(shown{progress: &progress})
	}
	if token, seen := w.draft.convertToken(event); seen {
		w.shown <- shown{token: &token}
		drafting.queueUpdate(shown{token: &token})
	}
}

// showResearchStep notes and shows a research step. It is called between events.
func (w *watch) showResearchStep(step flows.ResearchStep) {
	w.ownSteps = true
	progress := chat.Progress{
		Run: w.job.record.ID, Step: step.ID, Description: step.Description, Status: chat.StepStatus(step.Status), Took: step.Took,
	}
	w.recordProgress(progress, step.Seq)
	w.delivery.drafting.queueUpdate(shown{progress: &progress})
}

// recordProgress keeps the end of a step with the next checkpoint, and shows its beginning.
func (w *watch) recordProgress(progress chat.Progress, seq int64) {
	if progress.Status == chat.Running || progress.Status == chat.Pending {
		w.shown <- shown{progress: &progress, seq: seq}
		return
	}
	event, err := eventOf(progressEvent, progress.Run, happened{Job: w.job.entry.Event, Progress: &progress, Seq: seq})
	if err != nil {
		w.job.logger.Warn("progress not shown", "run", string(progress.Run), "error", err)
		return
	}
	w.job.journal.Append(event)
}

// sendPending shows one thing after another, up to the first that can't be shown.
func (w *watch) sendPending(ctx context.Context) {
	failed := false
	next, more := <-w.shown
	for more {
		if next.reached != nil {
			close(next.reached)
			next, more = <-w.shown
			continue
		}
		following, waits := w.joinTokens(&next)
		if !failed {
			err := w.showUpdate(ctx, next)
			failed = err != nil
			if failed && ctx.Err() == nil {
				w.job.logger.WarnContext(ctx, "progress not shown", "run", string(w.job.record.ID), "error", err)
			}
		}
		if waits {
			next = following
			continue
		}
		next, more = <-w.shown
	}
}

// joinTokens adds to a token those that wait behind it, and gives what comes after them, if
// that waits too.
func (w *watch) joinTokens(next *shown) (following shown, waits bool) {
	for next.token != nil {
		select {
		case following, waits = <-w.shown:
			if !waits || following.token == nil || following.token.Restart {
				return following, waits
			}
			next.token.Text += following.token.Text
		default:
			return shown{}, false
		}
	}
	return shown{}, false
}

func (w *watch) showUpdate(ctx context.Context, what shown) error {
	kind := tokenEvent
	if what.progress != nil {
		kind = progressEvent
	}
	event, err := eventOf(kind, w.job.record.ID, happened{Job: w.job.entry.Event, Progress: what.progress, Seq: what.seq, Token: what.token})
	if err != nil {
		return err
	}
	return w.job.journal.Show(ctx, event)
}

// draft is the part of an answer that was streamed: which attempt of which node it
// came from.
type draft struct {
	begun bool
	from  attempt
}

type attempt struct {
	node          string
	visit, number int
}

// convertToken gives an event as what is streamed; shown is false for most. What comes from
// another attempt than before begins anew, and a step that is to be retried takes back
// what it said at once.
func (d *draft) convertToken(event graph.Event) (token chat.Token, shown bool) {
	from := attempt{event.Node, event.Visit, event.Attempt}
	token = chat.Token{Run: chat.RunID(event.Run)}
	switch {
	case event.Kind == graph.Token && event.Text != "":
		token.Text, token.Restart = event.Text, d.begun && d.from != from
		d.begun, d.from = true, from
		return token, true
	case event.Kind == graph.StepRetried && d.begun && d.from == from:
		token.Restart = true
		d.begun = false
		return token, true
	}
	return chat.Token{}, false
}
