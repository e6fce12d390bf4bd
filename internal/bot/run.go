package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// runFlow has the record's flow go on, from its checkpoint if it has one, and sees to what
// comes of it. The session knows the job by now. held ends when a person stops it.
func (t *turn) runFlow(ctx, held context.Context) (runs.Result, error) {
	t.delivery.showClosed(ctx)
	flow, known := t.bot.flows[t.job.record.Flow]
	if !known {
		return t.conclusion.parkOrLeave(ctx, &aheadError{fmt.Sprintf("flow %q", t.job.record.Flow), "upgrade or configure it"})
	}
	watch := t.startWatch(ctx)
	t.delivery.beginDraft(ctx)
	chargeTeam := t.run.limitModels(ctx)
	begun, charge := t.job.now(), t.run.watchCost()
	outcome, err := t.driveWatched(held, flow, watch)
	watch.stopWatch()
	t.delivery.endDraft()
	charge(ctx)
	chargeTeam(ctx)
	t.run.recordRun(ctx, outcome, err, watch.steps, begun)
	var wished runs.Renewal
	if stopped, ok := errors.AsType[*runs.StoppedError](context.Cause(held)); ok {
		wished = runs.Renewal{Stop: &stopped.Stop, Behind: true}
	}
	if err == nil && wished.Stop == nil {
		return t.concludeDone(ctx, held, outcome)
	}
	if startErr := t.conclusion.commitStart(ctx); startErr != nil {
		return runs.Result{}, errors.Join(err, startErr)
	}
	if wished.Stop == nil {
		var wishErr error
		wished, wishErr = t.checkRenewal(ctx)
		err = errors.Join(err, wishErr)
	}
	return t.concludeRun(ctx, held, wished, outcome, err)
}

// concludeDone sees to what came of a run that is done or asks. It is committed unless something
// is known by then that it should depend on: in that case it is looked at, too.
func (t *turn) concludeDone(ctx, held context.Context, outcome flows.Outcome) (runs.Result, error) {
	known := runs.Renewal{Behind: t.job.lease.Behind}
	for {
		before := copyState(t)
		t.conclusion.unless = store.Unless{Stopped: known.Stop == nil, Behind: known.Stop == nil && !known.Behind}
		result, err := t.concludeRun(ctx, held, known, outcome, nil)
		disturbed, ok := errors.AsType[*store.DisturbedError](err)
		if !ok {
			return result, err
		}
		before.restoreTo(t)
		known = disturbed.Renewal
	}
}

// concludeRun sees to what came of a run, once it is looked whether the job's message changed
// meanwhile.
func (t *turn) concludeRun(ctx, held context.Context, wished runs.Renewal, outcome flows.Outcome, err error) (runs.Result, error) {
	if wished.Behind || errors.Is(err, errChanged) {
		_, found, lookErr := t.edits.findEdit(ctx)
		if lookErr == nil && found != unchanged {
			return t.restartJob(ctx, held)
		}
		if lookErr != nil {
			err = errors.Join(err, &storeError{lookErr})
		}
	}
	if wished.Stop != nil {
		return t.conclusion.concludeStopped(ctx, *wished.Stop)
	}
	switch {
	case errors.Is(err, runs.ErrLost), errors.Is(context.Cause(held), runs.ErrLost):
		return runs.Result{}, runs.ErrLost
	case err == nil && outcome.Kind == flows.Asked:
		return t.conclusion.postQuestion(ctx, *outcome.Question)
	case err == nil:
		return t.conclusion.concludeOutcome(ctx, outcome)
	case ctx.Err() != nil:
		return runs.Result{}, context.Cause(ctx)
	case errors.Is(err, errDraining):
		_, saveErr := t.job.journal.Commit(ctx, store.Commit{Records: []runs.Record{t.job.record}})
		return runs.Result{}, errors.Join(err, saveErr)
	case isPoisoned(err):
		return t.conclusion.parkOrLeave(ctx, err)
	}
	if asked, ok := errors.AsType[*platformError](err); ok {
		return runs.Result{}, asked
	}
	if away, ok := errors.AsType[*storeError](err); ok && !errors.Is(err, runs.ErrTooLarge) {
		return runs.Result{}, away
	}
	return t.conclusion.concludeFailed(ctx, err)
}

// driveWatched drives the flow, unless a person stopped the job before, until the message that it
// is about changes.
func (t *turn) driveWatched(held context.Context, flow flows.Flow, watch *watch) (flows.Outcome, error) {
	if err := context.Cause(held); err != nil {
		return flows.Outcome{}, err
	}
	driving, release := t.edits.holdUnchanged(held)
	defer release()
	outcome, err := t.run.driveAllowed(driving, flow, flows.Runtime{Store: watch, Observe: watch.observeEvent, ShowStep: watch.showResearchStep, SkipLast: true})
	if errors.Is(context.Cause(driving), errChanged) {
		err = errors.Join(err, errChanged)
	}
	return outcome, err
}

// checkRenewal tells whether a person stopped the job before it had its outcome, and whether a
// change of its message may wait behind it.
func (t *turn) checkRenewal(ctx context.Context) (runs.Renewal, error) {
	renewal, err := t.bot.store.Renew(ctx, t.job.lease)
	if err != nil {
		return runs.Renewal{}, &storeError{err}
	}
	return renewal, nil
}

// parkOrLeave puts a run aside that can't go on, if no newer program may know how.
func (c *conclusion) parkOrLeave(ctx context.Context, err error) (runs.Result, error) {
	if result, ok := c.job.leaveToNewer(ctx, err); ok {
		return result, nil
	}
	return c.parkRun(ctx, err)
}

// isPoisoned tells of a checkpoint that this program can't go on from, however often it
// tries. It is left as it is.
func isPoisoned(err error) bool {
	if _, ok := errors.AsType[*graph.CheckpointError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*graph.SchemaError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*graph.UnknownNodeError](err); ok {
		return true
	}
	_, ok := errors.AsType[*graph.UnknownFieldError](err)
	return ok
}
