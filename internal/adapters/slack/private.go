package slack

import (
	"context"
	"errors"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

var _ chat.PrivateOpener = (*Adapter)(nil)

// OpenPrivate implements chat.PrivateOpener: it begins a thread in the direct conversation.
func (a *Adapter) OpenPrivate(ctx context.Context, thread chat.ThreadID, who chat.UserID, question string) (chat.ThreadID, chat.MessageID, error) {
	s, err := a.senderFor(ctx, thread)
	if err != nil {
		return "", "", err
	}
	at, err := s.beginDirect(ctx, who, string(thread), question)
	if err != nil {
		return "", "", err
	}
	return at.threadID(), chat.MessageID(at.root), nil
}

// beginDirect begins a thread in the direct conversation with a person, by a message that
// repeats their question. cause is the id of what it was asked by.
func (s sender) beginDirect(ctx context.Context, who chat.UserID, cause, question string) (place, error) {
	channel, err := s.openDirect(ctx, who)
	if err != nil {
		return place{}, err
	}
	s.at = place{team: s.at.team, channel: channel}
	key := keyOf("private", signal{place: s.at, message: chat.Message{ID: chat.MessageID(cause)}})
	s.at.root, err = s.postPart(ctx, part{key: key, of: 1}, note{text: escapeText("You asked: " + rich.Cut(question, maxNotification))})
	return s.at, err
}

// answerPrivately has the asker of a run answered once more, alone, and says where.
func (a *Adapter) answerPrivately(ctx context.Context, bot *running.Handler, of signal) error {
	if bot.Private == nil {
		a.logSkipped(ctx, "the bot answers nobody in private")
		return nil
	}
	err := bot.Private.AnswerPrivately(ctx, chat.RunID(of.about), of.by)
	switch {
	case errors.Is(err, chat.ErrRefused), errors.Is(err, chat.ErrGone):
		return a.sendPrivateLine(ctx, of, "I can't write to you directly.")
	case err != nil:
		return fmt.Errorf("answer in private: %w", err)
	}
	return a.sendPrivateLine(ctx, of, "On it: the answer comes in our direct conversation.")
}
