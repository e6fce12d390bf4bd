package chattest

import (
	"context"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
)

var (
	_ chat.ThreadManager = (*Bot)(nil)
	_ chat.Rewriter      = (*Bot)(nil)
)

// ThreadState implements chat.ThreadManager.
func (b *Bot) ThreadState(_ context.Context, id chat.ThreadID) (chat.ThreadState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.findThread(id).state, nil
}

// RenameThread implements chat.ThreadManager.
func (b *Bot) RenameThread(_ context.Context, id chat.ThreadID, by chat.UserID, title string) error {
	return b.changeThread(id, by, func(in *thread) { in.state.Title = title })
}

// ShareThread implements chat.ThreadManager.
func (b *Bot) ShareThread(_ context.Context, id chat.ThreadID, by chat.UserID, shared bool) error {
	return b.changeThread(id, by, func(in *thread) { in.state.Shared = shared })
}

// DeleteThread implements chat.ThreadManager.
func (b *Bot) DeleteThread(_ context.Context, id chat.ThreadID, by chat.UserID) error {
	return b.changeThread(id, by, func(in *thread) { in.turns, in.state = nil, chat.ThreadState{} })
}

// changeThread changes a thread for the one person who wrote in it.
func (b *Bot) changeThread(id chat.ThreadID, by chat.UserID, change func(*thread)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.findThread(id)
	others := func(turn chat.Turn) bool { return turn.Role == chat.Person && turn.Author != by }
	if len(in.turns) == 0 || slices.ContainsFunc(in.turns, others) {
		return chat.ErrForbidden
	}
	change(in)
	return nil
}

// SharedTranscript implements chat.ThreadManager: it leaves out all that cites a document.
func (b *Bot) SharedTranscript(_ context.Context, id chat.ThreadID, _ chat.Identity) ([]chat.Turn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.findThread(id)
	if !in.state.Shared {
		return nil, chat.ErrForbidden
	}
	var shown []chat.Turn
	for _, turn := range in.turns {
		if turn.Reply != nil && len(turn.Reply.Sources) > 0 {
			turn.Reply = &chat.Reply{Outcome: chat.Noticed, Text: "Not for you."}
		}
		shown = append(shown, turn)
	}
	return shown, nil
}

// Rewrite implements chat.Rewriter: it follows the script of the new text.
func (b *Bot) Rewrite(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	return b.inTurn(ctx, message, conversation, func() (Script, error) {
		b.mu.Lock()
		in := b.findThread(message.Thread)
		at := slices.IndexFunc(in.turns, func(turn chat.Turn) bool { return turn.Role == chat.Person && turn.Message == message.ID })
		if at < 0 {
			b.mu.Unlock()
			return nil, chat.ErrUnknownRun
		}
		in.turns[at].Text = message.Text
		in.turns = slices.DeleteFunc(in.turns, func(turn chat.Turn) bool { return turn.Role == chat.Bot && turn.Message == message.ID })
		b.messages = append(b.messages, message)
		b.mu.Unlock()
		return b.scriptFor(message), nil
	})
}
