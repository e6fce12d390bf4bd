// Package app puts Cairn together. What a process opens stands in Open, in order, and what it
// does in the Run of its role: Serve (serve.go), ServeWeb (web.go), and for a command that talks
// in a terminal StartWork. Each part closes what it opened, the last first.
//
// setup.go has what all parts are made with, index.go and storage.go what is kept, models.go and
// flows.go what answers, slack.go, discord.go, web.go and operations.go where people talk and
// look, telemetry.go what is measured.
package app

import (
	"context"
	"errors"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// App is a bot with what it is made of.
type App struct {
	Bot *bot.Bot
	closers
}

// Close ends what works and releases what was opened, the last first.
func (a *App) Close() error { return a.closeAll() }

// StartWork has the bot work at what is queued until the app is closed: first it gives back
// what it has not finished.
func (a *App) StartWork(ctx context.Context) {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Bot.Work(working)
	}()
	a.add(func() error {
		stop()
		<-ended
		return nil
	})
}

// Options say what Open opens beside the configuration.
type Options struct {
	Index IndexMode
	// Ending is closed when the process is to end; nil where a person who goes away gives up
	// what works.
	Ending <-chan struct{}
	Pages  bool // the web page or the operations page is served
}

// Cairn is all of a process that answers messages.
type Cairn struct {
	App
	*Library
	Storage *Storage
	Models  Models
	Slack   *Slack    // nil: off
	Discord *Discord  // nil: off
	Audit   audit.Log // nil: nothing of this process is written down

	answers *answer.Flow
	queries index.QueryLog
	checks  *sourceChecks
}

// Open opens all that answers messages, in this order. It takes and sends none yet.
func Open(ctx context.Context, setup Setup, options Options) (_ *Cairn, err error) {
	c := &Cairn{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.Library, err = OpenLibrary(ctx, setup, options.Index); err != nil {
		return nil, err
	}
	c.add(c.Library.Close)
	c.checks = newSourceChecks(c.Library)
	if c.Storage, err = OpenStorage(ctx, setup); err != nil {
		return nil, err
	}
	c.add(c.Storage.Close)
	c.Written = c.Storage.Pages
	if c.queries, err = openQueryLog(ctx, setup, c.Index, c.Storage.data, &c.closers); err != nil {
		return nil, err
	}
	if err := c.openAudit(options.Pages); err != nil {
		return nil, err
	}
	if c.Models, err = NewModels(setup); err != nil {
		return nil, err
	}
	if c.answers, err = NewAnswers(c.Library, c.Models.Models, Tuning{}); err != nil {
		return nil, err
	}
	c.add(func() error { return CloseAnswers(ctx, c.answers) })
	if c.Slack, err = c.newSlack(); err != nil {
		return nil, err
	}
	if c.Discord, err = c.newDiscord(); err != nil {
		return nil, err
	}
	c.Channels = newChannels(c)
	if c.Bot, err = c.newBot(ctx, options.Ending); err != nil {
		return nil, err
	}
	return c, nil
}

// Close ends what works and releases what was opened, the last first.
func (c *Cairn) Close() error { return c.App.Close() }

// openAudit opens the log of actions on Cairn itself, for adapters and pages by which people
// take them.
func (c *Cairn) openAudit(pages bool) error {
	configured := c.Config
	if !pages && configured.Slack.Mode == config.SlackOff && configured.Discord.Mode == config.DiscordOff {
		return nil
	}
	log, err := audit.Open(c.Stderr, configured.Audit.File)
	if err != nil {
		return err
	}
	c.Audit = log
	c.add(log.Close)
	return nil
}

// newBot makes the bot over all that was opened.
func (c *Cairn) newBot(ctx context.Context, ending <-chan struct{}) (*bot.Bot, error) {
	registered, err := NewFlows(c.Library, c.Storage.Pages, c.Models, c.answers)
	if err != nil {
		return nil, err
	}
	finder := curated.NewFinder(curated.Options{Store: c.Storage.Pinned, Index: c.guardedIndex(), Embedder: c.Embedder, Now: time.Now})
	registered[0] = curated.NewFlow(registered[0], finder, c.Logger)
	registered[0] = withQueryLog(registered[0], c.queries, c.Setup)
	router, err := NewRouter(c.Setup, registered, c.Models)
	if err != nil {
		return nil, err
	}
	resolver, err := c.newResolver(ctx)
	if err != nil {
		return nil, err
	}
	threads := c.Storage.Threads
	return bot.New(bot.Options{
		Access: resolver, Library: c.answeredFrom(), Openers: openers(c.platforms()), Withdraw: withdrawals[c.Config.Access.Retract],
		Store: c.Telemetry.Store(threads.Runs), Flows: c.Telemetry.Flows(registered, answer.Name), Router: router,
		Accompany: c.Telemetry.Accompany, Logger: c.Logger, Adapters: c.Posters(), Files: map[string]chat.Fetcher{"web": c.Storage.Uploads}, Ending: ending, Quota: newQuota(c.Config.Limits, c.Storage.counts, c.Models.Budget), ModelBudget: newTeamBudget(c.Config.Limits, c.Storage.counts, c.Models.Budget), Catalog: c.Library,
		Examples: c.Examples(), ReadFile: c.recognizer.ReadAttached, Viewer: newViewer(c.Config), Check: c.checks.findStates, Keep: c.Channels.keep, RefreshAccess: newGrantRefresher(c.Library, c.Storage.Groups).refresh,
		Corrections: findCorrections(registered), Curation: newCuration(c.Setup, c.Storage.Pinned, resolver), ComposeDigest: digests{cairn: c}.compose,
	})
}

// Posters are the adapters whose threads this program works at. Terminal and page post nothing:
// they read what was said.
func (c *Cairn) Posters() map[string]chat.Poster {
	all := map[string]chat.Poster{"terminal": nil, "web": nil}
	if c.Slack != nil {
		all[slack.Name] = c.Telemetry.Platform(c.Slack.adapter, slack.Name)
	}
	if c.Discord != nil {
		all[discord.Name] = c.Telemetry.Platform(c.Discord.adapter, discord.Name)
	}
	return all
}

// platforms are the adapters of people's platforms themselves, by name, and not what
// measures them: that offers no more than it measures.
func (c *Cairn) platforms() map[string]any {
	all := make(map[string]any)
	if c.Slack != nil {
		all[slack.Name] = c.Slack.adapter
	}
	if c.Discord != nil {
		all[discord.Name] = c.Discord.adapter
	}
	return all
}

// newResolver makes what decides whom answers are shown to, and brings the configuration's part
// of the groups up to date.
func (c *Cairn) newResolver(ctx context.Context) (*access.Resolver, error) {
	groups, err := OpenGroups(ctx, c.Setup, c.Storage)
	if err != nil {
		return nil, err
	}
	options := access.Options{Adapters: c.platforms(), Groups: groups, IsPublic: func(ctx context.Context) (bool, error) { return isPublic(ctx, c) }, Logger: c.Logger}
	if len(c.Config.Flows.Folders) > 0 { // folders of theirs may be restricted, of which the index knows nothing
		options.IsPublic = nil
	}
	return access.NewResolver(options), nil
}

// isPublic tells that every document and page is for everybody.
func isPublic(ctx context.Context, c *Cairn) (bool, error) {
	public, err := c.Index.IsPublic(ctx)
	if err != nil || !public || c.Storage.Pages == nil {
		return public, err
	}
	return c.Storage.Pages.IsPublic(ctx)
}
