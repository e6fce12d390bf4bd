package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
)

// MarkKept implements chat.Keeper.
func (c *Channels) MarkKept(ctx context.Context, thread chat.ThreadID, message chat.MessageID, kept bool) error {
	r, err := c.adapter.openRoom(ctx, thread, "")
	if err != nil {
		return err
	}
	on := parseSource(message)
	if message == "" {
		if on, err = findFirstMessage(ctx, r); err != nil {
			return err
		}
	}
	if r.at.private != "" || on.message == "" {
		return fmt.Errorf("mark message %s: %w", message, chat.ErrRefused)
	}
	asks := request{does: "mark a message", method: http.MethodPut, url: discordgo.EndpointMessageReaction(on.channel, on.message, url.PathEscape(keptMark), "@me")}
	if !kept {
		asks.method = http.MethodDelete
	}
	return c.adapter.callAPI(ctx, asks, nil)
}

// findFirstMessage finds the message that a room's conversation began with.
func findFirstMessage(ctx context.Context, r room) (source, error) {
	if r.at.root != "" {
		return source{channel: r.at.channel, message: r.at.root}, nil
	}
	told, err := r.adapter.lookUpChannel(ctx, r.at.channel)
	if err != nil {
		return source{}, err
	}
	parent, err := r.adapter.lookUpChannel(ctx, told.ParentID)
	if err != nil {
		return source{}, err
	}
	if parent.Type == forumChannel {
		return source{channel: told.ID, message: told.ID}, nil
	}
	return source{channel: parent.ID, message: told.ID}, nil
}

// ChannelOf implements chat.Keeper.
func (c *Channels) ChannelOf(ctx context.Context, thread chat.ThreadID) (chat.ChannelID, bool, error) {
	at, err := parseThread(thread)
	if err != nil || at.private != "" || at.isDirect() {
		return "", false, err
	}
	told, err := c.adapter.lookUpChannel(ctx, at.channel)
	if err != nil {
		if parent, ok := c.adapter.parents.Get(at.channel); ok { // the thread is not started yet
			return chat.NewChannelID(Name, at.guild, parent), true, nil
		}
		return "", false, err
	}
	switch {
	case told.Type == privateThread:
		return "", false, nil
	case isThread(told.Type):
		return chat.NewChannelID(Name, at.guild, told.ParentID), true, nil
	}
	return chat.NewChannelID(Name, at.guild, told.ID), true, nil
}
