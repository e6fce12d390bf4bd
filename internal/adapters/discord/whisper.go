package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
)

// originalAnswer is how the first answer to an interaction is addressed.
const originalAnswer = "@original"

func (r room) webhookMessage(id string) string {
	if id != "" && id == r.ticket.On {
		id = originalAnswer
	}
	return discordgo.EndpointWebhookMessage(r.webhook, r.ticket.Token, id)
}

// readOriginal reads the first answer to the interaction; false where there is none any more.
func (r room) readOriginal(ctx context.Context) (wireMessage, bool, error) {
	var told wireMessage
	err := r.adapter.callAPI(ctx, request{
		does: "read the answer to a command", method: http.MethodGet, url: r.webhookMessage(originalAnswer), public: true,
	}, &told)
	if errors.Is(err, chat.ErrGone) {
		return wireMessage{}, false, nil
	}
	return told, err == nil, err
}

// answerOriginal writes the first answer to a command. done is false where it is not to be
// written any more: it is another post, or the ticket is void.
func (r room) answerOriginal(ctx context.Context, made note, files []upload, key chat.PostKey) (id string, done bool, err error) {
	there, ok, err := r.readOriginal(ctx)
	if err != nil || !ok {
		return "", false, notPosted(err)
	}
	m, isOurs := r.markOfOriginal(there)
	if free := there.Flags&loading != 0 || isOurs && (m.isDraft() || m.key == key); !free {
		return "", false, nil
	}
	if len(made.Components) == 0 {
		r.ticket.Posted = key
		if err := r.adapter.options.Tickets.Keep(ctx, r.at.root, r.ticket); err != nil {
			return "", false, notPosted(fmt.Errorf("keep which post answers a command of Discord's: %w", err))
		}
	}
	err = r.editFollowUp(ctx, originalAnswer, made, files)
	if errors.Is(err, chat.ErrGone) {
		return "", false, nil
	}
	return there.ID, err == nil, err
}

// markOfOriginal reads the mark of the first answer to a command, which stands with its ticket where
// the message has no button.
func (r room) markOfOriginal(there wireMessage) (mark, bool) {
	m, ok := markOf(there.Components)
	if !ok && there.Flags&loading == 0 && r.ticket.Posted != "" {
		return r.newMark(r.ticket.Posted, 0, 1), true
	}
	return m, ok
}

// buildPrivate gives what one person alone is to see, with a mark where it has buttons: one that
// does nothing would only be in the way.
func (r room) buildPrivate(shown rendered, key chat.PostKey) (note, []upload) {
	made, files := shown.buildMessage(r.newMark(key, 0, 1), false)
	if len(shown.notes[0].Components) == 0 {
		made.Components = []component{}
	}
	return made, files
}

func (r room) editFollowUp(ctx context.Context, id string, made note, files []upload) error {
	return r.adapter.callAPI(ctx, request{
		does: "write the answer to a command", method: http.MethodPatch, url: r.webhookMessage(id), body: made, files: files, public: true,
	}, nil)
}

// followUp posts a further answer to an interaction.
func (r room) followUp(ctx context.Context, made note, files []upload) (string, error) {
	if r.ticket.Private {
		made.Flags |= ephemeral
	}
	var told wireMessage
	err := r.adapter.callAPI(ctx, request{
		does: "post a further answer to a command", method: http.MethodPost,
		url: discordgo.EndpointWebhookToken(r.webhook, r.ticket.Token) + "?wait=true", body: made, files: files, public: true,
	}, &told)
	return told.ID, err
}

// postPrivately shows a post to one person: as an answer to what they asked or pressed, and where
// that can't be any more in the direct conversation. What is for one person, said to a
// message or to a command that all see, is said there: Discord hides nothing then.
func (r room) postPrivately(ctx context.Context, key chat.PostKey, shown rendered, only chat.UserID) (chat.MessageID, error) {
	made, files := r.buildPrivate(shown, key)
	if r.ticket.Original {
		id, done, err := r.answerOriginal(ctx, made, files, key)
		if done || err != nil {
			return chat.MessageID(id), err
		}
	}
	if r.ticket.Token != "" {
		r.ticket.Private = true
		id, err := r.followUp(ctx, made, files)
		if !errors.Is(err, chat.ErrGone) {
			return chat.MessageID(id), err
		}
	}
	if r.at.private != "" || r.direct {
		if only == "" {
			only = r.at.private
		}
		if err := r.goTo(ctx, only); err != nil {
			return "", err
		}
	} else { // all see it, and may reply to it
		made, files = shown.buildMessage(r.newMark(key, 0, 1), false)
	}
	id, err := r.createMessage(ctx, made, files, nonceOf(r.newMark(key, 0, 1)))
	return chat.MessageID(id), err
}

// goTo makes the room the direct conversation with a person.
func (r *room) goTo(ctx context.Context, person chat.UserID) error {
	channel, err := r.adapter.openDirect(ctx, string(person))
	if err != nil {
		return notPosted(err)
	}
	r.at.channel = channel
	return nil
}

// findPrivate looks whether the answer to a command is the post of a key.
func (r room) findPrivate(ctx context.Context, key chat.PostKey) (chat.MessageID, bool, error) {
	if !r.ticket.Original {
		return "", false, nil
	}
	there, ok, err := r.readOriginal(ctx)
	if err != nil || !ok {
		return "", false, err
	}
	m, isOurs := r.markOfOriginal(there)
	return chat.MessageID(there.ID), isOurs && m.key == key && !m.isDraft(), nil
}

// editPrivate edits what one person alone sees, while the ticket is good.
func (r room) editPrivate(ctx context.Context, id string, shown rendered) error {
	if r.ticket.Token == "" {
		return chat.ErrGone
	}
	var was wireMessage
	if err := r.adapter.callAPI(ctx, request{does: "read an answer", method: http.MethodGet, url: r.webhookMessage(id), public: true}, &was); err != nil {
		return err
	}
	m, _ := r.markOfOriginal(was)
	made, files := r.buildPrivate(shown, m.key)
	if shown.stay {
		made.Attached, files = nil, nil
	}
	return r.editFollowUp(ctx, id, made, files)
}

// removePrivate takes back what one person alone sees, while that can be done.
func (r room) removePrivate(ctx context.Context, id string) error {
	if r.ticket.Token == "" {
		return nil
	}
	err := r.adapter.callAPI(ctx, request{does: "take back an answer", method: http.MethodDelete, url: r.webhookMessage(id), public: true}, nil)
	if errors.Is(err, chat.ErrGone) {
		return nil
	}
	return err
}
