package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"cairn/internal/chat"
	"cairn/internal/chat/interact"
	"cairn/internal/chat/settings"
)

// isServed tells whether the bot answers in a server: it is on the configured list, or where none
// is configured among those that the app was in when it was set up.
func (a *Adapter) isServed(ctx context.Context, guild string) (bool, error) {
	servers, err := a.servedServers(ctx)
	return slices.Contains(servers, guild), err
}

// servedServers gives the ids of the servers that the bot answers in, in their order.
func (a *Adapter) servedServers(ctx context.Context) ([]string, error) {
	if len(a.options.Servers) > 0 {
		return slices.Sorted(maps.Keys(a.options.Servers)), nil
	}
	if known := a.remembered.Load(); known != nil {
		return *known, nil
	}
	return a.rememberServers(ctx, nil)
}

// rememberServers gives the servers of the set-up: those remembered, or where there are none yet,
// the ones given.
func (a *Adapter) rememberServers(ctx context.Context, guilds []string) ([]string, error) {
	me, err := a.identifyBot(ctx)
	if err != nil {
		return nil, err
	}
	var spaces []settings.Space
	for _, guild := range guilds {
		spaces = append(spaces, settings.NewSpace(Name, guild))
	}
	kept, err := a.options.Settings.RememberSpaces(ctx, Name+":"+me.application, spaces)
	if err != nil {
		return nil, fmt.Errorf("remember the servers of the set-up: %w", err)
	}
	if len(kept) == 0 {
		return nil, nil
	}
	servers := make([]string, len(kept))
	for i, space := range kept {
		servers[i] = strings.TrimPrefix(string(space), Name+":")
	}
	slices.Sort(servers)
	a.remembered.Store(&servers)
	return servers, nil
}

// admitServers remembers the servers that the app is in, where it is set up without a list, and
// leaves those that it does not answer in.
func (a *Adapter) admitServers(ctx context.Context) error {
	joined, err := joinedServers(ctx, a.options.Client, a.options.Token)
	if err != nil {
		return err
	}
	ids := make([]string, len(joined))
	for i, in := range joined {
		ids[i] = in.ID
	}
	if len(a.options.Servers) == 0 {
		if _, err := a.rememberServers(ctx, ids); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := a.admitServer(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// admitServer leaves a server that the bot does not answer in. The first server of an app that was
// set up without a list, and without a server, is the one that it was set up for.
func (a *Adapter) admitServer(ctx context.Context, guild string) error {
	served, err := a.isServed(ctx, guild)
	if err != nil || served {
		return err
	}
	if len(a.options.Servers) == 0 && a.remembered.Load() == nil {
		kept, err := a.rememberServers(ctx, []string{guild})
		if err != nil {
			return err
		}
		if slices.Contains(kept, guild) {
			a.options.Logger.WarnContext(ctx, "serve the first Discord server from now on, and no other: discord.servers is empty", slog.String("server", guild))
			return nil
		}
	}
	return a.leaveServer(ctx, guild)
}

// leaveServer leaves a server, and tells its owner why, once.
func (a *Adapter) leaveServer(ctx context.Context, guild string) error {
	first, err := a.options.Settings.MarkTold(ctx, "discord server "+guild, interact.NoticeKept)
	if err != nil {
		return err
	}
	if first {
		if err := a.tellOwner(ctx, guild); err != nil {
			a.options.Logger.WarnContext(ctx, "tell the owner of a Discord server that it is not served", slog.String("server", guild), slog.Any("error", err))
		}
	}
	err = a.callAPI(ctx, request{does: "leave a server", method: http.MethodDelete, url: discordgo.EndpointUserGuild("@me", guild)}, nil)
	if err != nil && !errors.Is(err, chat.ErrGone) {
		return err
	}
	a.options.Logger.WarnContext(ctx, "left a Discord server that is not on the list: add it to discord.servers if it should be",
		slog.String("server", guild))
	return nil
}

// unservedServer is told to the owner of a server that the bot leaves.
const unservedServer = "I was added to your server, but I answer for my own team alone, so I have left it again. Ask whoever runs me if I should stay."

// tellOwner tells the owner of a server why the bot leaves it: directly, or where they take no
// messages in the channel that Discord posts its own notices in.
func (a *Adapter) tellOwner(ctx context.Context, guild string) error {
	var told struct {
		Owner   string `json:"owner_id"`
		Notices string `json:"system_channel_id"`
	}
	err := a.callAPI(ctx, request{does: "look at a server", method: http.MethodGet, url: discordgo.EndpointGuild(guild)}, &told)
	if err != nil {
		return err
	}
	line := note{Content: unservedServer, Embeds: []embed{}, Components: []component{}, Mentions: callNobody()}
	channel, err := a.openDirect(ctx, told.Owner)
	if err == nil {
		err = a.postNotice(ctx, channel, line)
	}
	if err != nil && told.Notices != "" {
		err = a.postNotice(ctx, told.Notices, line)
	}
	return err
}

// postNotice posts a line that belongs to no conversation.
func (a *Adapter) postNotice(ctx context.Context, channel string, line note) error {
	return a.callAPI(ctx, request{does: "post a notice", method: http.MethodPost, url: discordgo.EndpointChannelMessages(channel), body: line}, nil)
}

// openDirect gives the direct conversation with a person.
func (a *Adapter) openDirect(ctx context.Context, person string) (string, error) {
	asks := struct {
		To string `json:"recipient_id"`
	}{person}
	var told wireChannel
	err := a.callAPI(ctx, request{
		does: "open a direct conversation", method: http.MethodPost, url: discordgo.EndpointUserChannels("@me"), body: asks,
	}, &told)
	return told.ID, err
}

// Bounds of the list of servers that the app is in.
const (
	serverPage     = 200
	maxServerPages = 50
)

// joinedServers lists the servers that the app is in.
func joinedServers(ctx context.Context, client *http.Client, token string) ([]server, error) {
	var joined []server
	for range maxServerPages {
		url := discordgo.EndpointUserGuilds("@me") + "?limit=" + strconv.Itoa(serverPage)
		if len(joined) > 0 {
			url += "&after=" + joined[len(joined)-1].ID
		}
		var page []server
		if err := callREST(ctx, client, token, request{does: "list servers", method: http.MethodGet, url: url}, &page); err != nil {
			return nil, err
		}
		joined = append(joined, page...)
		if len(page) < serverPage {
			return joined, nil
		}
	}
	return joined, nil
}
