package bot

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Quota limits the questions that become runs, and is told what runs cost: a
// quota.Limiter. It is asked by the worker, which knows what a message is: an answer to a
// question, a word to stop, help and status are never limited, and intake waits for nothing.
type Quota interface {
	Admit(ctx context.Context, id string, message chat.Message) (*quota.Refusal, error)
	Watch(run chat.RunID, message chat.Message) (charge func(ctx context.Context) error)
}

// ModelBudget limits what teams use of language models. A run of a team whose budget is used up
// goes on without them.
type ModelBudget interface {
	// UsedUp tells for how long a message's team has no models any more, 0 where it has.
	UsedUp(ctx context.Context, message chat.Message) (time.Duration, error)
	Watch(run chat.RunID, message chat.Message) (charge func(ctx context.Context) error)
	// Close has a run use no models, Open lets it use them again.
	Close(run chat.RunID)
	Open(run chat.RunID)
}

// limitModels has the run use no models where its team's budget is used up, and else begins to
// count what it uses; charge is to be called once it works no more. A budget that can't be read
// takes nothing from the answer.
func (r *flowRun) limitModels(ctx context.Context) (charge func(ctx context.Context)) {
	if r.models == nil {
		return func(context.Context) {}
	}
	run, message := r.job.record.ID, chat.Message{Thread: r.job.record.Thread, Author: r.job.record.Author, ID: r.job.record.Message}
	left, err := r.models.UsedUp(ctx, message)
	if err != nil {
		r.job.logger.ErrorContext(ctx, "read a team's budget", "run", string(run), "error", err)
	}
	if r.noModels = left; left > 0 {
		r.models.Close(run)
	} else {
		r.models.Open(run)
	}
	watched := r.models.Watch(run, message)
	return func(ctx context.Context) {
		if err := watched(ctx); err != nil {
			r.job.logger.ErrorContext(ctx, "count what a run used", "run", string(run), "error", err)
		}
	}
}

// noModelsNote says why the run was made without models, "" where it was not. Flows say themselves
// that a budget is used up.
func (r *flowRun) noModelsNote() string {
	refused := slices.ContainsFunc(r.job.record.Trace.Models, func(m chat.TraceModel) bool { return m.Failure != "" })
	if r.noModels <= 0 || !refused {
		return ""
	}
	return teamBudgetUsed
}

// teamBudgetUsed is said beside the flow's own line.
const teamBudgetUsed = "It is your team's budget for today; I use language models again after midnight (UTC)."

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
