package bot

import (
	"context"
	"errors"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// Stop implements chat.Controls.
func (b *Bot) Stop(ctx context.Context, thread chat.ThreadID, by chat.UserID) (bool, error) {
	if working, err := b.halt(ctx, thread, by, nil); working != nil || err != nil {
		return working != nil, err
	}
	return b.drop(ctx, thread, by)
}

// halt stops what works in a thread and gives it; nil where nothing does, or only
// somebody else's does while there is a question that the person may drop.
func (b *Bot) halt(ctx context.Context, thread chat.ThreadID, by chat.UserID, said *chat.Message) (*work, error) {
	working := b.lines.first(thread)
	if working == nil {
		return nil, nil
	}
	stopped, err := working.stop(by, said)
	if stopped {
		return working, nil
	}
	if !errors.Is(err, chat.ErrForbidden) {
		return nil, err
	}
	remembered, loadErr := b.sessions.Load(ctx, thread)
	if loadErr != nil {
		return nil, loadErr
	}
	if waiting := remembered.Waiting; waiting != nil && mayAnswer(waiting.Question, by) {
		return nil, nil
	}
	return nil, err
}

// drop closes the question that waits in a thread, if there is one.
func (b *Bot) drop(ctx context.Context, thread chat.ThreadID, by chat.UserID) (bool, error) {
	work, err := b.lines.enterNext(ctx, thread, by)
	if err != nil {
		return false, fmt.Errorf("stop in thread %s: %w", thread, err)
	}
	defer b.lines.leave(thread, work)
	t, err := b.turn(ctx, chat.Message{Thread: thread, Author: by}, nil, work)
	if err != nil || t.session.Waiting == nil {
		return false, err
	}
	if !t.mayAnswer() {
		return false, chat.ErrForbidden
	}
	if err := t.abandon(ctx, cancelled, "its question was dropped"); err != nil {
		return false, err
	}
	return true, b.sessions.Save(ctx, t.session)
}

// stopAtWord stops what works in the message's thread and answers the message; done is
// false where nothing did, and the message takes its turn like any other.
func (b *Bot) stopAtWord(ctx context.Context, message chat.Message, conversation chat.Conversation) (done bool, err error) {
	working, err := b.halt(ctx, message.Thread, message.Author, &message)
	if working == nil || err != nil {
		return false, err
	}
	select {
	case <-working.ended:
	case <-ctx.Done():
		return false, fmt.Errorf("wait for the end of what works in thread %s: %w", message.Thread, ctx.Err())
	}
	if !working.wasTold() { // it was no run, or its end could not be remembered
		return false, nil
	}
	return true, conversation.Reply(ctx, stopReply)
}

// Retry implements chat.Controls.
func (b *Bot) Retry(ctx context.Context, run chat.RunID, by chat.UserID, conversation chat.Conversation) error {
	record, err := b.records.Load(ctx, run)
	if err != nil {
		return err
	}
	if record.Author != by {
		return chat.ErrForbidden
	}
	work, err := b.lines.enter(ctx, record.Thread, by)
	if err != nil {
		return fmt.Errorf("wait for the turn of run %s: %w", run, err)
	}
	defer b.lines.leave(record.Thread, work)
	// What was before it in line may have been the same retry.
	if record, err = b.records.Load(ctx, run); err != nil {
		return err
	}
	if record.Status() == runs.Done {
		return chat.ErrRunOver
	}
	again := chat.Message{ID: record.Message, Thread: record.Thread, Author: by, Text: record.Request, Depth: record.Depth}
	t, err := b.turn(ctx, again, conversation, work)
	if err != nil {
		return err
	}
	t.record = record
	return t.retry(ctx)
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
	return b.records.Rate(ctx, run, rating)
}

// Explain implements chat.Controls.
func (b *Bot) Explain(ctx context.Context, run chat.RunID) (chat.Trace, error) {
	record, err := b.records.Load(ctx, run)
	return record.Trace, err
}
