package bot

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
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
