package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
)

// membership is what somebody is in a server.
type membership struct {
	joined bool
	name   string   // as people call them in the server
	roles  []string // without that of everybody
}

// lookUpMember asks Discord what somebody is in a server. It takes no privileged intent.
func (a *Adapter) lookUpMember(ctx context.Context, guild, person string) (membership, error) {
	key := guild + " " + person
	if known, ok := a.members.Get(key); ok {
		return known, nil
	}
	var told struct {
		Nick  string         `json:"nick"`
		User  discordgo.User `json:"user"`
		Roles []string       `json:"roles"`
	}
	err := a.callAPI(ctx, request{does: "look at a member", method: http.MethodGet, url: discordgo.EndpointGuildMember(guild, person)}, &told)
	found := membership{joined: true, name: cmp.Or(told.Nick, told.User.GlobalName, told.User.Username), roles: told.Roles}
	switch {
	case errors.Is(err, chat.ErrGone): // no member of it, or no server of the bot's
		found = membership{}
	case err != nil:
		return membership{}, err
	}
	a.members.Put(key, found)
	return found, nil
}

// layout is what tells who sees which channel of a server.
type layout struct {
	owner    string
	roles    []*discordgo.Role
	channels []*discordgo.Channel
}

// layoutOf asks Discord for the channels and roles of a server.
func (a *Adapter) layoutOf(ctx context.Context, guild string) (layout, error) {
	if known, ok := a.layouts.Get(guild); ok {
		return known, nil
	}
	var found layout
	var told struct {
		Owner string            `json:"owner_id"`
		Roles []*discordgo.Role `json:"roles"`
	}
	err := errors.Join(
		a.callAPI(ctx, request{does: "look at a server", method: http.MethodGet, url: discordgo.EndpointGuild(guild)}, &told),
		a.callAPI(ctx, request{does: "list channels", method: http.MethodGet, url: discordgo.EndpointGuildChannels(guild)}, &found.channels),
	)
	if err != nil {
		return layout{}, err
	}
	found.owner, found.roles = told.Owner, told.Roles
	a.layouts.Put(guild, found)
	return found, nil
}

// visibleChannels gives the ids of the channels that a member sees and may read.
func (l layout) visibleChannels(guild, person string, roles []string) []string {
	const reads = discordgo.PermissionViewChannel | discordgo.PermissionReadMessageHistory
	base := baseOf(guild, l.roles, roles)
	var ids []string
	for _, channel := range l.channels {
		if channel == nil || len(ids) == chat.MaxMemberships {
			continue
		}
		if person == l.owner || channelPermissions(base, guild, person, channel, roles)&reads == reads {
			ids = append(ids, channel.ID)
		}
	}
	return ids
}

// somebody stands for a member without roles of their own. It is no id.
const somebody = "somebody"

// Place implements chat.PlaceDescriber. Who sees a channel of a server can't be listed without the
// privileged intent for members, so such a place is never complete.
func (a *Adapter) Place(ctx context.Context, thread chat.ThreadID) (chat.Place, error) {
	at, err := parseThread(thread)
	switch {
	case err != nil:
		return chat.Place{}, fmt.Errorf("describe a place of Discord's: %w", err)
	case at.private != "":
		return chat.Place{Members: []chat.UserID{at.private}, Complete: true}, nil
	}
	if parent, ok := a.parents.Get(at.channel); ok && at.root == "" && !at.isDirect() {
		return a.threadPlace(ctx, at, parent)
	}
	told, err := a.lookUpChannel(ctx, at.channel)
	if errors.Is(err, chat.ErrGone) && at.root == "" && !at.isDirect() {
		// The thread is not started yet, and another process heard of the message that it begins at.
		return a.threadPlace(ctx, at, "")
	}
	if err != nil {
		return chat.Place{}, fmt.Errorf("describe a place of Discord's: %w", err)
	}
	if at.isDirect() {
		if len(told.Recipients) != 1 {
			return chat.Place{}, errors.New("describe a place of Discord's: it is no conversation with one person")
		}
		return chat.Place{Members: []chat.UserID{chat.UserID(told.Recipients[0].ID)}, Complete: true}, nil
	}
	if isThread(told.Type) {
		found, err := a.threadPlace(ctx, at, told.ParentID)
		found.Open = found.Open && told.Type != privateThread
		return found, err
	}
	return a.threadPlace(ctx, at, told.ID)
}

// threadPlace describes a place by the channel that it is in, "" where that is not known.
func (a *Adapter) threadPlace(ctx context.Context, at place, channel string) (chat.Place, error) {
	served, err := a.servers.isServed(ctx, at.guild)
	if err != nil || !served {
		return chat.Place{}, err
	}
	found := chat.Place{Channel: channel, Team: at.guild}
	plan, err := a.layoutOf(ctx, at.guild)
	if err != nil {
		a.options.Logger.WarnContext(ctx, "find out whether everybody may read a channel", "guild", at.guild, "channel", channel, "error", err)
		return found, nil
	}
	found.Open = slices.Contains(plan.visibleChannels(at.guild, somebody, nil), channel)
	return found, nil
}

// Identify implements chat.Identifier. In a direct conversation somebody is what they are in all
// servers that are served.
func (a *Adapter) Identify(ctx context.Context, thread chat.ThreadID, people []chat.UserID) ([]chat.Identity, error) {
	at, err := parseThread(thread)
	if err != nil {
		return nil, fmt.Errorf("identify people in Discord: %w", err)
	}
	servers := []string{at.guild}
	if at.isDirect() {
		if servers, err = a.servers.servedServers(ctx); err != nil {
			return nil, err
		}
	} else if served, err := a.servers.isServed(ctx, at.guild); err != nil || !served {
		return make([]chat.Identity, len(people)), err
	}
	found := make([]chat.Identity, len(people))
	for i, person := range people {
		if found[i], err = a.identifyPerson(ctx, servers, string(person)); err != nil {
			return nil, fmt.Errorf("identify people in Discord: %w", err)
		}
	}
	return found, nil
}

// identifyPerson tells what somebody is in servers. Somebody of several has no single team.
func (a *Adapter) identifyPerson(ctx context.Context, servers []string, person string) (chat.Identity, error) {
	var found chat.Identity
	teams := 0
	for _, guild := range servers {
		known, err := a.lookUpMember(ctx, guild, person)
		if err != nil {
			return chat.Identity{}, err
		}
		if !known.joined {
			continue
		}
		plan, err := a.layoutOf(ctx, guild)
		if err != nil {
			return chat.Identity{}, err
		}
		teams++
		found.Team, found.Name = guild, cmp.Or(found.Name, known.name)
		found.Groups = append(found.Groups, known.roles...)
		found.Channels = append(found.Channels, plan.visibleChannels(guild, person, known.roles)...)
	}
	if teams > 1 {
		found.Team = ""
	}
	found.External = teams == 0
	found.Groups = found.Groups[:min(len(found.Groups), chat.MaxMemberships)]
	found.Channels = found.Channels[:min(len(found.Channels), chat.MaxMemberships)]
	return found, nil
}
