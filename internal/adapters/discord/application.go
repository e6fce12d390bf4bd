package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
)

// permissions are what Cairn needs in a channel, by the names that Discord gives them.
var permissions = []struct {
	name string
	bit  int64
}{
	{"View Channels", discordgo.PermissionViewChannel},
	{"Send Messages", discordgo.PermissionSendMessages},
	{"Create Public Threads", discordgo.PermissionCreatePublicThreads},
	{"Send Messages in Threads", discordgo.PermissionSendMessagesInThreads},
	{"Embed Links", discordgo.PermissionEmbedLinks},
	{"Attach Files", discordgo.PermissionAttachFiles},
	{"Read Message History", discordgo.PermissionReadMessageHistory},
	{"Add Reactions", discordgo.PermissionAddReactions},
}

// Invite is the link that adds the app to a server, with exactly the permissions that it
// needs. application is the app's id.
func Invite(application string) string {
	var all int64
	for _, permission := range permissions {
		all |= permission.bit
	}
	return "https://discord.com/oauth2/authorize?" + url.Values{
		"client_id": {application}, "scope": {"bot applications.commands"}, "permissions": {strconv.FormatInt(all, 10)},
	}.Encode()
}

// Intents are what the gateway is to tell of: servers, messages in them and directly, reactions, and
// where hearsAll is set, which is a privilege, what messages say that don't mention the bot.
func Intents(hearsAll bool) int {
	intents := discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages | discordgo.IntentGuildMessageReactions |
		discordgo.IntentDirectMessageReactions
	if hearsAll {
		intents |= discordgo.IntentMessageContent
	}
	return int(intents)
}

// application is the app as Discord tells of it.
type application struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Flags tell of privileged intents that were granted.
	Flags int      `json:"flags"`
	Bot   wireUser `json:"bot"`
	// Public lets everybody add the app to a server, CodeGrant has that need a code grant, which
	// the link of Invite has none of.
	Public    bool `json:"bot_public"`
	CodeGrant bool `json:"bot_require_code_grant"`
	Servers   int  `json:"approximate_guild_count"`
}

func tellApplication(ctx context.Context, client *http.Client, token string) (application, error) {
	var told application
	err := callREST(ctx, client, token, request{does: "ask who the bot is", method: http.MethodGet, url: discordgo.EndpointApplication("@me")}, &told)
	return told, err
}

// Application gives the id of the app that a token is of.
func Application(ctx context.Context, client *http.Client, token string) (string, error) {
	told, err := tellApplication(ctx, client, token)
	return told.ID, err
}

// Discover asks Discord where the gateway is, for gateway.Options.
func Discover(client *http.Client, token string) func(ctx context.Context) (gateway.Bot, error) {
	return func(ctx context.Context) (gateway.Bot, error) {
		var told struct {
			URL    string `json:"url"`
			Shards int    `json:"shards"`
			Limit  struct {
				Remaining   int   `json:"remaining"`
				ResetAfter  int64 `json:"reset_after"` // milliseconds
				Concurrency int   `json:"max_concurrency"`
			} `json:"session_start_limit"`
		}
		err := callREST(ctx, client, token, request{does: "ask for the gateway", method: http.MethodGet, url: discordgo.EndpointGatewayBot}, &told)
		if isStatus(err, http.StatusUnauthorized) {
			return gateway.Bot{}, &gateway.PermanentError{Reason: "Discord refuses the bot token: " + err.Error()}
		}
		return gateway.Bot{URL: told.URL, Shards: told.Shards, Starts: gateway.StartLimit{
			MaxConcurrency: told.Limit.Concurrency, Remaining: told.Limit.Remaining,
			ResetAfter: time.Duration(told.Limit.ResetAfter) * time.Millisecond,
		}}, err
	}
}

// Registered tells the names of the commands that Discord has of the app, and whether they
// are those of this program.
func Registered(ctx context.Context, client *http.Client, token string) (names []string, current bool, err error) {
	_, there, err := readRegistered(ctx, client, token)
	for _, command := range there {
		names = append(names, command.Name)
	}
	return names, err == nil && sameCommands(there, Commands()), err
}

// Register has Discord offer this program's commands, all at once, where they are not what
// it offers already; changed tells whether it was.
func Register(ctx context.Context, client *http.Client, token string) (changed bool, err error) {
	app, there, err := readRegistered(ctx, client, token)
	if err != nil || sameCommands(there, Commands()) {
		return false, err
	}
	err = callREST(ctx, client, token, request{
		does: "register commands", method: http.MethodPut, url: discordgo.EndpointApplicationGlobalCommands(app), body: Commands(),
	}, nil)
	return err == nil, err
}

func readRegistered(ctx context.Context, client *http.Client, token string) (app string, there []Command, err error) {
	told, err := tellApplication(ctx, client, token)
	if err != nil {
		return "", nil, err
	}
	err = callREST(ctx, client, token, request{
		does: "list commands", method: http.MethodGet, url: discordgo.EndpointApplicationGlobalCommands(told.ID),
	}, &there)
	return told.ID, there, err
}

// sameCommands compares commands in any order, by what this program says of them.
func sameCommands(there, want []Command) bool {
	byName := map[string]Command{}
	for _, command := range there {
		byName[command.Name+"/"+strconv.Itoa(command.Type)] = command
	}
	for _, command := range want {
		if !reflect.DeepEqual(normalizeCommand(byName[command.Name+"/"+strconv.Itoa(command.Type)]), normalizeCommand(command)) {
			return false
		}
	}
	return len(there) == len(want)
}

// normalizeCommand gives a command with no difference between an empty list and none.
func normalizeCommand(command Command) Command {
	raw, err := json.Marshal(command)
	if err != nil {
		panic("discord: a command can't be encoded: " + err.Error())
	}
	var plain Command
	if err := json.Unmarshal(raw, &plain); err != nil {
		panic("discord: a command can't be decoded: " + err.Error())
	}
	return plain
}
