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
	"sync/atomic"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// serverList is the servers that the app is in, and which of them the bot answers in.
type serverList struct {
	adapter    *Adapter
	remembered atomic.Pointer[[]string] // servers of the set-up; nil before they are known
}

// isServed tells whether the bot answers in a server: it is on the configured list, or where none
// is configured among those that the app was in when it was set up.
func (l *serverList) isServed(ctx context.Context, guild string) (bool, error) {
	servers, err := l.servedServers(ctx)
	return slices.Contains(servers, guild), err
}

// servedServers gives the ids of the servers that the bot answers in, in their order.
func (l *serverList) servedServers(ctx context.Context) ([]string, error) {
	if len(l.adapter.options.Servers) > 0 {
		return slices.Sorted(maps.Keys(l.adapter.options.Servers)), nil
	}
	if known := l.remembered.Load(); known != nil {
		return *known, nil
	}
	return l.rememberServers(ctx, nil)
}

// rememberServers gives the servers of the set-up: those remembered, or where there are none yet,
// the ones given.
func (l *serverList) rememberServers(ctx context.Context, guilds []string) ([]string, error) {
	me, err := l.adapter.identifyBot(ctx)
	if err != nil {
		return nil, err
	}
	var spaces []settings.Space
	for _, guild := range guilds {
		spaces = append(spaces, settings.NewSpace(Name, guild))
	}
	kept, err := l.adapter.options.Settings.RememberSpaces(ctx, Name+":"+me.application, spaces)
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
	l.remembered.Store(&servers)
	return servers, nil
}

// admitServers remembers the servers that the app is in, where it is set up without a list, and
// leaves those that it does not answer in.
func (l *serverList) admitServers(ctx context.Context) error {
	joined, err := joinedServers(ctx, l.adapter.options.Client, l.adapter.options.Token)
	if err != nil {
		return err
	}
	ids := make([]string, len(joined))
	for i, in := range joined {
		ids[i] = in.ID
	}
	if len(l.adapter.options.Servers) == 0 {
		if _, err := l.rememberServers(ctx, ids); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := l.admitServer(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// admitServer leaves a server that the bot does not answer in. The first server of an app that was
// set up without a list, and without a server, is the one that it was set up for.
func (l *serverList) admitServer(ctx context.Context, guild string) error {
	served, err := l.isServed(ctx, guild)
	if err != nil || served {
		return err
	}
	if len(l.adapter.options.Servers) == 0 && l.remembered.Load() == nil {
		kept, err := l.rememberServers(ctx, []string{guild})
		if err != nil {
			return err
		}
		if slices.Contains(kept, guild) {
			l.adapter.options.Logger.WarnContext(ctx, "serve the first Discord server from now on, and no other: discord.servers is empty", slog.String("server", guild))
			return nil
		}
	}
	return l.leaveServer(ctx, guild)
}

// leaveServer leaves a server, and tells its owner why, once.
func (l *serverList) leaveServer(ctx context.Context, guild string) error {
	first, err := l.adapter.options.Settings.MarkTold(ctx, "discord server "+guild, interact.NoticeKept)
	if err != nil {
		return err
	}
	if first {
		if err := l.tellOwner(ctx, guild); err != nil {
			l.adapter.options.Logger.WarnContext(ctx, "tell the owner of a Discord server that it is not served", slog.String("server", guild), slog.Any("error", err))
		}
	}
	err = l.adapter.callAPI(ctx, request{does: "leave a server", method: http.MethodDelete, url: discordgo.EndpointUserGuild("@me", guild)}, nil)
	if err != nil && !errors.Is(err, chat.ErrGone) {
		return err
	}
	l.adapter.options.Logger.WarnContext(ctx, "left a Discord server that is not on the list: add it to discord.servers if it should be",
		slog.String("server", guild))
	return nil
}

// unservedServer is told to the owner of a server that the bot leaves.
const unservedServer = "I was added to your server, but I answer for my own team alone, so I have left it again. Ask whoever runs me if I should stay."

// tellOwner tells the owner of a server why the bot leaves it: directly, or where they take no
// messages in the channel that Discord posts its own notices in.
func (l *serverList) tellOwner(ctx context.Context, guild string) error {
	var told struct {
		Owner   string `json:"owner_id"`
		Notices string `json:"system_channel_id"`
	}
	err := l.adapter.callAPI(ctx, request{does: "look at a server", method: http.MethodGet, url: discordgo.EndpointGuild(guild)}, &told)
	if err != nil {
		return err
	}
	line := note{Content: unservedServer, Embeds: []embed{}, Components: []component{}, Mentions: callNobody()}
	channel, err := l.adapter.openDirect(ctx, told.Owner)
	if err == nil {
		err = l.adapter.postNotice(ctx, channel, line)
	}
	if err != nil && told.Notices != "" {
		err = l.adapter.postNotice(ctx, told.Notices, line)
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
