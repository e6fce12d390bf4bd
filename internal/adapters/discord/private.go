package discord

import (
	"context"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

var _ chat.PrivateOpener = (*Adapter)(nil)

// OpenPrivate implements chat.PrivateOpener: it goes on in the direct conversation.
func (a *Adapter) OpenPrivate(ctx context.Context, thread chat.ThreadID, who chat.UserID, question string) (chat.ThreadID, chat.MessageID, error) {
	r, err := a.openRoom(ctx, thread, "")
	if err != nil {
		return "", "", err
	}
	if err := r.goTo(ctx, who); err != nil {
		return "", "", err
	}
	made := note{Content: escapeText("You asked: "+render.Cut(question, 300), false), Embeds: []embed{}, Components: []component{}, Mentions: callNobody()}
	key := interact.NewPostKey("private", thread, question) // one for each question of the thread
	id, err := r.createMessage(ctx, made, nil, nonceOf(mark{key: key}))
	if err != nil {
		return "", "", err
	}
	at := place{guild: directGuild, channel: r.at.channel}
	return at.threadID(), source{channel: at.channel, message: id}.messageID(), nil
}
