package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// recordPlaces remembers what Discord tells of channels and roles, and leaves a server that the bot does
// not answer in.
func (d dispatcher) recordPlaces(ctx context.Context, of signal) error {
	if of.at.guild != "" {
		if err := d.adapter.servers.admitServer(ctx, of.at.guild); err != nil {
			return err
		}
	}
	for _, channel := range of.learned {
		if snowflake.MatchString(channel.ID) {
			d.adapter.channels.Put(channel.ID, channel)
		}
	}
	if of.role != "" {
		d.adapter.roles.Put(of.at.guild, of.role)
	}
	return nil
}

// lookUpChannel gives a channel, asked for where it is not known yet.
func (a *Adapter) lookUpChannel(ctx context.Context, id string) (wireChannel, error) {
	if known, ok := a.channels.Get(id); ok {
		return known, nil
	}
	var told wireChannel
	err := a.callAPI(ctx, request{does: "look at a channel", method: http.MethodGet, url: discordgo.EndpointChannel(id)}, &told)
	if err == nil {
		a.channels.Put(id, told)
	}
	return told, err
}

// locateChannel adds what the event did not tell of its channel.
func (a *Adapter) locateChannel(ctx context.Context, at where) (where, error) {
	if at.guild == directGuild || at.kind != unknownChannel && (!isThread(at.kind) || at.parent != "") {
		return at, nil
	}
	told, err := a.lookUpChannel(ctx, at.channel)
	if err != nil {
		return at, err
	}
	at.kind, at.parent, at.name = told.Type, told.ParentID, told.Name
	return at, nil
}

// settingsChannel is the id of the channel whose settings hold.
func (w where) settingsChannel() string {
	if isThread(w.kind) && w.parent != "" {
		return w.parent
	}
	return w.channel
}

// standardSetting is how the bot behaves in a channel, or for channel "" in a server, where nobody set
// it in Discord.
func (a *Adapter) standardSetting(guild, channel string) settings.Setting {
	standard := settings.Setting{Mode: settings.ModeMention, Style: settings.ReplyInThread}
	if a.options.Default != nil {
		standard = a.options.Default(guild, channel).Within(standard)
	}
	return standard
}

// effectiveSetting tells how the bot behaves in a channel, or for channel "" in a server.
func (a *Adapter) effectiveSetting(ctx context.Context, guild, channel string) (settings.Setting, error) {
	standard := a.standardSetting(guild, channel)
	if guild == directGuild {
		return standard, nil
	}
	return a.control.Effective(ctx, settings.NewSpace(Name, guild), channel, standard)
}

// roleIn gives the bot's own role in a server, "" where it can't be known.
func (a *Adapter) roleIn(guild string) string {
	role, _ := a.roles.Get(guild)
	return role
}

// ownIdentity is who the bot is, for what comes in.
func (a *Adapter) ownIdentity(ctx context.Context) (identity, error) {
	me, err := a.identifyBot(ctx)
	return identity{user: me.user, role: a.roleIn}, err
}

// askRole finds out the bot's own role in a server, once, where a message calls roles.
func (d dispatcher) askRole(ctx context.Context, guild string) error {
	if _, known := d.adapter.roles.Get(guild); known || guild == "" {
		return nil
	}
	me, err := d.adapter.identifyBot(ctx)
	if err != nil {
		return err
	}
	var told []struct {
		ID   string `json:"id"`
		Tags *struct {
			Bot string `json:"bot_id"`
		} `json:"tags"`
	}
	err = d.adapter.callAPI(ctx, request{does: "list the roles of a server", method: http.MethodGet, url: discordgo.EndpointGuildRoles(guild)}, &told)
	if err != nil && !errors.Is(err, chat.ErrGone) {
		return err
	}
	own := ""
	for _, role := range told {
		if role.Tags != nil && role.Tags.Bot == me.user {
			own = role.ID
		}
	}
	d.adapter.roles.Put(guild, own)
	return nil
}
