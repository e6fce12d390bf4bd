package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/config"
)

// Discord is Cairn in Discord as this program runs it.
type Discord struct {
	adapter *discord.Adapter
	listen  string // "" where interactions come by the gateway
	client  *http.Client
	token   string
	logger  *slog.Logger
}

// newDiscord makes the Discord adapter; nil where Discord is off. It connects to nothing.
func (c *Cairn) newDiscord() (*Discord, error) {
	configured := c.Config.Discord
	if configured.Mode == config.DiscordOff {
		return nil, nil //nolint:nilnil // as Cairn has it: Discord is off
	}
	made := &Discord{token: configured.Token.Reveal(), logger: c.Logger}
	made.client = discordClient(configured, func(next http.RoundTripper) http.RoundTripper {
		return &fleet.Transport{Next: next, Rates: c.Storage.shards, Logger: c.Logger, Limits: fleet.Limits{PerSecond: configured.PerSecond}}
	})
	options := discord.Options{
		Token: made.token, Settings: c.Storage.Settings, Tickets: c.Storage.tickets, Logger: c.Logger, HearsAll: configured.MessageContent,
		Default: discordDefault(configured), Humans: discordHumans(configured), Changed: auditor{c.Audit}.settingChanged, Catalog: c.Library,
		Classifier:     newClassifier(c.Models.Understand),
		ChannelChanged: func(channel chat.ChannelID, thread chat.ThreadID) { c.Channels.noteChange(channel, thread) }, Client: made.client, Servers: configured.Servers,
	}
	var err error
	if configured.Mode == config.DiscordHTTP {
		options.PublicKey, made.listen = configured.PublicKey, configured.Listen
	} else {
		options.Gateway, err = gateway.New(gateway.Options{
			Token: made.token, Intents: discord.Intents(configured.MessageContent), Discover: discord.Discover(made.client, made.token),
			Shards: c.Storage.shards, Starts: c.Storage.shards, Logger: c.Logger,
		})
		if err != nil {
			return nil, err
		}
	}
	if made.adapter, err = discord.New(options); err != nil {
		return nil, err
	}
	return made, nil
}

const (
	// discordTime bounds a request to Discord, and its waits for its turn.
	discordTime = 60 * time.Second
	// discordAnswerTime is how long Discord may take to answer: as long as the bot waits for a
	// platform.
	discordAnswerTime = 30 * time.Second
)

// discordClient is an HTTP client for Discord; paced gives what keeps to its limits.
func discordClient(settings config.Discord, paced func(http.RoundTripper) http.RoundTripper) *http.Client {
	var sends http.RoundTripper = &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: discordAnswerTime,
	}
	if settings.APIURL != "" {
		sends = redirectedTransport{settings.APIURL, sends}
	}
	return &http.Client{Timeout: discordTime, Transport: paced(sends)}
}

// NewDiscordClient makes a client for the few requests of a command.
func NewDiscordClient(settings config.Discord) *http.Client {
	return discordClient(settings, func(next http.RoundTripper) http.RoundTripper { return next })
}

// redirectedTransport sends what is for Discord to another address.
type redirectedTransport struct {
	address string
	next    http.RoundTripper
}

func (p redirectedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(p.address)
	if err != nil {
		return nil, fmt.Errorf("discord.api_url: %w", err)
	}
	sent := r.Clone(r.Context())
	sent.URL.Scheme, sent.URL.Host, sent.Host = to.Scheme, to.Host, ""
	sent.URL.Path = to.Path + sent.URL.Path
	return p.next.RoundTrip(sent)
}

func discordDefault(configured config.Discord) func(guild, channel string) settings.Setting {
	return func(_, channel string) settings.Setting {
		listening := configured.Listening
		if how, ok := configured.Channels[channel]; ok {
			listening = how
		}
		return settings.Setting{Mode: settings.Mode(listening), Style: settings.ReplyStyle(configured.Reply)}
	}
}

func discordHumans(settings config.Discord) func(guild, channel string) []string {
	return func(_, channel string) []string {
		if humans := settings.Humans[channel]; len(humans) > 0 {
			return humans
		}
		return settings.Humans[""]
	}
}

// InteractionsPath is where Discord posts interactions.
const InteractionsPath = "/discord/interactions"

// run takes messages from Discord until ctx ends, and says so once it does.
func (d *Discord) run(ctx context.Context, handler chat.Handler, out io.Writer) error {
	if changed, err := discord.Register(ctx, d.client, d.token); err != nil {
		return err
	} else if changed {
		fmt.Fprintln(out, "Discord has Cairn's commands.")
	}
	if d.listen == "" {
		fmt.Fprintln(out, "Connecting to Discord.")
		return d.adapter.Run(ctx, handler)
	}
	mux := http.NewServeMux()
	mux.Handle(InteractionsPath, d.adapter.Handler())
	return takeDeliveries(ctx, delivered{
		platform: "Discord", setting: "discord.listen", listen: d.listen, path: InteractionsPath, out: out,
		server: deliveries(mux, d.logger), adapter: d.adapter,
	}, handler)
}
