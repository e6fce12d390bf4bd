package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
)

type doctorCommand struct {
	Channel string `placeholder:"ID" help:"A Slack channel in which the whole way is tried: a test message is posted there, and its answer waited for. Needs slack.mode http, slack.url and a running cairn serve."`
	Models  bool   `help:"Play five questions through the configured language models, over Cairn's own documentation: do they cite, follow the form, return valid structures, stream, how fast, at what cost, and which settings would suit them. Costs a few thousand tokens a question."`
	JSON    bool   `help:"Print it as JSON."`
}

// finding is what one check found.
type finding struct {
	What    string // "index"
	Told    string // what there is, in a few words
	Problem error  // nil: all is well
	Remedy  string // what to do about Problem
	Minor   bool   // Cairn works with the problem: it is told of, and fails nothing
}

// doctorLimit is how long all checks may take.
const doctorLimit = 2 * time.Minute

// Run checks what Cairn needs to work, and says of what is wrong what to do.
func (c *doctorCommand) Run(ctx context.Context, in *invocation) error {
	whole := ctx
	ctx, cancel := context.WithTimeout(whole, doctorLimit)
	defer cancel()
	configured, err := in.configuration()
	if err != nil {
		return c.report(in.std.Out, []finding{{What: "configuration", Problem: err, Remedy: "correct it; `cairn config example` shows every setting"}})
	}
	from := "defaults and environment"
	if configured.File != "" {
		from = configured.File
	}
	found := slices.Concat(
		[]finding{{What: "configuration", Told: from}},
		checkMachine(ctx, configured), checkRedis(ctx, configured.Redis), checkDatabases(ctx, configured, in.std),
		checkStores(ctx, configured, in.std), checkAllModels(ctx, configured.Models),
		c.checkSlack(ctx, configured.Slack), checkDiscord(ctx, app.NewSetup(configured, in.std.Err)), checkAddresses(ctx, configured),
	)
	if c.Models {
		playing, stop := context.WithTimeout(whole, playLimit)
		defer stop()
		found = append(found, playModels(playing, configured, in.std)...)
	}
	return c.report(in.std.Out, found)
}

// report prints findings; the error tells how many are bad.
func (c *doctorCommand) report(out io.Writer, findings []finding) error {
	bad := 0
	for _, found := range findings {
		if found.Problem != nil && !found.Minor {
			bad++
		}
	}
	printed := printFindings
	if c.JSON {
		printed = encodeFindings
	}
	if err := printed(out, findings); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %s found something wrong", bad, count(len(findings), "check"))
	}
	return nil
}

func printFindings(out io.Writer, findings []finding) error {
	for _, found := range findings {
		mark := "✗"
		if found.Minor {
			mark = "!"
		}
		line := fmt.Sprintf("✓ %s: %s\n", found.What, found.Told)
		if found.Problem != nil {
			line = fmt.Sprintf("%s %s: %v\n  → %s\n", mark, found.What, found.Problem, found.Remedy)
		}
		if _, err := io.WriteString(out, line); err != nil {
			return err
		}
	}
	return nil
}

// shownFinding is a finding as `cairn doctor --json` prints it.
type shownFinding struct {
	Check   string `json:"check"`
	Result  string `json:"result"` // "good", "minor" or "bad"
	Told    string `json:"told,omitempty"`
	Problem string `json:"problem,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

func encodeFindings(out io.Writer, findings []finding) error {
	shown := make([]shownFinding, len(findings))
	for i, found := range findings {
		shown[i] = shownFinding{Check: found.What, Result: "good", Told: found.Told}
		if found.Problem != nil {
			shown[i].Result, shown[i].Problem, shown[i].Remedy = "bad", found.Problem.Error(), found.Remedy
			if found.Minor {
				shown[i].Result = "minor"
			}
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(shown)
}

// checkAllModels sends one small request to each model.
func checkAllModels(ctx context.Context, models []config.Model) []finding {
	if len(models) == 0 {
		return []finding{{What: "models", Told: "none is configured: answers are quotes (see docs/configuration.md)"}}
	}
	var found []finding
	for _, result := range checkModels(ctx, models) {
		one := finding{What: "model " + printable(result.model.Name), Told: result.String()}
		if result.err != nil {
			one.Problem = errors.New(result.String())
			one.Remedy = "check address, name and key of the model; until then answers are quotes, and say so"
		}
		found = append(found, one)
	}
	return found
}

// checkSlack checks what the configured mode needs.
func (c *doctorCommand) checkSlack(ctx context.Context, settings config.Slack) []finding {
	if settings.Mode == config.SlackOff {
		return []finding{{What: "Slack", Told: "off (see docs/slack.md)"}}
	}
	of := slack.Diagnosis{
		Token: settings.BotToken.Reveal(), APIURL: settings.APIURL, Channel: c.Channel,
		Client: &http.Client{Timeout: 20 * time.Second}, Many: settings.Many(), Teams: slices.Sorted(maps.Keys(settings.Teams)),
		External: settings.External, Guests: settings.Guests,
	}
	if settings.Mode == config.SlackSocket {
		of.AppToken = settings.AppToken.Reveal()
	} else {
		of.SigningSecret, of.URL = settings.SigningSecret.Reveal(), settings.URL
	}
	var found []finding
	for _, one := range slack.Diagnose(ctx, of) {
		found = append(found, finding(one))
	}
	switch {
	case settings.Many():
		found = append(found, finding{What: "Slack workspaces", Told: "install Cairn at " + settings.URL + "/slack/install"})
	case settings.Mode == config.SlackHTTP && settings.URL == "":
		found = append(found, finding{What: "event delivery", Problem: errors.New("it was not tried"), Remedy: "set slack.url to the address that Slack reaches Cairn at"})
	}
	return found
}

// checkDiscord checks what the configured mode needs.
func checkDiscord(ctx context.Context, setup app.Setup) []finding {
	settings := setup.Config.Discord
	if settings.Mode == config.DiscordOff {
		return []finding{{What: "Discord", Told: "off (see docs/discord.md)"}}
	}
	of := discord.Diagnosis{
		Token: settings.Token.Reveal(), HearsAll: settings.MessageContent, Gateway: settings.Mode == config.DiscordGateway,
		Client: app.NewDiscordClient(settings), Servers: slices.Sorted(maps.Keys(settings.Servers)),
	}
	storage, err := openExistingStorage(ctx, setup)
	if err == nil && storage != nil { // else checkStores says why not
		of.Settings = storage.Settings
	}
	if !of.Gateway && settings.URL != "" {
		of.URL = settings.URL + app.InteractionsPath
	}
	var found []finding
	for _, one := range discord.Diagnose(ctx, of) {
		found = append(found, finding(one))
	}
	if storage != nil {
		if err := storage.Close(); err != nil {
			found = append(found, finding{What: "settings of places", Problem: err, Remedy: "look whether the store can be written"})
		}
	}
	if !of.Gateway && settings.URL == "" {
		found = append(found, finding{What: "interactions", Problem: errors.New("it was not tried"), Remedy: "set discord.url to the address that Discord reaches Cairn at"})
	}
	return found
}

// openExistingStorage opens the storage to look into it; nil where there is none yet.
func openExistingStorage(ctx context.Context, setup app.Setup) (*app.Storage, error) {
	if !app.HasStorage(setup) {
		return nil, nil //nolint:nilnil // nothing was set up yet
	}
	return app.OpenStorage(ctx, setup)
}
