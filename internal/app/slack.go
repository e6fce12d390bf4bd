package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/llm"
)

// Slack is Cairn in Slack as this program runs it.
type Slack struct {
	adapter *slack.Adapter
	// handler takes Slack's deliveries and people who install Cairn; nil where nothing
	// comes over HTTP.
	handler http.Handler
	listen  string
	logger  *slog.Logger
}

// newSlack makes the Slack adapter; nil where Slack is off. It connects to nothing.
func (c *Cairn) newSlack() (*Slack, error) {
	configured := c.Config.Slack
	if configured.Mode == config.SlackOff {
		return nil, nil //nolint:nilnil // as Cairn has it: Slack is off
	}
	workspaces, install, err := c.slackWorkspaces()
	if err != nil {
		return nil, err
	}
	options := slack.Options{
		Turns: c.Storage.turns, Workspaces: workspaces, APIURL: configured.APIURL, Logger: c.Logger,
		Settings: c.Storage.Settings, Changed: auditor{c.Audit}.settingChanged,
		Teams: configured.Teams, External: configured.External, Guests: configured.Guests,
		Workflows: func(_, channel string) bool { return slices.Contains(configured.Workflows, channel) },
		Listen:    slackListening(configured), Humans: slackHumans(configured), Catalog: c.Library, Prompts: c.slackPrompts, Classifier: newClassifier(c.Models.Understand),
		ChannelChanged: func(channel chat.ChannelID, thread chat.ThreadID) { c.Channels.noteChange(channel, thread) },
	}
	if configured.Mode == config.SlackHTTP {
		options.SigningSecret = configured.SigningSecret.Reveal()
	} else {
		options.AppToken = configured.AppToken.Reveal()
	}
	adapter, err := slack.New(options)
	if err != nil {
		return nil, err
	}
	made := &Slack{adapter: adapter, listen: configured.Listen, logger: c.Logger}
	if configured.Mode == config.SlackHTTP || install != nil {
		mux := http.NewServeMux()
		mux.Handle("/slack/", http.StripPrefix("/slack", adapter.Handler()))
		if install != nil {
			mux.Handle("/slack/install", install)
			mux.Handle("/slack/oauth", install)
		}
		made.handler = mux
	}
	return made, nil
}

// newClassifier makes what tells by a model whether a reply is meant for the bot; nil without one:
// the rules decide alone.
func newClassifier(model llm.Model) interact.Classifier {
	if model == nil {
		return nil
	}
	return bot.NewClassifier(model)
}

// slackWorkspaces returns what knows where the app is installed, and where workspaces install
// it themselves the pages to do so.
func (c *Cairn) slackWorkspaces() (slack.Workspaces, http.Handler, error) {
	configured := c.Config.Slack
	if !configured.Many() {
		return slack.NewSingle(configured.BotToken.Reveal(), configured.APIURL, nil), nil, nil
	}
	key, err := configured.Key()
	if err != nil {
		return nil, nil, err
	}
	many, err := slack.NewMany(slack.ManyOptions{
		Installs: c.Storage.installs, Key: key, ClientID: configured.ClientID, ClientSecret: configured.ClientSecret.Reveal(),
		Address: configured.URL + "/slack", Logger: c.Logger, APIURL: configured.APIURL,
		Teams: slices.Sorted(maps.Keys(configured.Teams)), Changed: auditor{c.Audit}.slackChanged,
	})
	if err != nil {
		return nil, nil, err
	}
	return many, many.Handler(), nil
}

func slackListening(configured config.Slack) func(team, channel string) settings.Mode {
	return func(_, channel string) settings.Mode {
		if how, ok := configured.Channels[channel]; ok {
			return settings.Mode(how)
		}
		return settings.Mode(configured.Listening)
	}
}

func slackHumans(settings config.Slack) func(team, channel string) []string {
	return func(_, channel string) []string {
		if humans := settings.Humans[channel]; len(humans) > 0 {
			return humans
		}
		return settings.Humans[""]
	}
}

// run takes messages from Slack until ctx ends, and says so once it does.
func (s *Slack) run(ctx context.Context, handler chat.Handler, out io.Writer) error {
	if s.handler == nil {
		fmt.Fprintln(out, "Connecting to Slack.")
		return s.adapter.Run(ctx, handler)
	}
	return takeDeliveries(ctx, delivered{
		platform: "Slack", setting: "slack.listen", listen: s.listen, path: "/slack/", out: out,
		server: deliveries(s.handler, s.logger), adapter: s.adapter,
	}, handler)
}

const (
	// maxPrompts is how many questions are suggested, maxLatest how many documents are looked at
	// for that: some have no title, or are of other collections.
	maxPrompts = 4
	maxLatest  = 64
)

// slackPrompts suggests questions about the public documents that changed last: who will
// see them is not known. Of collections there are some, only of those.
func (l *Library) slackPrompts(ctx context.Context, collections []string) ([]interact.Prompt, error) {
	visible, err := l.visibleClasses(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for documents to suggest: %w", err)
	}
	classes := make([]index.Class, len(visible))
	for i, summary := range visible {
		classes[i] = summary.Class
	}
	latest, err := l.Index.LatestDocuments(ctx, classes, maxLatest) // some may have no title
	if err != nil {
		return nil, fmt.Errorf("look for documents to suggest: %w", err)
	}
	var prompts []interact.Prompt
	for _, document := range latest {
		allowed := len(collections) == 0 || slices.Contains(collections, string(document.Source))
		if document.Title != "" && allowed && len(prompts) < maxPrompts {
			prompts = append(prompts, interact.Prompt{Title: document.Title, Message: "What does “" + document.Title + "” say?"})
		}
	}
	return prompts, nil
}
