package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// Diagnosis is what is to be looked into.
type Diagnosis struct {
	Token    string // of the bot
	HearsAll bool   // the MESSAGE CONTENT intent is asked for
	Gateway  bool   // events come by the gateway
	URL      string // that Discord reaches interactions at, where they come over HTTP; "": they don't
	// Servers are the ids of those that the configuration lists. Where it lists none, Settings has
	// those of the set-up; nil: nothing was set up yet.
	Servers  []string
	Settings settings.Store
	Client   *http.Client
}

// Finding is what one check found.
type Finding struct {
	What    string // "permissions"
	Told    string // what there is, in a few words
	Problem error  // nil: all is well
	Remedy  string // what to do about Problem
	Minor   bool   // the bot works with the problem
}

// Diagnose checks what Discord needs, one thing after another; what rests on something that
// failed is left out.
func Diagnose(ctx context.Context, of Diagnosis) []Finding {
	if of.Client == nil {
		of.Client = newClient()
	}
	app, err := tellApplication(ctx, of.Client, of.Token)
	if err != nil {
		return []Finding{{
			What: "bot token", Problem: fmt.Errorf("Discord refuses it: %w", err), //nolint:staticcheck // Discord is a name
			Remedy: "discord.com/developers → your app → Bot → Reset Token: copy the new one",
		}}
	}
	found := []Finding{{What: "bot token", Told: app.Name}, of.checkIntent(app), checkPublic(app), checkCodeGrant(app), of.checkCommands(ctx)}
	if of.Gateway {
		found = append(found, of.checkGateway(ctx))
	}
	if of.URL != "" {
		found = append(found, of.checkEndpoint(ctx))
	}
	return append(found, of.checkServers(ctx, app)...)
}

// checkEndpoint sends a request that is not signed to the public address: it must be refused,
// as Discord looks whether it is.
func (d Diagnosis) checkEndpoint(ctx context.Context) Finding {
	finding := Finding{What: "interactions endpoint", Told: d.URL + " answers, and refuses what is not signed"}
	if err := d.tryEndpoint(ctx); err != nil {
		finding.Told, finding.Problem = "", fmt.Errorf("%s: %w", d.URL, err)
		finding.Remedy = "start `cairn serve` and have that address lead to it; then discord.com/developers → your app → General Information → Interactions Endpoint URL"
	}
	return finding
}

func (d Diagnosis) tryEndpoint(ctx context.Context) error {
	asks, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(`{"type":1}`))
	if err != nil {
		return err
	}
	response, err := newClient().Do(asks)
	if err != nil {
		return hideAddress(err)
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("what is not signed is answered by %s: what answers there is not Cairn", response.Status)
	}
	return nil
}

// flags of an app that was granted the MESSAGE CONTENT intent: for many servers, or for few.
const (
	limitedContent = 1 << 19
	contentFlags   = 1<<18 | limitedContent
)

func (d Diagnosis) checkIntent(app application) Finding {
	granted := app.Flags&contentFlags != 0
	switch {
	case d.HearsAll && !granted:
		return Finding{
			What: "message content", Problem: errors.New("the app lacks the MESSAGE CONTENT intent: Discord refuses the connection"),
			Remedy: "discord.com/developers → your app → Bot → Message Content Intent: turn it on, or do without it in the configuration",
		}
	case granted && app.Servers >= reviewFrom && app.Flags&limitedContent != 0:
		return Finding{
			What: "message content", Problem: fmt.Errorf("the app is in %d servers: from %d on Discord grants the intent after a review alone", app.Servers, reviewFrom),
			Remedy: "discord.com/developers → your app → App Verification: apply for it, or leave servers", Minor: true,
		}
	case granted && !d.HearsAll:
		return Finding{What: "message content", Told: "granted, and not asked for: follow-ups need a mention or a reply"}
	case granted:
		return Finding{What: "message content", Told: "follow-ups need no mention"}
	}
	return Finding{What: "message content", Told: "not asked for: follow-ups need a mention or a reply"}
}

func (d Diagnosis) checkCommands(ctx context.Context) Finding {
	names, current, err := Registered(ctx, d.Client, d.Token)
	switch {
	case err != nil:
		return Finding{What: "commands", Problem: err, Remedy: "try again in a minute"}
	case !current:
		return Finding{
			What: "commands", Problem: fmt.Errorf("Discord offers %d, which are not those of this program", len(names)), //nolint:staticcheck // Discord is a name
			Remedy: "cairn discord commands --sync",
		}
	}
	return Finding{What: "commands", Told: "/" + strings.Join(names, ", /")}
}

func (d Diagnosis) checkGateway(ctx context.Context) Finding {
	told, err := Discover(d.Client, d.Token)(ctx)
	switch {
	case err != nil:
		return Finding{What: "gateway", Problem: err, Remedy: "look whether this machine reaches discord.com, and at discordstatus.com"}
	case told.Starts.Remaining < told.Shards:
		return Finding{
			What: "gateway", Problem: fmt.Errorf("%d connections may be begun before %s have passed, for %d shards", told.Starts.Remaining, told.Starts.ResetAfter, told.Shards),
			Remedy: "let no process start over and over; wait",
		}
	}
	return Finding{What: "gateway", Told: fmt.Sprintf("%d shards, %d connections may be begun", told.Shards, told.Starts.Remaining)}
}

// maxServers is how many servers are looked into.
const maxServers = 20

// server is a server that the app is in.
type server struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (d Diagnosis) checkServers(ctx context.Context, app application) []Finding {
	joined, err := joinedServers(ctx, d.Client, d.Token)
	switch {
	case err != nil:
		return []Finding{{What: "servers", Problem: err, Remedy: "try again in a minute"}}
	case len(joined) == 0:
		return []Finding{{
			What: "servers", Problem: errors.New("Cairn is in none"), Remedy: "open " + Invite(app.ID), //nolint:staticcheck // Cairn is a name
		}}
	}
	found := []Finding{d.checkListed(ctx, app, joined)}
	for _, in := range joined[:min(len(joined), maxServers)] {
		found = append(found, d.checkServer(ctx, app, in))
	}
	return found
}

// maxLacking is how many channels are named that lack permissions.
const maxLacking = 10

func (d Diagnosis) checkServer(ctx context.Context, app application, in server) Finding {
	finding := Finding{What: "permissions in " + in.Name}
	lacking, seen, err := d.findLacking(ctx, app, in)
	switch {
	case err != nil:
		finding.Problem, finding.Remedy = err, "try again in a minute"
	case len(lacking) > 0:
		more := ""
		if len(lacking) > maxLacking {
			more = fmt.Sprintf(" and %d more", len(lacking)-maxLacking)
		}
		finding.Problem = errors.New(strings.Join(lacking[:min(len(lacking), maxLacking)], "; ") + more)
		finding.Remedy = "in Discord, give Cairn's role these permissions in the channels that it is to answer in, or open " + Invite(app.ID)
	default:
		finding.Told = fmt.Sprintf("all in %d channels", seen)
	}
	return finding
}

// findLacking names the channels that Cairn sees, and what it may not do there.
func (d Diagnosis) findLacking(ctx context.Context, app application, in server) (lacking []string, seen int, err error) {
	me := app.Bot.ID
	if me == "" {
		me = app.ID
	}
	var channels []*discordgo.Channel
	var roles []*discordgo.Role
	var member discordgo.Member
	err = errors.Join(
		d.getResource(ctx, "list channels", discordgo.EndpointGuildChannels(in.ID), &channels),
		d.getResource(ctx, "list roles", discordgo.EndpointGuildRoles(in.ID), &roles),
		d.getResource(ctx, "look at the bot", discordgo.EndpointGuildMember(in.ID, me), &member),
	)
	if err != nil {
		return nil, 0, err
	}
	base := baseOf(in.ID, roles, member.Roles)
	for _, channel := range channels {
		if channel == nil || channel.Type != textChannel && channel.Type != newsChannel && channel.Type != forumChannel {
			continue
		}
		may := channelPermissions(base, in.ID, me, channel, member.Roles)
		if may&discordgo.PermissionViewChannel == 0 {
			continue // it is not meant to be there
		}
		seen++
		var missing []string
		for _, needed := range permissions {
			if may&needed.bit == 0 {
				missing = append(missing, needed.name)
			}
		}
		if len(missing) > 0 {
			lacking = append(lacking, "#"+channel.Name+": "+strings.Join(missing, ", "))
		}
	}
	if seen == 0 {
		lacking = []string{"it sees no channel: View Channels"}
	}
	return lacking, seen, nil
}

func (d Diagnosis) getResource(ctx context.Context, does, url string, into any) error {
	return callREST(ctx, d.Client, d.Token, request{does: does, method: http.MethodGet, url: url}, into)
}

// baseOf is what a member may do in a server.
func baseOf(guild string, roles []*discordgo.Role, has []string) int64 {
	var may int64
	for _, role := range roles {
		if role != nil && (role.ID == guild || slices.Contains(has, role.ID)) {
			may |= role.Permissions
		}
	}
	return may
}

// channelPermissions is what a member may do in a channel: what its overwrites for everybody, for roles
// and for the member change, in this order.
func channelPermissions(base int64, guild, me string, channel *discordgo.Channel, has []string) int64 {
	if base&discordgo.PermissionAdministrator != 0 {
		return -1
	}
	var roleAllow, roleDeny, allow, deny int64
	for _, over := range channel.PermissionOverwrites {
		switch {
		case over == nil:
		case over.ID == guild:
			base = base&^over.Deny | over.Allow
		case over.ID == me:
			allow, deny = over.Allow, over.Deny
		case slices.Contains(has, over.ID):
			roleAllow, roleDeny = roleAllow|over.Allow, roleDeny|over.Deny
		}
	}
	return (base&^roleDeny|roleAllow)&^deny | allow
}
