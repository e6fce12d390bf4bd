package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/inspect/relay"
)

type inspectCommand struct {
	Where    string   `arg:"" name:"FOLDER|ADDRESS" help:"The folder of the app's project, or an address that flows.repositories allows."`
	Question []string `arg:"" name:"QUESTION" help:"What you want to know of a screen."`
	Session  string   `placeholder:"FILE" help:"A file that was recorded of the app: shop.wavepulse.zip."`
	Channel  string   `placeholder:"ID" help:"The channel of a relay that the running app joined; cairn inspect connect makes one."`
}

// Run answers a question about a screen.
func (c *inspectCommand) Run(ctx context.Context, in *invocation) error {
	if c.Session != "" {
		session, err := filepath.Abs(c.Session)
		if err != nil {
			return err
		}
		in.session = session
	}
	text := strings.Join(c.Question, " ")
	if c.Channel != "" {
		text = "channel:" + c.Channel + " " + text
	}
	return in.readDocuments(ctx, reading{where: c.Where, out: ".", flow: routing.Inspect, text: text, spoken: true})
}

type inspectConnectCommand struct {
	Relay string `placeholder:"ADDRESS" help:"Where apps reach the relay. By default inspect.relay_url, or the first of inspect.relays."`
}

// Run prints what an app needs to be asked while it runs.
func (c *inspectConnectCommand) Run(_ context.Context, in *invocation) error {
	setup, err := in.setup()
	if err != nil {
		return err
	}
	address, configured := c.Relay, setup.Config.Inspect
	if address == "" {
		address = configured.RelayURL
	}
	if address == "" {
		relays := configured.AllowedRelays()
		if len(relays) == 0 {
			return errors.New("there is no relay: have `cairn serve` be one with inspect.relay_listen, or list one in inspect.relays")
		}
		address = relays[0]
	}
	channel := relay.NewChannelID()
	fmt.Fprintf(in.std.Out, "Relay:   %s\nChannel: %s\n\nAsk, in the same thread from then on: inspect: ./shop channel:%s what does button1 do?\nThe code for the app:\n\n", address, channel, channel)
	return relay.WriteAppCode(in.std.Out, address, channel)
}
