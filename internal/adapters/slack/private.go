package slack

import (
	"context"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
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
	key := interact.NewPostKey("private", s.at.threadID(), cause)
	s.at.root, err = s.postPart(ctx, part{key: key, of: 1}, note{text: escapeText("You asked: " + render.Cut(question, maxNotification))})
	return s.at, err
}
