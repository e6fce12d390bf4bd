package bot

import (
	"context"
	"fmt"
	"slices"

	"cairn/internal/chat"
	"cairn/internal/graph/flows"
)

var _ chat.Extender = (*Bot)(nil)

// Extend implements chat.Extender: it is an edit of the message that asks for more depth.
func (b *Bot) Extend(ctx context.Context, run chat.RunID, by chat.UserID) error {
	record, err := b.records.Load(ctx, run)
	if err != nil {
		return fmt.Errorf("extend the answer of run %s: %w", run, err)
	}
	if record.Author != by {
		return chat.ErrForbidden
	}
	remembered, err := b.sessions.Load(ctx, record.Thread)
	if err != nil {
		return fmt.Errorf("extend the answer of run %s: %w", run, err)
	}
	at := personTurn(remembered.Turns, record.Message)
	extends := slices.ContainsFunc(remembered.Turns, func(turn chat.Turn) bool {
		return turn.Reply != nil && turn.Reply.Run == run && turn.Reply.More
	})
	switch {
	case at < 0, !extends:
		return chat.ErrUnknownRun
	case remembered.Waiting != nil:
		return chat.ErrOpenQuestion
	}
	return b.Edited(ctx, chat.Message{
		ID: record.Message, Thread: record.Thread, Author: by, Text: remembered.Turns[at].Text, Files: remembered.Turns[at].Files,
		Depth: chat.Comprehensive, Collections: record.Collections, Asker: record.Asker, At: b.now(),
	})
}

// moreFloor is what evidence that is not shown has to score against the best for an answer
// to be worth extending.
const moreFloor = 0.5

// hasMore tells whether an answer to a plain question leaves something out that a longer
// one would say.
func (t *turn) hasMore(outcome flows.Outcome) bool {
	evidence := outcome.Trace.Evidence
	if t.poster == nil || outcome.Kind != flows.Answered || t.record.Flow != t.first || t.record.Depth == chat.Comprehensive ||
		t.record.Message != t.message.ID || len(evidence) == 0 {
		return false
	}
	return slices.ContainsFunc(evidence, func(c flows.Candidate) bool { return !c.Kept && c.Score >= moreFloor*evidence[0].Score })
}
