package main

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/config"
)

type slackManifestCommand struct {
	Mode         string `enum:"http,socket," default:"" placeholder:"http|socket" help:"How events come; default: the configuration's, else socket."`
	URL          string `placeholder:"ADDRESS" help:"The https address that Slack reaches Cairn at; default: the configuration's slack.url."`
	Many         bool   `help:"For many workspaces, which install Cairn themselves."`
	MentionsOnly bool   `help:"Have Slack send mentions and direct messages alone: nothing else that is said in channels."`
	Pane         string `enum:"agent,assistant" placeholder:"agent|assistant" default:"agent" help:"The pane beside conversations: agent, or assistant for workspaces that have no other yet."`
}

// Run prints the manifest; it needs neither index nor tokens.
func (c *slackManifestCommand) Run(_ context.Context, in *invocation) error {
	settings := config.Slack{}
	configured, err := in.configuration()
	if err == nil {
		settings = configured.Slack
	} else if c.Mode == "" || c.URL == "" && c.Mode == string(config.SlackHTTP) {
		return err // the flags do not say it all
	}
	mode := config.SlackMode(c.Mode)
	if mode == "" {
		mode = settings.Mode
	}
	address := c.URL
	if address == "" {
		address = settings.URL
	}
	manifest, err := slack.Manifest(slack.ManifestOptions{
		URL: address, Socket: mode != config.SlackHTTP, Install: c.Many || settings.Many(), Assistant: c.Pane == "assistant", MentionsOnly: c.MentionsOnly,
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(in.std.Out, manifest)
	return err
}
