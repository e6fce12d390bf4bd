package discord

import (
	"context"
	"errors"

	"cairn/internal/chat"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

var _ chat.PrivateOpener = (*Adapter)(nil)

// OpenPrivate implements chat.PrivateOpener: it goes on in the direct conversation.
func (a *Adapter) OpenPrivate(ctx context.Context, thread chat.ThreadID, who chat.UserID, question string) (chat.ThreadID, chat.MessageID, error) {
	r, err := a.room(ctx, thread, "")
	if err != nil {
		return "", "", err
	}
	if err := r.goTo(ctx, who); err != nil {
		return "", "", err
	}
	made := note{Content: escape("You asked: "+rich.Cut(question, 300), false), Embeds: []embed{}, Components: []component{}, Mentions: nobody()}
	key := keyOf("private", signal{message: chat.Message{Thread: thread, ID: chat.MessageID(question)}}) // one for each question of the thread
	id, err := r.create(ctx, made, nil, nonceOf(mark{key: key}))
	if err != nil {
		return "", "", err
	}
	at := place{guild: directly, channel: r.at.channel}
	return at.thread(), source{channel: at.channel, message: id}.id(), nil
}

// answerPrivately has the asker of a run answered once more, alone, and says where.
func (a *Adapter) answerPrivately(ctx context.Context, bot *running.Handler, of signal) (note, error) {
	if bot.Private == nil {
		return note{}, chat.ErrUnknownRun
	}
	err := bot.Private.AnswerPrivately(ctx, chat.RunID(of.interaction.does.about), of.by)
	if errors.Is(err, chat.ErrRefused) || errors.Is(err, chat.ErrGone) {
		return note{Content: "I can't write to you directly.", Mentions: nobody()}, nil
	}
	return note{Content: "On it: the answer comes in our direct conversation.", Mentions: nobody()}, err
}
