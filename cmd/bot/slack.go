package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"cairn/internal/adapters/slack"
	embeddedinstalls "cairn/internal/adapters/slack/installs/embedded"
	redisinstalls "cairn/internal/adapters/slack/installs/redis"
	"cairn/internal/adapters/slack/pace"
	redispace "cairn/internal/adapters/slack/pace/redis"
	"cairn/internal/chat"
	"cairn/internal/chat/interact"
	"cairn/internal/chat/settings"
	"cairn/internal/config"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// slackApp is Cairn in Slack as this program runs it.
type slackApp struct {
	adapter *slack.Adapter
	// handler takes Slack's deliveries and people who install Cairn; nil where nothing
	// comes over HTTP.
	handler http.Handler
	listen  string
	logger  *slog.Logger
}

// slack makes the Slack adapter, once; nil where Slack is off. It connects to nothing but
// the store of installs.
func (a *app) slack(ctx context.Context) (*slackApp, error) {
	configured := a.config.Slack
	if configured.Mode == config.SlackOff || a.slackApp != nil {
		return a.slackApp, nil
	}
	made := &slackApp{listen: configured.Listen, logger: a.logger}
	workspaces, install, err := a.slackWorkspaces(ctx)
	if err != nil {
		return nil, err
	}
	turns, err := a.slackTurns(ctx)
	if err != nil {
		return nil, err
	}
	log, err := a.audit()
	if err != nil {
		return nil, err
	}
	placed, err := a.placeSettings(ctx)
	if err != nil {
		return nil, err
	}
	options := slack.Options{
		Turns:      turns,
		Workspaces: workspaces, APIURL: configured.APIURL, Logger: a.logger, Settings: placed, Changed: auditor{log}.settingChanged,
		Teams: configured.Teams, External: configured.External, Guests: configured.Guests,
		Listen: slackListening(configured), Humans: slackHumans(configured), Catalog: a, Prompts: a.slackPrompts,
	}
	if options.Judge, err = a.slackJudge(); err != nil {
		return nil, err
	}
	if configured.Mode == config.SlackHTTP {
		options.SigningSecret = configured.SigningSecret.Reveal()
	} else {
		options.AppToken = configured.AppToken.Reveal()
	}
	if made.adapter, err = slack.New(options); err != nil {
		return nil, err
	}
	if configured.Mode == config.SlackHTTP || install != nil {
		mux := http.NewServeMux()
		mux.Handle("/slack/", http.StripPrefix("/slack", made.adapter.Handler()))
		if install != nil {
			mux.Handle("/slack/install", install)
			mux.Handle("/slack/oauth", install)
		}
		made.handler = mux
	}
	a.slackApp = made
	return made, nil
}

// slackWorkspaces gives what knows where the app is installed, and where workspaces install
// it themselves the pages to do so.
func (a *app) slackWorkspaces(ctx context.Context) (slack.Workspaces, http.Handler, error) {
	settings := a.config.Slack
	if !settings.Many() {
		return slack.NewSingle(settings.BotToken.Reveal(), settings.APIURL, nil), nil, nil
	}
	key, err := settings.Key()
	if err != nil {
		return nil, nil, err
	}
	installs, err := a.slackInstalls(ctx)
	if err != nil {
		return nil, nil, err
	}
	log, err := a.audit()
	if err != nil {
		return nil, nil, err
	}
	many, err := slack.NewMany(slack.ManyOptions{
		Installs: installs, Key: key, ClientID: settings.ClientID, ClientSecret: settings.ClientSecret.Reveal(),
		Address: settings.URL + "/slack", Logger: a.logger, APIURL: settings.APIURL,
		Teams: slices.Sorted(maps.Keys(settings.Teams)), Changed: auditor{log}.slackChanged,
	})
	if err != nil {
		return nil, nil, err
	}
	return many, many.Handler(), nil
}

// slackInstalls opens the store of installs: in Redis where one is configured, else in the
// data directory.
func (a *app) slackInstalls(ctx context.Context) (slack.Installs, error) {
	if a.config.Redis.URL.IsZero() {
		db, err := a.openData(ctx)
		if err != nil {
			return nil, err
		}
		return embeddedinstalls.Open(db), nil
	}
	client, err := a.connectRedis(ctx)
	if err != nil {
		return nil, err
	}
	return redisinstalls.Open(client), nil
}

// slackTurns gives what shares Slack's limits: in Redis, among all processes, where one is
// configured, else in this process.
func (a *app) slackTurns(ctx context.Context) (pace.Turns, error) {
	if a.config.Redis.URL.IsZero() {
		return pace.NewLocal(nil), nil
	}
	client, err := a.connectRedis(ctx)
	if err != nil {
		return nil, err
	}
	return redispace.Open(client), nil
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
func (s *slackApp) run(ctx context.Context, handler chat.Handler, out io.Writer) error {
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
func (a *app) slackPrompts(ctx context.Context, collections []string) ([]interact.Prompt, error) {
	visible, err := a.visibleClasses(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for documents to suggest: %w", err)
	}
	classes := make([]index.Class, len(visible))
	for i, summary := range visible {
		classes[i] = summary.Class
	}
	latest, err := a.index.LatestDocuments(ctx, classes, maxLatest) // some may have no title
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

// visibleClasses are the classes of documents that the context's viewers may see.
func (a *app) visibleClasses(ctx context.Context) ([]index.ClassSummary, error) {
	classes, err := a.index.Classes(ctx)
	return index.VisibleClasses(classes, knowledge.ViewersFrom(ctx)), err
}

// Collections implements chat.Catalog over the index: each source is a collection of the
// documents that the context's viewers may see.
func (a *app) Collections(ctx context.Context) ([]chat.Collection, error) {
	visible, err := a.visibleClasses(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the collections: %w", err)
	}
	sources := index.SummarizeSources(visible)
	collections := make([]chat.Collection, len(sources))
	for i, source := range sources {
		collections[i] = chat.Collection{Name: string(source.Source), Documents: source.Documents, Updated: source.LastSeen}
	}
	return collections, nil
}
