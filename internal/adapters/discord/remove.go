package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
)

var _ chat.ThreadRemover = (*Adapter)(nil)

// RemoveEmptyThread implements chat.ThreadRemover. To delete a thread takes the permission Manage
// Threads, which the bot does without: then its own thread is archived, and nobody's list shows it.
func (a *Adapter) RemoveEmptyThread(ctx context.Context, thread chat.ThreadID) error {
	ctx = yieldTurn(ctx, postPatience)
	r, err := a.openRoom(ctx, thread, "")
	if err != nil || r.at.root != "" || r.at.isDirect() {
		return err
	}
	var told wireChannel
	err = a.callAPI(ctx, request{does: "look at a thread", method: http.MethodGet, url: discordgo.EndpointChannel(r.at.channel)}, &told)
	if errors.Is(err, chat.ErrGone) {
		return nil
	}
	if err != nil || !isThread(told.Type) || told.OwnerID != r.bot {
		return err
	}
	left, err := r.readPage(ctx, "")
	if err != nil {
		return err
	}
	for _, message := range left {
		if message.Type != starterMessage {
			return nil
		}
	}
	err = a.callAPI(ctx, request{does: "delete a thread", method: http.MethodDelete, url: discordgo.EndpointChannel(r.at.channel)}, nil)
	if isStatus(err, http.StatusForbidden) {
		archive := struct {
			Archived bool `json:"archived"`
		}{true}
		err = a.callAPI(ctx, request{does: "archive a thread", method: http.MethodPatch, url: discordgo.EndpointChannel(r.at.channel), body: archive}, nil)
	}
	if err != nil && !isCode(err, threadArchived) {
		return fmt.Errorf("remove thread %s: %w", r.at.channel, err)
	}
	return nil
}
