package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/app"
)

type discordInviteCommand struct {
	Application string `placeholder:"ID" help:"The app's id, from its General Information; default: Discord is asked, with the bot's token."`
}

// discordCommandTime is how long a command waits for Discord.
const discordCommandTime = 30 * time.Second

// Run prints the link; with the app's id it needs neither configuration nor network.
func (c *discordInviteCommand) Run(ctx context.Context, in *invocation) error {
	application := c.Application
	if application == "" {
		client, token, err := in.discordAccess()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, discordCommandTime)
		defer cancel()
		if application, err = discord.Application(ctx, client, token); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(in.std.Out, discord.Invite(application))
	return err
}

// discordAccess is what a command asks Discord with.
func (in *invocation) discordAccess() (*http.Client, string, error) {
	configured, err := in.configuration()
	if err != nil {
		return nil, "", err
	}
	if configured.Discord.Token.IsZero() {
		return nil, "", errors.New("discord.token: is missing: set CAIRN_DISCORD_TOKEN or token_file (see docs/discord.md)")
	}
	return app.NewDiscordClient(configured.Discord), configured.Discord.Token.Reveal(), nil
}

type discordCommandsCommand struct {
	Sync bool `help:"Have Discord offer this program's commands, where it offers others. cairn serve does so when it starts."`
}

// Run shows the commands that Discord has, or replaces them.
func (c *discordCommandsCommand) Run(ctx context.Context, in *invocation) error {
	client, token, err := in.discordAccess()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, discordCommandTime)
	defer cancel()
	if c.Sync {
		changed, err := discord.Register(ctx, client, token)
		if err != nil {
			return err
		}
		told := "Discord offers this program's commands already."
		if changed {
			told = "Discord offers this program's commands now."
		}
		_, err = fmt.Fprintln(in.std.Out, told)
		return err
	}
	names, current, err := discord.Registered(ctx, client, token)
	if err != nil {
		return err
	}
	slices.Sort(names)
	told := "They are this program's."
	if !current {
		told = "They are not this program's: `cairn discord commands --sync` replaces them."
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	_, err = fmt.Fprintf(in.std.Out, "Discord offers: %s\n%s\n", strings.Join(names, ", "), told)
	return err
}
