package bot

import (
	"context"
	"fmt"
	"math"
	"time"

	"cairn/internal/chat"
	"cairn/internal/quota"
	"cairn/internal/runs"
)

// Quota limits the questions that become runs, and is told what runs cost: a
// quota.Limiter. It is asked by the worker, which knows what a message is: an answer to a
// question, a word to stop, help and status are never limited, and intake waits for nothing.
type Quota interface {
	Admit(ctx context.Context, id string, message chat.Message) (*quota.Refusal, error)
	Watch(run chat.RunID, message chat.Message) (charge func(ctx context.Context) error)
}

// overQuota refuses a message that would start a run where there is no room for it. The
// job's event is what it is counted by: a job that is taken up again is counted once.
func (t *turn) overQuota(ctx context.Context) (over bool, result runs.Result, err error) {
	if t.bot.options.Quota == nil {
		return false, runs.Result{}, nil
	}
	refused, err := t.bot.options.Quota.Admit(ctx, string(t.job.entry.Thread())+" "+string(t.job.entry.Event), t.job.message)
	if refused == nil || err != nil {
		return false, runs.Result{}, err
	}
	result, err = t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Noticed, Text: refusalText(*refused, t.job.now())})
	return true, result, err
}

// refusalText tells what is used up, and when to ask again.
func refusalText(refused quota.Refusal, now time.Time) string {
	var used string
	switch {
	case refused.By == quota.Questions && refused.Of == quota.User:
		used = fmt.Sprintf("You have asked %s within an hour, which is as many as I may take from one person.", countNoun(refused.Limit, "question"))
	case refused.By == quota.Questions:
		used = fmt.Sprintf("I was asked %s here within an hour, which is as many as I may take in one place.", countNoun(refused.Limit, "question"))
	case refused.Of == quota.User:
		used = "Answers to you have cost as much today as they may."
	default:
		used = "Answers in this place have cost as much today as they may."
	}
	minutes := int(math.Ceil(refused.Wait.Minutes()))
	wait := countNoun(minutes, "minute")
	if minutes > 90 {
		wait = countNoun(int(math.Ceil(refused.Wait.Hours())), "hour")
	}
	// Seconds are rounded up too: at the time that is named there is room.
	at := now.Add(refused.Wait).UTC().Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	return fmt.Sprintf("%s Please ask again in %s, at %s UTC.", used, wait, at.Format("15:04"))
}
