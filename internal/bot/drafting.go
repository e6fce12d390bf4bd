package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

const (
	// draftTime is how long a platform may take to begin or to take away a draft.
	draftTime = 5 * time.Second
	// draftGrace is how long the end of a run waits for a call that shows its work.
	draftGrace = 2 * time.Second
	// maxPending and maxPendingText (bytes) are what waits for a slow platform; more is
	// left out of the draft.
	maxPending     = 64
	maxPendingText = 64 << 10
)

// drafting shows a run in its thread while it works. The run never waits for it: what the
// platform is behind with is joined, and past the bounds left out.
type drafting struct {
	log     *slog.Logger
	wake    chan struct{} // holds one
	over    chan struct{}
	cancel  context.CancelFunc
	working sync.WaitGroup
	made    chat.Draft // nil where there is none; read after working
	unsure  bool       // it can't be known whether there is one; read after working

	mu      sync.Mutex
	telling bool // the platform is being told something
	pending []shown
	text    int  // bytes of the tokens in pending
	full    bool // tokens are left out until the answer begins anew
}

// beginDraft begins to show the run, where the platform shows runs; endDraft must be called.
// A run whose outcome takes the place of another is not shown.
func (d *delivery) beginDraft(ctx context.Context) {
	drafter, ok := d.job.poster.(chat.Drafter)
	if !ok || d.conversation.findReplaced() >= 0 {
		return
	}
	showing, cancel := context.WithCancel(ctx)
	begun := &drafting{
		log:  d.job.logger.With("run", string(d.job.record.ID), "thread", string(d.job.message.Thread)),
		wake: make(chan struct{}, 1), over: make(chan struct{}), cancel: cancel, telling: true,
	}
	d.drafting = begun
	work := d.shownWork(d.leftOver)
	begun.working.Go(func() { begun.updateDraft(showing, drafter, work) })
}

// shownWork is the job's work as a platform shows it.
func (d *delivery) shownWork(again bool) chat.Work {
	return chat.Work{Run: d.conversation.session.Work.Run, Thread: d.job.message.Thread, To: d.job.message.ID, Asker: d.job.message.Author, Title: d.conversation.session.Title, Again: again}
}

// endDraft ends the showing: the draft stays as it is until it is finished or closed.
func (d *delivery) endDraft() {
	ended := d.drafting
	if ended == nil {
		return
	}
	d.drafting = nil
	close(ended.over)
	grace := time.AfterFunc(draftGrace, ended.cancel)
	ended.working.Wait()
	grace.Stop()
	ended.cancel()
	d.draft = ended.made
	d.late = d.late || ended.unsure
}

// closeDraft takes the draft away, if there is one. What fails is left to whoever shows
// what comes of the job.
func (d *delivery) closeDraft(ctx context.Context) {
	if d.draft == nil {
		return
	}
	draft := d.draft
	d.draft = nil
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), draftTime)
	defer done()
	err := draft.Close(ctx)
	d.late = d.late || draft.Unsettled()
	if err != nil {
		d.job.logger.WarnContext(ctx, "a draft was not taken away", "thread", string(d.job.message.Thread), "error", err)
	}
}

// finishDraft has the draft become the post. Where its turn has not come, the draft is as it
// was.
func (d *delivery) finishDraft(ctx context.Context, draft chat.Draft, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	posted, err := draft.Finish(ctx, key, post)
	if _, wait := errors.AsType[*chat.RetryAfterError](err); wait {
		return "", err
	}
	d.draft = nil
	if errors.Is(err, chat.ErrNotPosted) {
		d.late = d.late || draft.Unsettled()
		return "", err
	}
	d.late = d.late || err != nil || draft.Unsettled()
	if err != nil && saysNothingWasDone(err) {
		err = fmt.Errorf("finish a draft: %v", err) //nolint:errorlint // it says so of the draft's message, not of the thread
	}
	return posted, err
}

// minWaitShown is the shortest wait for a turn that people are told of.
const minWaitShown = 2 * time.Second

// showWaiting shows that what came of the job is posted when its turn comes.
func (d *delivery) showWaiting(ctx context.Context, about time.Duration) {
	drafter, ok := d.job.poster.(chat.Drafter)
	if !ok || about < minWaitShown || d.conversation.session.Work.Run == "" {
		return
	}
	ctx, done := context.WithTimeout(ctx, draftTime)
	defer done()
	draft := d.draft
	d.draft = nil
	var err error
	if draft == nil {
		draft, err = drafter.Draft(ctx, d.shownWork(false))
	}
	if err != nil {
		d.late = d.late || !saysNothingWasDone(err)
	} else {
		err = draft.Wait(ctx, about)
		d.late = d.late || draft.Unsettled()
	}
	if err != nil {
		d.job.logger.WarnContext(ctx, "the wait for a turn is not shown", "thread", string(d.job.message.Thread), "error", err)
	}
}

// updateDraft makes the draft and keeps it up to date until the run is over or the lease is lost.
func (d *drafting) updateDraft(ctx context.Context, drafter chat.Drafter, work chat.Work) {
	beginning, done := context.WithTimeout(context.WithoutCancel(ctx), draftTime)
	draft, err := drafter.Draft(beginning, work)
	done()
	if err != nil {
		d.log.WarnContext(ctx, "the run is not shown while it works", "error", err)
		d.unsure = !saysNothingWasDone(err)
		return
	}
	if isLost(ctx, nil) { // whoever has the thread now may have looked for drafts before
		closing, done := context.WithTimeout(context.WithoutCancel(ctx), draftTime)
		defer done()
		if err := draft.Close(closing); err != nil {
			d.log.WarnContext(ctx, "a draft was not taken away", "error", err)
		}
		return
	}
	d.made = draft
	d.markShown()
	for {
		select {
		case <-d.over:
			return
		case <-ctx.Done():
			return
		case <-d.wake:
		}
		for next, more := d.nextUpdate(); more; next, more = d.nextUpdate() {
			err := applyUpdate(ctx, draft, next)
			d.markShown()
			if err != nil {
				if ctx.Err() == nil {
					d.log.WarnContext(ctx, "the run is shown no further", "error", err)
				}
				return
			}
		}
	}
}

func applyUpdate(ctx context.Context, draft chat.Draft, next shown) error {
	if next.progress != nil {
		return draft.Progress(ctx, *next.progress)
	}
	return draft.Stream(ctx, *next.token)
}

// markShown ends what next began.
func (d *drafting) markShown() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.telling = false
}

// nextUpdate takes what the platform is to be told next; false: nothing, or nothing any more.
func (d *drafting) nextUpdate() (shown, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.over:
		return shown{}, false
	default:
	}
	if len(d.pending) == 0 {
		return shown{}, false
	}
	first := d.pending[0]
	d.pending, d.telling = d.pending[1:], true
	if first.token != nil {
		d.text -= len(first.token.Text)
	}
	return first, true
}

// queueUpdate has something shown once the platform is ready for it. Of a step the last news
// count, and pieces of the answer that come one after the other are shown as one. Where
// nothing is shown (d is nil) it does nothing.
func (d *drafting) queueUpdate(next shown) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if next.progress != nil {
		d.addProgress(next)
	} else {
		d.addToken(*next.token)
	}
	select {
	case d.wake <- struct{}{}:
	default: // it is awake
	}
}

func (d *drafting) addProgress(next shown) {
	d.pending = slices.DeleteFunc(d.pending, func(before shown) bool {
		return before.progress != nil && before.progress.Step == next.progress.Step
	})
	if len(d.pending) < maxPending {
		d.pending = append(d.pending, next)
	}
}

func (d *drafting) addToken(token chat.Token) {
	if token.Restart {
		d.pending = slices.DeleteFunc(d.pending, func(before shown) bool { return before.token != nil })
		d.text, d.full = 0, false
	}
	if d.full = d.full || d.text+len(token.Text) > maxPendingText || len(d.pending) >= maxPending; d.full {
		return
	}
	d.text += len(token.Text)
	if last := len(d.pending) - 1; last >= 0 && d.pending[last].token != nil {
		joined := *d.pending[last].token
		joined.Text += token.Text
		d.pending[last].token = &joined
		return
	}
	d.pending = append(d.pending, shown{token: &token})
}

// saysNothingWasDone tells the errors by which platforms say that they did nothing.
func saysNothingWasDone(err error) bool {
	_, limited := errors.AsType[*chat.RetryAfterError](err)
	return limited || errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) || errors.Is(err, chat.ErrNotPosted)
}

// isLost tells whether work ended since the lease was lost: by its error, or by the cause
// of the end of what it was done under.
func isLost(ctx context.Context, err error) bool {
	return errors.Is(err, runs.ErrLost) || errors.Is(context.Cause(ctx), runs.ErrLost)
}
