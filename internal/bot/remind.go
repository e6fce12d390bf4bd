package bot

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// handleReminder repeats a question that waits for long, or gives it up. One that waits no more
// is left alone.
func (t *turn) handleReminder(ctx context.Context) (runs.Result, error) {
	waiting := t.conversation.session.Waiting
	if waiting == nil || t.conversation.waitingRun.ID == "" {
		return runs.Result{}, nil
	}
	t.job.message.ID = t.conversation.askedAt()
	switch t.job.entry.Event {
	case remindEvent(waiting.Key):
		return t.postReminder(ctx, waiting.Question)
	case expireEvent(waiting.Key):
		return t.expireQuestion(ctx)
	}
	return runs.Result{}, nil
}

func (t *turn) postReminder(ctx context.Context, question chat.Question) (runs.Result, error) {
	t.conversation.recordReply(t.job.message.ID, chat.Reply{
		Outcome: chat.Noticed,
		Text:    fmt.Sprintf("I still wait for an answer: %s\n\nSay `never mind` to drop it.", question.Text),
	})
	return t.conclusion.commitAndShow(ctx, runs.Result{})
}

func (t *turn) expireQuestion(ctx context.Context) (runs.Result, error) {
	t.conversation.closeQuestion(expired, "")
	t.conversation.closeWaitingRun(runs.Expired, "its question was not answered in time")
	t.conversation.recordReply(t.job.message.ID, chat.Reply{
		Run: t.conversation.waitingRun.ID, Outcome: chat.Noticed, Text: "Nobody answered in time, so I leave it there. Ask again, and I start anew.",
	})
	return t.conclusion.commitAndShow(ctx, runs.Result{})
}

// dropQuestion closes the waiting question at the wish of a person who pressed a button for it.
func (t *turn) dropQuestion(ctx context.Context) (runs.Result, error) {
	switch {
	case t.conversation.session.Waiting == nil:
		return t.delivery.refuseJob(ctx, nothing)
	case !t.conversation.mayAnswer():
		return t.delivery.refuseJob(ctx, forbidden)
	}
	t.job.message.ID = ""
	t.conversation.abandonWaiting(cancelled, "its question was dropped")
	return t.conclusion.commitAndShow(ctx, runs.Result{})
}
