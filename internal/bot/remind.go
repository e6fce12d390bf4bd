package bot

import (
	"context"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// handleReminder repeats a question that waits for long, or gives it up. One that waits no more
// is left alone.
func (t *turn) handleReminder(ctx context.Context) (runs.Result, error) {
	waiting := t.session.Waiting
	if waiting == nil || t.open.ID == "" {
		return runs.Result{}, nil
	}
	t.message.ID = t.askedAt()
	switch t.job.Event {
	case remindEvent(waiting.Key):
		return t.postReminder(ctx, waiting.Question)
	case expireEvent(waiting.Key):
		return t.expireQuestion(ctx)
	}
	return runs.Result{}, nil
}

// askedAt is the message that the waiting question is about.
func (t *turn) askedAt() chat.MessageID {
	for _, turn := range t.session.Turns {
		if turn.Question != nil && turn.Question.ID == t.session.Waiting.Question.ID && turn.Answer == "" {
			return turn.Message
		}
	}
	return t.open.Message
}

func (t *turn) postReminder(ctx context.Context, question chat.Question) (runs.Result, error) {
	t.recordReply(t.message.ID, chat.Reply{
		Outcome: chat.Noticed,
		Text:    fmt.Sprintf("I still wait for an answer: %s\n\nSay `never mind` to drop it.", question.Text),
	})
	return t.commitAndShow(ctx, runs.Result{})
}

func (t *turn) expireQuestion(ctx context.Context) (runs.Result, error) {
	t.closeQuestion(expired, "")
	t.closeWaitingRun(runs.Expired, "its question was not answered in time")
	t.recordReply(t.message.ID, chat.Reply{
		Run: t.open.ID, Outcome: chat.Noticed, Text: "Nobody answered in time, so I leave it there. Ask again, and I start anew.",
	})
	return t.commitAndShow(ctx, runs.Result{})
}

// dropQuestion closes the waiting question at the wish of a person who pressed a button for it.
func (t *turn) dropQuestion(ctx context.Context) (runs.Result, error) {
	switch {
	case t.session.Waiting == nil:
		return t.refuseJob(ctx, nothing)
	case !t.mayAnswer():
		return t.refuseJob(ctx, forbidden)
	}
	t.message.ID = ""
	t.abandonWaiting(cancelled, "its question was dropped")
	return t.commitAndShow(ctx, runs.Result{})
}
