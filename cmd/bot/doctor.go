package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/slack"
	"cairn/internal/config"
)

type doctorCommand struct {
	Channel string `placeholder:"ID" help:"A Slack channel in which the whole way is tried: a test message is posted there, and its answer waited for. Needs slack.mode http, slack.url and a running cairn serve."`
}

// finding is what one check found.
type finding = slack.Finding

// doctorLimit is how long all checks may take.
const doctorLimit = 2 * time.Minute

// Run checks what Cairn needs to work, and says of what is wrong what to do.
func (c *doctorCommand) Run(ctx context.Context, in *invocation) error {
	ctx, cancel := context.WithTimeout(ctx, doctorLimit)
	defer cancel()
	configured, err := in.configuration()
	if err != nil {
		return report(in.std.Out, []finding{{What: "configuration", Problem: err, Remedy: "correct it; `cairn config example` shows every setting"}})
	}
	from := "defaults and environment"
	if configured.File != "" {
		from = configured.File
	}
	found := []finding{{What: "configuration", Told: from}}
	return report(in.std.Out, append(append(found, checkStores(ctx, configured, in.std)...), slices.Concat(c.checkSlack(ctx, configured.Slack), checkDiscord(ctx, configured.Discord))...))
}

// report prints findings; the error tells how many are bad.
func report(out io.Writer, findings []finding) error {
	bad := 0
	for _, found := range findings {
		if found.Problem == nil {
			fmt.Fprintf(out, "✓ %s: %s\n", found.What, found.Told)
			continue
		}
		bad++
		fmt.Fprintf(out, "✗ %s: %v\n  → %s\n", found.What, found.Problem, found.Remedy)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %s found something wrong", bad, count(len(findings), "check"))
	}
	return nil
}

// checkStores opens the index, and the stores of threads and runs.
func checkStores(ctx context.Context, configured config.Config, std stdio) []finding {
	a, err := openApp(ctx, configured, std, reads)
	if err != nil {
		return []finding{{What: "index", Problem: err, Remedy: "`cairn ingest FOLDER` makes one; see docs/postgres.md where it is in PostgreSQL"}}
	}
	found := []finding{a.checkIndex(ctx)}
	where := "in " + configured.DataDir
	if !configured.Redis.URL.IsZero() {
		where = "in Redis"
	}
	stores := finding{What: "threads and runs", Told: where}
	if _, err := a.openStores(ctx); err != nil {
		stores.Problem, stores.Remedy = err, "see redis.url and data_dir in docs/configuration.md"
	}
	found = append(found, stores)
	if err := a.close(); err != nil {
		found = append(found, finding{What: "closing", Problem: err, Remedy: "look into the disk that data_dir is on"})
	}
	return found
}

func (a *app) checkIndex(ctx context.Context) finding {
	stats, err := a.index.Stats(ctx)
	switch {
	case err != nil:
		return finding{What: "index", Problem: err, Remedy: "see docs/configuration.md"}
	case stats.Passages == 0:
		return finding{What: "index", Problem: errors.New("it holds nothing"), Remedy: "`cairn ingest FOLDER` reads documents into it"}
	}
	told := fmt.Sprintf("%s, %s", count(stats.Documents, "document"), count(stats.Passages, "passage"))
	if left := stats.Passages - stats.Embedded; left > 0 {
		told += fmt.Sprintf(", %d not yet searched by meaning", left)
	}
	return finding{What: "index", Told: told}
}

// checkSlack checks what the configured mode needs.
func (c *doctorCommand) checkSlack(ctx context.Context, settings config.Slack) []finding {
	if settings.Mode == config.SlackOff {
		return []finding{{What: "Slack", Told: "off (see docs/slack.md)"}}
	}
	of := slack.Diagnosis{
		Token: settings.BotToken.Reveal(), APIURL: settings.APIURL, Channel: c.Channel,
		Client: &http.Client{Timeout: 20 * time.Second},
	}
	var found []finding
	if settings.Mode == config.SlackSocket {
		of.AppToken = settings.AppToken.Reveal()
	} else {
		of.SigningSecret, of.URL = settings.SigningSecret.Reveal(), settings.URL
	}
	found = append(found, slack.Diagnose(ctx, of)...)
	switch {
	case settings.Many():
		found = append(found, finding{What: "Slack workspaces", Told: "install Cairn at " + settings.URL + "/slack/install"})
	case settings.Mode == config.SlackHTTP && settings.URL == "":
		found = append(found, finding{What: "event delivery", Problem: errors.New("it was not tried"), Remedy: "set slack.url to the address that Slack reaches Cairn at"})
	}
	return found
}

// checkDiscord checks what the configured mode needs.
func checkDiscord(ctx context.Context, settings config.Discord) []finding {
	if settings.Mode == config.DiscordOff {
		return []finding{{What: "Discord", Told: "off (see docs/discord.md)"}}
	}
	of := discord.Diagnosis{
		Token: settings.Token.Reveal(), HearsAll: settings.MessageContent, Gateway: settings.Mode == config.DiscordGateway,
		Client: discordPlainClient(settings),
	}
	if !of.Gateway && settings.URL != "" {
		of.URL = settings.URL + interactionsPath
	}
	var found []finding
	for _, one := range discord.Diagnose(ctx, of) {
		found = append(found, finding(one))
	}
	if !of.Gateway && settings.URL == "" {
		found = append(found, finding{What: "interactions", Problem: errors.New("it was not tried"), Remedy: "set discord.url to the address that Discord reaches Cairn at"})
	}
	return found
}
