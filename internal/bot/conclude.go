package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// conclusion writes down what came of a job, and has it shown.
type conclusion struct {
	job          *job
	conversation *conversation
	run          *flowRun
	delivery     *delivery
	queue        runs.Queue

	remindAfter, expireAfter time.Duration // of Options
	unless                   store.Unless  // what the next commit depends on
}

// concludeOutcome commits and shows the outcome of a run that is done.
func (c *conclusion) concludeOutcome(ctx context.Context, outcome flows.Outcome) (runs.Result, error) {
	c.job.record.Move(runs.Done, c.job.now(), string(outcome.Kind))
	if outcome.Scores != nil {
		c.conversation.session.Evaluate(c.job.record.ID, outcome.Scores)
	}
	reply := replyOf(outcome)
	for _, group := range reply.Sources {
		for i := range group.Sources {
			markOld(&group.Sources[i], c.job.now())
		}
	}
	reply.More = c.run.hasMore(outcome)
	reply.Actions = c.run.listActions(ctx, outcome)
	if err := c.run.nameCited(ctx, &reply, outcome); err != nil {
		return runs.Result{}, &storeError{err}
	}
	if c.run.closedHistory {
		reply.Note = joinNotes(reply.Note, closedHistory)
	}
	var err error
	if c.delivery.offers, err = c.run.findOffer(ctx); err != nil {
		c.job.logger.WarnContext(ctx, "find out what to offer in private", "run", string(c.job.record.ID), "error", err)
	}
	if note := c.run.noModelsNote(); note != "" {
		reply.Note = joinNotes(reply.Note, note)
	}
	if c.conversation.note != "" {
		reply.Note = joinNotes(c.conversation.note, reply.Note)
	}
	return c.recordOutcome(ctx, reply, runs.Result{Over: c.job.record.ID})
}

// concludeStopped tells the one who asked.
func (c *conclusion) concludeStopped(ctx context.Context, by runs.Stop) (runs.Result, error) {
	c.conversation.session.Halt = &by
	c.job.record.Move(runs.Cancelled, c.job.now(), "a person stopped it")
	return c.recordOutcome(ctx, chat.Reply{Outcome: chat.Failure, Stopped: true, Text: c.conversation.choosePhrases().Text(phrases.RunStopped)}, runs.Result{})
}

// concludeFailed says that the run failed, with its id. The cause goes to the log alone.
func (c *conclusion) concludeFailed(ctx context.Context, err error) (runs.Result, error) {
	c.job.logger.ErrorContext(ctx, "run failed", "run", string(c.job.record.ID), "thread", string(c.job.message.Thread), "error", err)
	reason := "it failed outside of its nodes"
	if node, ok := errors.AsType[*graph.NodeError](err); ok {
		reason = fmt.Sprintf("node %q failed", node.Node)
	}
	c.job.record.Move(runs.Failed, c.job.now(), reason)
	return c.recordOutcome(ctx, chat.Reply{
		Outcome: chat.Failure,
		Text:    c.conversation.choosePhrases().Text(phrases.RunFailed, c.job.record.ID),
	}, runs.Result{})
}

// parkRun puts a run aside that can't go on, and tells of it: those who run the program may
// repair it and replay the job, or whoever asked may retry.
func (c *conclusion) parkRun(ctx context.Context, err error) (runs.Result, error) {
	reason := fmt.Sprintf("run %s: %v", c.job.record.ID, err)
	c.job.record.Move(runs.Failed, c.job.now(), "it was put aside: "+err.Error())
	return c.recordOutcome(ctx, chat.Reply{
		Outcome: chat.Failure,
		Text:    c.conversation.choosePhrases().Text(phrases.RunParked, c.job.record.ID),
	}, runs.Result{Next: runs.Dead, Reason: reason})
}

// giveUp puts a job aside that was taken up too often.
func (t *turn) giveUp(ctx context.Context) (runs.Result, error) {
	err := fmt.Errorf("it was taken up %d times and never came to an end", t.job.entry.Attempt-1)
	dead := runs.Result{Next: runs.Dead, Reason: err.Error()}
	if loadErr := t.conversation.loadSession(ctx); loadErr != nil {
		dead.Reason = errors.Join(err, loadErr).Error()
		return dead, t.delivery.announceDone(happened{Refusal: broken})
	}
	if !t.job.again {
		return dead, t.delivery.announceDone(happened{Refusal: broken})
	}
	work := t.conversation.session.Work
	t.job.message.ID, t.conversation.note, t.conversation.closed = work.Message, work.Note, work.Closed
	if work.Over || work.Run == "" {
		return t.delivery.deliverOutcome(ctx)
	}
	if t.job.record, err = t.bot.records.Load(ctx, work.Run); err != nil {
		return dead, t.delivery.announceDone(happened{Refusal: broken})
	}
	return t.conclusion.parkRun(ctx, errors.New(dead.Reason))
}

// recordOutcome remembers what came of the run and shows it. The record comes first: who is
// told of the reply can ask how it came about.
func (c *conclusion) recordOutcome(ctx context.Context, reply chat.Reply, result runs.Result) (runs.Result, error) {
	c.conversation.session.Turns = slices.DeleteFunc(c.conversation.session.Turns, c.conversation.isFailure) // of an earlier attempt
	reply.Run = c.job.record.ID
	c.conversation.recordReply(c.job.message.ID, reply)
	c.conversation.session.BoundDocuments()
	return c.commitAndShow(ctx, result, c.job.record)
}

// commitAndShow commits that the turns hold what came of the job, with records and what is to be
// posted, and shows it.
func (c *conclusion) commitAndShow(ctx context.Context, result runs.Result, records ...runs.Record) (runs.Result, error) {
	if c.conversation.session.Work == nil || c.conversation.session.Work.Event != c.job.entry.Event || !c.conversation.session.Work.Came.Equal(c.job.entry.Enqueued) {
		c.conversation.setWork(session.Work{})
	}
	work := c.conversation.session.Work
	work.Over, work.Result = true, result
	if c.conversation.published {
		work.Closed, c.conversation.closed = nil, nil
	} else {
		work.Closed = c.conversation.closed
	}
	delivery, err := c.delivery.deliverySoon()
	if err != nil {
		return runs.Result{}, err
	}
	changes := store.Commit{Session: c.conversation.savedSession(), Records: append(c.conversation.changed, records...), Delivery: delivery, Unless: c.unless}
	c.conversation.changed, c.unless = nil, store.Unless{}
	if err := c.delivery.commitDelivery(ctx, changes); err != nil {
		return runs.Result{}, err
	}
	return c.delivery.deliverOutcome(ctx)
}

// postQuestion posts a run's question. It takes the place of any other that waits in the thread.
func (c *conclusion) postQuestion(ctx context.Context, asked graph.Question) (runs.Result, error) {
	if c.conversation.session.Waiting != nil {
		if err := c.conversation.loadWaitingRun(ctx); err != nil {
			return runs.Result{}, err
		}
	}
	if c.conversation.session.Waiting != nil {
		c.conversation.abandonWaiting(leftOpen, "another question took its place")
	}
	c.job.record.Move(runs.Waiting, c.job.now(), "it asked a question")
	key := c.conversation.session.Work.Key
	if err := c.remindLater(ctx, key, asked.Deadline); err != nil {
		return runs.Result{}, err
	}
	question := questionOf(c.job.record.ID, c.job.record.Author, asked)
	c.conversation.session.Waiting = &session.Waiting{
		Run: c.job.record.ID, Flow: c.job.record.Flow, Question: question, Request: c.job.record.Request, Key: key,
	}
	c.conversation.appendReply(chat.Turn{Role: chat.Bot, Message: c.job.message.ID, At: c.job.now(), Question: &question})
	return c.commitAndShow(ctx, runs.Result{}, c.job.record)
}

// replyWithoutRun replies to a message that is about no run, or only ends one.
func (c *conclusion) replyWithoutRun(ctx context.Context, reply chat.Reply) (runs.Result, error) {
	c.conversation.recordMessage()
	c.conversation.recordReply(c.job.message.ID, reply)
	return c.commitAndShow(ctx, runs.Result{})
}

// remindLater sees to it that the question is repeated, and given up in the end.
func (c *conclusion) remindLater(ctx context.Context, key runs.DeliveryKey, deadline time.Duration) error {
	if deadline <= 0 {
		deadline = c.expireAfter
	}
	job := runs.Job{Kind: runs.Remind, Run: c.job.record.ID, Message: chat.Message{Thread: c.job.message.Thread, Author: c.job.record.Author}}
	if c.remindAfter < deadline {
		job.Event = remindEvent(key)
		if _, err := c.queue.EnqueueAfter(ctx, job, c.remindAfter); err != nil {
			return err
		}
	}
	job.Event = expireEvent(key)
	_, err := c.queue.EnqueueAfter(ctx, job, deadline)
	return err
}
