package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Edit replaces what a post shows, whatever number of messages it had.
func (a *Adapter) Edit(ctx context.Context, thread chat.ThreadID, message chat.MessageID, post chat.Post) error {
	r, err := a.openRoom(ctx, thread, post.To)
	if err != nil {
		return err
	}
	ctx = r.inTurn(ctx, editKey(message), postPatience)
	shown, err := renderPost(post, r.postLook(ctx, post.Only))
	if err != nil {
		return fmt.Errorf("%w: %w", chat.ErrRefused, err)
	}
	if r.at.private != "" || post.Only != "" {
		return r.editPrivate(ctx, string(message), shown)
	}
	there, err := r.readSiblings(ctx, string(message))
	if err != nil {
		return err
	}
	key := there[0].key
	var kept []part
	for _, p := range there {
		if p.index >= len(shown.notes) {
			if err := r.deleteMessage(ctx, p.id); err != nil {
				return err
			}
			continue
		}
		if err := r.updatePart(ctx, p.id, shown, r.newMark(key, p.index, len(shown.notes))); err != nil {
			return err
		}
		kept = append(kept, p)
	}
	_, err = r.postMissing(ctx, key, shown, kept)
	return err
}

// readSiblings gives all messages of the post that a message is the first of.
func (r room) readSiblings(ctx context.Context, first string) ([]part, error) {
	gone := fmt.Errorf("find Discord's message %s: %w", first, chat.ErrGone)
	n, err := strconv.ParseUint(first, 10, 64)
	if err != nil || n == 0 {
		return nil, gone
	}
	url := fmt.Sprintf("%s?limit=%d&after=%d", discordgo.EndpointChannelMessages(r.at.channel), pageSize, n-1)
	var page []wireMessage
	if err := r.adapter.callAPI(ctx, request{does: "read messages", method: http.MethodGet, url: url}, &page); err != nil {
		return nil, err
	}
	var found []part
	for i := len(page) - 1; i >= 0; i-- { // Discord gives the latest first
		p, ok := r.partOf(page[i])
		if ok && (p.id == first || len(found) > 0 && p.key == found[0].key) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, gone
	}
	return found, nil
}

// Retract deletes a post, whatever number of messages it had.
func (a *Adapter) Retract(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	ctx = yieldTurn(ctx, postPatience)
	r, err := a.openRoom(ctx, thread, "")
	if err != nil {
		return err
	}
	if r.at.private != "" {
		return r.removePrivate(ctx, string(message))
	}
	there, err := r.readSiblings(ctx, string(message))
	if errors.Is(err, chat.ErrGone) {
		return nil
	}
	for _, p := range there {
		err = errors.Join(err, r.deleteMessage(ctx, p.id))
	}
	return err
}

func (r room) updatePart(ctx context.Context, id string, shown rendered, m mark) error {
	made, files := shown.buildMessage(m, true)
	return r.updateMessage(ctx, id, made, files)
}

// updateMessage shows a message anew. Nobody is called by that.
func (r room) updateMessage(ctx context.Context, id string, made note, files []upload) error {
	err := r.adapter.callAPI(ctx, request{
		does: "edit a message", method: http.MethodPatch, url: discordgo.EndpointChannelMessage(r.at.channel, id), body: made, files: files,
	}, nil)
	if errors.Is(err, chat.ErrGone) && r.ticket.Token != "" {
		return r.editFollowUp(ctx, id, made, files)
	}
	return err
}

// deleteMessage deletes a message of the bot's; one that is gone already is fine.
func (r room) deleteMessage(ctx context.Context, id string) error {
	err := r.adapter.callAPI(ctx, request{
		does: "delete a message", method: http.MethodDelete, url: discordgo.EndpointChannelMessage(r.at.channel, id),
	}, nil)
	if errors.Is(err, chat.ErrGone) && r.ticket.Token != "" {
		return r.removePrivate(ctx, id)
	}
	if isCode(err, unknownMessage, noSuchChannel) {
		return nil
	}
	return err
}
