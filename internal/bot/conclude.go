package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/phrases"
	"cairn/internal/runs"
	"cairn/internal/session"
	"cairn/internal/store"
)

func (t *turn) concludeOutcome(ctx context.Context, outcome flows.Outcome) (runs.Result, error) {
	t.record.Move(runs.Done, t.now(), string(outcome.Kind))
	if outcome.Scores != nil {
		t.session.Evaluate(t.record.ID, outcome.Scores)
	}
	reply := replyOf(outcome)
	reply.More = t.hasMore(outcome)
	if err := t.nameCited(ctx, &reply, outcome); err != nil {
		return runs.Result{}, &storeError{err}
	}
	if t.closedHistory {
		reply.Note = joinNotes(reply.Note, closedHistory)
	}
	var err error
	if t.offers, err = t.findOffer(ctx); err != nil {
		t.logger.WarnContext(ctx, "find out what to offer in private", "run", string(t.record.ID), "error", err)
	}
	if t.note != "" {
		reply.Note = joinNotes(t.note, reply.Note)
	}
	return t.recordOutcome(ctx, reply, runs.Result{Over: t.record.ID})
}

// concludeStopped tells the one who asked.
func (t *turn) concludeStopped(ctx context.Context, by runs.Stop) (runs.Result, error) {
	t.session.Halt = &by
	t.record.Move(runs.Cancelled, t.now(), "a person stopped it")
	return t.recordOutcome(ctx, chat.Reply{Outcome: chat.Failure, Text: t.choosePhrases().Text(phrases.RunStopped)}, runs.Result{})
}

// concludeFailed says that the run failed, with its id. The cause goes to the log alone.
func (t *turn) concludeFailed(ctx context.Context, err error) (runs.Result, error) {
	t.logger.ErrorContext(ctx, "run failed", "run", string(t.record.ID), "thread", string(t.message.Thread), "error", err)
	reason := "it failed outside of its nodes"
	if node, ok := errors.AsType[*graph.NodeError](err); ok {
		reason = fmt.Sprintf("node %q failed", node.Node)
	}
	t.record.Move(runs.Failed, t.now(), reason)
	return t.recordOutcome(ctx, chat.Reply{
		Outcome: chat.Failure,
		Text:    t.choosePhrases().Text(phrases.RunFailed, t.record.ID),
	}, runs.Result{})
}

// parkRun puts a run aside that can't go on, and tells of it: those who run the program may
// repair it and replay the job, or whoever asked may retry.
func (t *turn) parkRun(ctx context.Context, err error) (runs.Result, error) {
	reason := fmt.Sprintf("run %s: %v", t.record.ID, err)
	t.record.Move(runs.Failed, t.now(), "it was put aside: "+err.Error())
	return t.recordOutcome(ctx, chat.Reply{
		Outcome: chat.Failure,
		Text:    t.choosePhrases().Text(phrases.RunParked, t.record.ID),
	}, runs.Result{Next: runs.Dead, Reason: reason})
}

// giveUp puts a job aside that was taken up too often.
func (t *turn) giveUp(ctx context.Context) (runs.Result, error) {
	err := fmt.Errorf("it was taken up %d times and never came to an end", t.job.Attempt-1)
	dead := runs.Result{Next: runs.Dead, Reason: err.Error()}
	if loadErr := t.loadSession(ctx); loadErr != nil {
		dead.Reason = errors.Join(err, loadErr).Error()
		return dead, t.announceDone(happened{Refusal: broken})
	}
	if !t.again {
		return dead, t.announceDone(happened{Refusal: broken})
	}
	work := t.session.Work
	t.message.ID, t.note, t.closed = work.Message, work.Note, work.Closed
	if work.Over || work.Run == "" {
		return t.deliver(ctx)
	}
	if t.record, err = t.records.Load(ctx, work.Run); err != nil {
		return dead, t.announceDone(happened{Refusal: broken})
	}
	return t.parkRun(ctx, errors.New(dead.Reason))
}

// recordOutcome remembers what came of the run and shows it. The record comes first: who is
// told of the reply can ask how it came about.
func (t *turn) recordOutcome(ctx context.Context, reply chat.Reply, result runs.Result) (runs.Result, error) {
	t.retractFailure()
	reply.Run = t.record.ID
	t.recordReply(t.message.ID, reply)
	t.session.BoundDocuments()
	return t.commitAndShow(ctx, result, t.record)
}

// commitAndShow commits that the turns hold what came of the job, with records and what is to be
// posted, and shows it.
func (t *turn) commitAndShow(ctx context.Context, result runs.Result, records ...runs.Record) (runs.Result, error) {
	if t.session.Work == nil || t.session.Work.Event != t.job.Event || !t.session.Work.Came.Equal(t.job.Enqueued) {
		t.setWork(session.Work{})
	}
	work := t.session.Work
	work.Over, work.Result = true, result
	if t.published {
		work.Closed, t.closed = nil, nil
	} else {
		work.Closed = t.closed
	}
	delivery, err := t.deliverySoon()
	if err != nil {
		return runs.Result{}, err
	}
	changes := store.Commit{Session: t.savedSession(), Records: append(t.changed.take(), records...), Delivery: delivery, Unless: t.unless}
	t.unless = store.Unless{}
	if err := t.commitDelivery(ctx, changes); err != nil {
		return runs.Result{}, err
	}
	return t.deliver(ctx)
}

// retractFailure forgets the failure line of a run that was tried again.
func (t *turn) retractFailure() { t.session.Turns = slices.DeleteFunc(t.session.Turns, t.isFailure) }

// isFailure tells the failure lines of the record's run.
func (t *turn) isFailure(turn chat.Turn) bool {
	return turn.Reply != nil && turn.Reply.Run == t.record.ID && turn.Reply.Outcome == chat.Failure
}

// postQuestion posts a run's question. It takes the place of any other that waits in the thread.
func (t *turn) postQuestion(ctx context.Context, asked graph.Question) (runs.Result, error) {
	if t.session.Waiting != nil {
		if err := t.loadWaitingRun(ctx); err != nil {
			return runs.Result{}, err
		}
	}
	if t.session.Waiting != nil {
		t.abandonWaiting(leftOpen, "another question took its place")
	}
	t.record.Move(runs.Waiting, t.now(), "it asked a question")
	key := t.session.Work.Key
	if err := t.remindLater(ctx, key, asked.Deadline); err != nil {
		return runs.Result{}, err
	}
	question := questionOf(t.record.ID, t.record.Author, asked)
	t.session.Waiting = &session.Waiting{
		Run: t.record.ID, Flow: t.record.Flow, Question: question, Request: t.record.Request, Key: key,
	}
	t.appendReply(chat.Turn{Role: chat.Bot, Message: t.message.ID, At: t.now(), Question: &question})
	return t.commitAndShow(ctx, runs.Result{}, t.record)
}

// replyWithoutRun replies to a message that is about no run, or only ends one.
func (t *turn) replyWithoutRun(ctx context.Context, reply chat.Reply) (runs.Result, error) {
	t.recordMessage()
	t.recordReply(t.message.ID, reply)
	return t.commitAndShow(ctx, runs.Result{})
}

// remindLater sees to it that the question is repeated, and given up in the end.
func (t *turn) remindLater(ctx context.Context, key runs.DeliveryKey, deadline time.Duration) error {
	if deadline <= 0 {
		deadline = t.options.ExpireAfter
	}
	job := runs.Job{Kind: runs.Remind, Run: t.record.ID, Message: chat.Message{Thread: t.message.Thread, Author: t.record.Author}}
	if t.options.RemindAfter < deadline {
		job.Event = remindEvent(key)
		if _, err := t.store.EnqueueAfter(ctx, job, t.options.RemindAfter); err != nil {
			return err
		}
	}
	job.Event = expireEvent(key)
	_, err := t.store.EnqueueAfter(ctx, job, deadline)
	return err
}
