package bot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
)

// errDraining ends the work at a job at its next checkpoint, for another worker to go on.
var errDraining = errors.New("the worker is about to end")

// worker is one call of Work.
type worker struct {
	bot      *Bot
	id       runs.WorkerID
	stopping <-chan struct{} // closed when it is to end
	// complained is when it was logged last that no work could be claimed, in Unix
	// milliseconds.
	complained atomic.Int64
}

// Work works at what is queued until ctx ends, at several threads at a time. Then it
// claims nothing more, lets the steps that run end and be saved, for Options.Grace at
// most, gives back the threads that it has, and returns.
func (b *Bot) Work(ctx context.Context) {
	w := &worker{bot: b, id: newWorkerID(), stopping: ctx.Done()}
	working, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abort(nil)
	var loops sync.WaitGroup
	for range b.options.Parallel {
		loops.Go(func() { w.runLoop(ctx, working) })
	}
	<-ctx.Done()
	grace := time.AfterFunc(b.options.Grace, func() { abort(errDraining) })
	defer grace.Stop()
	loops.Wait()
}

func newWorkerID() runs.WorkerID {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return runs.WorkerID(fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:6]))
}

// claimPause is how long a worker waits after it could not ask for work.
const claimPause = time.Second

// complainEvery is the least time between two log lines about that.
const complainEvery = 10 * time.Second

// runLoop deals with one job after another. ctx ends when no more are to be claimed, working
// when those at work are to be given back at once.
func (w *worker) runLoop(ctx, working context.Context) {
	for ctx.Err() == nil {
		lease, err := w.bot.store.Claim(ctx, w.id)
		switch {
		case err == nil:
			w.handleLease(working, lease)
		case ctx.Err() == nil:
			w.logNoWork(ctx, err)
			sleepContext(ctx, claimPause)
		}
	}
}

// logNoWork logs that there is no work to be had, for all loops at most once in a while.
func (w *worker) logNoWork(ctx context.Context, err error) {
	now, last := time.Now(), w.complained.Load()
	if last != 0 && now.Sub(time.UnixMilli(last)) < complainEvery || !w.complained.CompareAndSwap(last, now.UnixMilli()) {
		return
	}
	w.bot.logger.ErrorContext(ctx, "no work could be claimed", "error", err)
}

func sleepContext(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// handleLease deals with the job of a lease, and ends the lease.
func (w *worker) handleLease(ctx context.Context, lease runs.Lease) {
	ctx, over := w.bot.options.Accompany(ctx, lease)
	held, release := runs.Hold(ctx, w.bot.store, lease)
	// What is written about a job goes on when a person stops it, and ends with the lease.
	writing, lose := context.WithCancelCause(ctx)
	watching := context.AfterFunc(held, func() {
		if errors.Is(context.Cause(held), runs.ErrLost) {
			lose(runs.ErrLost)
		}
	})
	t := w.bot.newTurn(w.newJob(lease))
	result, err := t.attemptJob(writing, held)
	watching()
	release()
	lost := isLost(writing, err)
	defer func() { over(lost) }()
	lose(context.Canceled)
	w.endJob(ctx, t, jobEnd{result, err, lost})
}

// jobEnd is how the work at a job ended.
type jobEnd struct {
	result runs.Result
	err    error
	lost   bool // the lease was lost
}

// endJob ends the lease as the work ended.
func (w *worker) endJob(ctx context.Context, t *turn, ended jobEnd) {
	lease, result, err := t.job.lease, ended.result, ended.err

	log := w.bot.logger.With("thread", string(lease.Thread), "event", string(lease.Job.Event), "attempt", lease.Job.Attempt)
	if ended.lost {
		log.WarnContext(ctx, "the lease was lost: another worker goes on")
		return
	}
	if err == nil && result.Next == runs.Dead {
		log.ErrorContext(ctx, "the job was put aside", "kind", string(lease.Job.Kind), "reason", result.Reason)
	}
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	if t.delivery.late || t.delivery.inherited {
		if err := t.delivery.tidyLater(ending); err != nil { // the lease runs out, and another worker takes the job up
			log.WarnContext(ctx, "the job was not given back", "error", err)
			return
		}
	}
	switch {
	case err != nil && t.delivery.sent && (errors.Is(err, errDraining) || ctx.Err() != nil):
		result = runs.Result{Next: runs.Left, After: t.bot.options.LookAfter, Reason: notPosted}
	case err != nil && (errors.Is(err, errDraining) || ctx.Err() != nil):
		result = runs.Result{Next: runs.Released, Doubt: releaseDoubt(lease, t.job.begun)}
	case err != nil:
		if result = retryAttempt(lease.Job.Attempt, err); result.Next == runs.Left {
			log.DebugContext(ctx, "the job waits for its turn", "after", result.After, "error", err)
		} else {
			log.ErrorContext(ctx, "the job is tried again", "error", err)
		}
		result.Doubt = t.delivery.unconfirmedPost()
	}
	if err := t.delivery.completeJob(ending, result); err != nil { // the lease runs out, and another worker takes the job up
		log.WarnContext(ctx, "the job was not given back", "error", errors.Join(err, t.delivery.removeDuplicate(ending)))
	}
}

// attemptJob deals with the job. An error means that it is to be tried again from where it is.
func (t *turn) attemptJob(ctx, held context.Context) (runs.Result, error) {
	select {
	case <-t.job.stopping:
		return runs.Result{}, errDraining
	default:
	}
	poster, known := t.bot.options.Adapters[t.job.lease.Thread.Adapter()]
	if !known {
		return leftForOthers(fmt.Sprintf("no adapter %q is configured here", t.job.lease.Thread.Adapter())), nil
	}
	t.job.poster, t.job.files = poster, t.bot.options.fetcherOf(t.job.lease.Thread.Adapter())
	if t.job.entry.Attempt > maxAttempts {
		return t.giveUp(ctx)
	}
	return t.dispatchJob(ctx, held)
}

// dispatchJob deals with the job from where the session says that it is.
func (t *turn) dispatchJob(ctx, held context.Context) (runs.Result, error) {
	t.job.begun = true
	if err := t.conversation.loadSession(ctx); err != nil {
		return t.job.deferToNewer(ctx, err)
	}
	result, err := t.decideOrResume(ctx, held)
	if err != nil {
		result, err = t.job.deferToNewer(ctx, err)
	}
	if !isLost(ctx, err) { // else another worker has the thread, and sees to what is shown there
		t.delivery.closeDraft(ctx)
	}
	if err == nil && (t.job.entry.Kind == editedJob || t.job.entry.Kind == deletedJob) {
		if err = t.delivery.commitFinal(ctx, nil); err == nil { // what it comes to is there before the edit goes
			err = t.edits.eraseEdit(ctx)
		}
	}
	return result, err
}

const (
	// maxAttempts is how often a job is taken up that never comes to an end: it may be
	// what kills the workers.
	maxAttempts = 20

	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
)

func retryLater(after time.Duration, reason string) runs.Result {
	return runs.Result{Next: runs.Again, After: after, Reason: reason}
}

// platformError is something asked of a platform that is to be tried again.
type platformError struct {
	after  time.Duration // 0: as after other errors
	turn   bool          // its turn under the platform's limits comes then: nothing failed
	reason string        // for operators
	err    error
}

func (e *platformError) Error() string { return fmt.Sprintf("%s: %v", e.reason, e.err) }
func (e *platformError) Unwrap() error { return e.err }

// longestTurn is how long a job is left for its turn at a platform before people are told
// again that it waits.
const longestTurn = 25 * time.Second

// retryAttempt has a job tried again later, after ever longer pauses, or when its turn comes.
func retryAttempt(attempt int, err error) runs.Result {
	if asked, ok := errors.AsType[*platformError](err); ok && asked.turn {
		return runs.Result{Next: runs.Left, After: min(asked.after, longestTurn), Reason: "its turn at the platform has not come"}
	}
	after := longestPause
	if attempt < 8 {
		after = min(longestPause, firstPause<<max(0, attempt-1))
	}
	after = after/2 + mathrand.N(after/2+1)
	reason := "a store could not be reached"
	if asked, ok := errors.AsType[*platformError](err); ok {
		reason = asked.reason
		after = max(after, asked.after)
	}
	return retryLater(after, reason)
}
