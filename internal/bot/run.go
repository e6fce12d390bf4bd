package bot

import (
	"context"
	"errors"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/knowledge"
	"cairn/internal/runs"
	"cairn/internal/store"
)

// runFlow has the record's flow go on, from its checkpoint if it has one, and sees to what
// comes of it. The session knows the job by now. held ends when a person stops it.
func (t *turn) runFlow(ctx, held context.Context) (runs.Result, error) {
	t.showClosed(ctx)
	flow, known := t.flows[t.record.Flow]
	if !known {
		return t.parkOrLeave(ctx, &aheadError{fmt.Sprintf("flow %q", t.record.Flow), "upgrade or configure it"})
	}
	watch := t.startWatch(ctx)
	t.beginDraft(ctx)
	begun, charge := t.now(), t.watchCost()
	outcome, err := t.driveWatched(held, flow, watch)
	watch.stopWatch()
	t.endDraft()
	charge(ctx)
	t.recordRun(ctx, outcome, err, watch.steps, begun)
	var wished runs.Renewal
	if stopped, ok := errors.AsType[*runs.StoppedError](context.Cause(held)); ok {
		wished = runs.Renewal{Stop: &stopped.Stop, Behind: true}
	}
	if err == nil && wished.Stop == nil {
		return t.concludeDone(ctx, held, outcome)
	}
	if startErr := t.commitStart(ctx); startErr != nil {
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
	known := runs.Renewal{Behind: t.lease.Behind}
	for {
		before := copyState(t)
		t.unless = store.Unless{Stopped: known.Stop == nil, Behind: known.Stop == nil && !known.Behind}
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
		_, found, lookErr := t.findEdit(ctx)
		if lookErr == nil && found != unchanged {
			return t.beginAnew(ctx, held)
		}
		if lookErr != nil {
			err = errors.Join(err, &storeError{lookErr})
		}
	}
	if wished.Stop != nil {
		return t.concludeStopped(ctx, *wished.Stop)
	}
	switch {
	case errors.Is(err, runs.ErrLost), errors.Is(context.Cause(held), runs.ErrLost):
		return runs.Result{}, runs.ErrLost
	case err == nil && outcome.Kind == flows.Asked:
		return t.postQuestion(ctx, *outcome.Question)
	case err == nil:
		return t.concludeOutcome(ctx, outcome)
	case ctx.Err() != nil:
		return runs.Result{}, context.Cause(ctx)
	case errors.Is(err, errDraining):
		return runs.Result{}, errors.Join(err, commit(ctx, t.journal, store.Commit{Records: []runs.Record{t.record}}))
	case isPoisoned(err):
		return t.parkOrLeave(ctx, err)
	}
	if asked, ok := errors.AsType[*platformError](err); ok {
		return runs.Result{}, asked
	}
	if away, ok := errors.AsType[*storeError](err); ok && !errors.Is(err, runs.ErrTooLarge) {
		return runs.Result{}, away
	}
	return t.concludeFailed(ctx, err)
}

// driveWatched drives the flow, unless a person stopped the job before, until the message that it
// is about changes.
func (t *turn) driveWatched(held context.Context, flow flows.Flow, watch *watch) (flows.Outcome, error) {
	if err := context.Cause(held); err != nil {
		return flows.Outcome{}, err
	}
	driving, release := t.holdUnchanged(held)
	defer release()
	outcome, err := t.driveAllowed(driving, flow, flows.Runtime{Store: watch, Observe: watch.observeEvent, SkipLast: true})
	if errors.Is(context.Cause(driving), errChanged) {
		err = errors.Join(err, errChanged)
	}
	return outcome, err
}

// checkRenewal tells whether a person stopped the job before it had its outcome, and whether a
// change of its message may wait behind it.
func (t *turn) checkRenewal(ctx context.Context) (runs.Renewal, error) {
	renewal, err := t.store.Renew(ctx, t.lease)
	if err != nil {
		return runs.Renewal{}, &storeError{err}
	}
	return renewal, nil
}

// driveFlow runs the flow to an outcome. Only a run that was never begun is started.
func (t *turn) driveFlow(ctx context.Context, flow flows.Flow, runtime flows.Runtime) (flows.Outcome, error) {
	request, err := t.buildRequest(ctx)
	if err != nil {
		return flows.Outcome{}, err
	}
	request.Attachments = t.attached
	request.Before = t.loadPriorMessages(ctx)
	request.Asks = t.fileQuestion()
	fresh := !t.again && t.record.ID == t.job.Run && t.job.Kind != runs.Retry
	if fresh {
		return flow.Start(ctx, request, runtime)
	}
	var given []graph.Answer
	if answer := t.session.Work.Answer; answer != nil {
		given = append(given, *answer)
	}
	outcome, err := flow.Resume(ctx, request.Run, given, runtime)
	if errors.Is(err, graph.ErrNoCheckpoint) && given == nil {
		if request.Attachments, err = t.readFilesAgain(ctx); err != nil {
			return flows.Outcome{}, err
		}
		return flow.Start(ctx, request, runtime)
	}
	return outcome, err
}

// buildRequest is what the record's flow is asked, with what was said before.
func (t *turn) buildRequest(ctx context.Context) (flows.Request, error) {
	before := t.session
	for i, turn := range before.Turns {
		if turn.Role == chat.Person && turn.Message == t.record.Message {
			before.Turns = before.Turns[:i]
			break
		}
	}
	before, closed, err := t.cutHistory(ctx, before)
	if err != nil {
		return flows.Request{}, err
	}
	t.closedHistory = closed
	return flows.Request{
		ReadIn: t.record.Thread.Adapter(),
		Filter: flows.Scope{Sources: t.allowedCollections()},
		Run:    string(t.record.ID), Text: t.record.Request, Depth: flows.Depth(t.record.Depth), History: recallHistory(before, t.record.Request),
	}, nil
}

// allowedCollections are those that the run may be answered from; none: all.
func (t *turn) allowedCollections() []knowledge.SourceID {
	var sources []knowledge.SourceID
	for _, collection := range t.record.Collections {
		sources = append(sources, knowledge.SourceID(collection))
	}
	return sources
}

// parkOrLeave puts a run aside that can't go on, if no newer program may know how.
func (t *turn) parkOrLeave(ctx context.Context, err error) (runs.Result, error) {
	if result, ok := t.leaveToNewer(ctx, err); ok {
		return result, nil
	}
	return t.parkRun(ctx, err)
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
