package bot

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
)

var _ chat.PrivateAnswers = (*Bot)(nil)

// AnswerPrivately implements chat.PrivateAnswers.
func (b *Bot) AnswerPrivately(ctx context.Context, run chat.RunID, by chat.UserID) error {
	record, err := b.records.Load(ctx, run)
	switch {
	case err != nil:
		return err
	case record.Author != by:
		return chat.ErrForbidden
	}
	opener := b.options.Openers[record.Thread.Adapter()]
	if opener == nil {
		return fmt.Errorf("answer run %s in private: %w", run, chat.ErrRefused)
	}
	thread, message, err := opener.OpenPrivate(ctx, record.Thread, by, record.Request)
	if err != nil {
		return fmt.Errorf("open a private conversation about run %s: %w", run, err)
	}
	_, err = b.store.Enqueue(ctx, runs.Job{
		Event: saidEvent(message), Kind: runs.Said, Run: chat.RunID(NewRunID()),
		Message: chat.Message{
			ID: message, Thread: thread, Author: by, Text: record.Request, Depth: record.Depth,
			Collections: record.Collections, Asker: record.Asker, At: b.now(),
		},
	})
	return err
}

// filterTrace takes out of a trace what is not for everybody who sees the run's thread now.
func (b *Bot) filterTrace(ctx context.Context, record runs.Record) (chat.Trace, error) {
	trace := record.Trace
	if b.options.Library == nil || len(trace.Evidence) == 0 {
		return trace, nil
	}
	viewers := b.documents.resolveAccess(ctx, record.Thread, record.Author, record.Asker).Here
	ids := make([]knowledge.PassageID, len(trace.Evidence))
	for i, evidence := range trace.Evidence {
		ids[i] = knowledge.PassageID(evidence.Passage)
	}
	found, err := b.options.Library.Passages(knowledge.WithViewers(ctx, viewers), ids)
	if err != nil {
		return chat.Trace{}, fmt.Errorf("look up the evidence of run %s: %w", record.ID, err)
	}
	seen := make(map[string]bool, len(found))
	for _, f := range found {
		seen[string(f.Passage.ID)] = true
	}
	trace.Evidence = nil
	for _, evidence := range record.Trace.Evidence {
		if seen[evidence.Passage] || evidence.Access == "" {
			trace.Evidence = append(trace.Evidence, evidence)
		}
	}
	return trace, nil
}
