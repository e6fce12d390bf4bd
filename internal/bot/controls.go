package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Stop implements chat.Controls.
func (b *Bot) Stop(ctx context.Context, thread chat.ThreadID, by chat.UserID) (bool, error) {
	head, err := b.toStop(ctx, thread, by)
	if err != nil {
		return false, err
	}
	if head.Event != "" {
		return b.store.Stop(ctx, thread, head.Event, by)
	}
	remembered, err := b.sessions.Load(ctx, thread)
	if err != nil || remembered.Waiting == nil {
		return false, err
	}
	if !mayAnswer(remembered.Waiting.Question, by) {
		return false, chat.ErrForbidden
	}
	err = b.awaitControl(ctx, runs.Job{Event: newEvent(dropJob), Kind: dropJob, Message: chat.Message{Thread: thread, Author: by, At: b.now()}}, nil)
	if errors.Is(err, errNothing) {
		return false, nil
	}
	return err == nil, err
}

// Retry implements chat.Controls.
func (b *Bot) Retry(ctx context.Context, run chat.RunID, by chat.UserID, conversation chat.Conversation) error {
	record, err := b.records.Load(ctx, run)
	switch {
	case err != nil:
		return err
	case record.Author != by:
		return chat.ErrForbidden
	case record.Status() == runs.Done:
		return chat.ErrRunOver
	}
	job := runs.Job{Event: newEvent(runs.Retry), Kind: runs.Retry, Run: run, Message: chat.Message{
		ID: record.Message, Thread: record.Thread, Author: by, Depth: record.Depth, At: b.now(),
	}}
	if conversation == nil {
		_, err := b.store.Enqueue(ctx, job)
		return err
	}
	return b.awaitControl(ctx, job, conversation)
}

// awaitControl has a job done that nobody wished for before, and waits for its end.
func (b *Bot) awaitControl(ctx context.Context, job runs.Job, conversation chat.Conversation) error {
	return b.followJob(ctx, job, conversation, func(ctx context.Context) (bool, error) { return b.store.Enqueue(ctx, job) })
}

// Rate implements chat.Controls.
func (b *Bot) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	switch rating.Verdict {
	case chat.Up, chat.Down, chat.Unrated:
	default:
		return fmt.Errorf("rate run %s: there is no verdict %q, only up, down and none", run, rating.Verdict)
	}
	if rating.At.IsZero() {
		rating.At = b.now()
	}
	rating.Reason = shorten.Head(strings.TrimSpace(strings.ToValidUTF8(rating.Reason, "\uFFFD")), chat.MaxReason)
	return b.records.Rate(ctx, run, rating)
}

// RatingsOf implements chat.Ratings.
func (b *Bot) RatingsOf(ctx context.Context, run chat.RunID) ([]chat.Rating, error) {
	record, err := b.records.Load(ctx, run)
	return record.Ratings, err
}

// ThreadOf implements chat.RunThreads.
func (b *Bot) ThreadOf(ctx context.Context, run chat.RunID) (chat.ThreadID, error) {
	record, err := b.records.Load(ctx, run)
	return record.Thread, err
}

// Explain implements chat.Controls.
func (b *Bot) Explain(ctx context.Context, run chat.RunID) (chat.Trace, error) {
	record, err := b.records.Load(ctx, run)
	if err != nil {
		return chat.Trace{}, err
	}
	return b.filterTrace(ctx, record)
}
