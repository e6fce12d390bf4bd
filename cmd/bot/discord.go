package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/discord/fleet"
	embeddedfleet "cairn/internal/adapters/discord/fleet/embedded"
	redisfleet "cairn/internal/adapters/discord/fleet/redis"
	"cairn/internal/adapters/discord/gateway"
	embeddedtickets "cairn/internal/adapters/discord/tickets/embedded"
	redistickets "cairn/internal/adapters/discord/tickets/redis"
	"cairn/internal/chat"
	"cairn/internal/chat/settings"
	"cairn/internal/config"
)

// discordApp is Cairn in Discord as this program runs it.
type discordApp struct {
	adapter *discord.Adapter
	listen  string // "" where interactions come by the gateway
	client  *http.Client
	token   string
	logger  *slog.Logger
}

// discordShared is what the replicas of the bot share.
type discordShared struct {
	fleet interface {
		gateway.Shards
		gateway.Starts
		fleet.Rates
	}
	tickets discord.Tickets
}

// discord makes the Discord adapter, once; nil where Discord is off. It connects to nothing
// but the stores.
func (a *app) discord(ctx context.Context) (*discordApp, error) {
	settings := a.config.Discord
	if settings.Mode == config.DiscordOff || a.discordApp != nil {
		return a.discordApp, nil
	}
	shared, err := a.discordShared(ctx)
	if err != nil {
		return nil, err
	}
	made := &discordApp{token: settings.Token.Reveal(), logger: a.logger}
	made.client = discordClient(settings, func(next http.RoundTripper) http.RoundTripper {
		return &fleet.Transport{Next: next, Rates: shared.fleet, Logger: a.logger, Limits: fleet.Limits{PerSecond: settings.PerSecond}}
	})
	log, err := a.audit()
	if err != nil {
		return nil, err
	}
	placed, err := a.placeSettings(ctx)
	if err != nil {
		return nil, err
	}
	options := discord.Options{
		Token: made.token, Settings: placed, Tickets: shared.tickets, Logger: a.logger, HearsAll: settings.MessageContent,
		Default: discordDefault(settings), Humans: discordHumans(settings), Changed: auditor{log}.settingChanged, Catalog: a, Client: made.client,
		Servers: settings.Servers,
	}
	if settings.Mode == config.DiscordHTTP {
		options.PublicKey, made.listen = settings.PublicKey, settings.Listen
	} else {
		options.Gateway, err = gateway.New(gateway.Options{
			Token: made.token, Intents: discord.Intents(settings.MessageContent), Discover: discord.Discover(made.client, made.token),
			Shards: shared.fleet, Starts: shared.fleet, Logger: a.logger,
		})
		if err != nil {
			return nil, err
		}
	}
	if made.adapter, err = discord.New(options); err != nil {
		return nil, err
	}
	a.discordApp = made
	return made, nil
}

// discordShared opens what replicas share: in Redis where one is configured, else in the
// data directory and in this process.
func (a *app) discordShared(ctx context.Context) (discordShared, error) {
	if a.config.Redis.URL.IsZero() {
		db, err := a.openData(ctx)
		if err != nil {
			return discordShared{}, err
		}
		return discordShared{embeddedfleet.New(), embeddedtickets.Open(db)}, nil
	}
	client, err := a.connectRedis(ctx)
	if err != nil {
		return discordShared{}, err
	}
	bot := fmt.Sprintf("%x", sha256.Sum256([]byte(a.config.Discord.Token.Reveal())))[:16]
	return discordShared{redisfleet.Open(client, bot), redistickets.Open(client)}, nil
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
		sends = inPlaceOfDiscord{settings.APIURL, sends}
	}
	return &http.Client{Timeout: discordTime, Transport: paced(sends)}
}

// inPlaceOfDiscord sends what is for Discord to another address.
type inPlaceOfDiscord struct {
	address string
	next    http.RoundTripper
}

func (p inPlaceOfDiscord) RoundTrip(r *http.Request) (*http.Response, error) {
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

// interactionsPath is where Discord posts interactions.
const interactionsPath = "/discord/interactions"

// run takes messages from Discord until ctx ends, and says so once it does.
func (d *discordApp) run(ctx context.Context, handler chat.Handler, out io.Writer) error {
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
	mux.Handle(interactionsPath, d.adapter.Handler())
	return takeDeliveries(ctx, delivered{
		platform: "Discord", setting: "discord.listen", listen: d.listen, path: interactionsPath, out: out,
		server: deliveries(mux, d.logger), adapter: d.adapter,
	}, handler)
}
