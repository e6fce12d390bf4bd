package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Role is one thing that a process that serves does.
type Role string

// The roles. Intake is all that takes messages in.
const (
	RoleWorker  Role = "worker"
	RoleIntake  Role = "intake"
	RoleSlack   Role = "slack"
	RoleDiscord Role = "discord"
	RoleWeb     Role = "web"
)

// Roles are what a process does.
type Roles map[Role]bool

// NewRoles makes the roles that are asked for. What takes messages in from one platform needs
// that platform.
func NewRoles(asked []Role, configured config.Config) (Roles, error) {
	does := Roles{}
	for _, role := range asked {
		does[role] = true
	}
	switch {
	case does[RoleSlack] && configured.Slack.Mode == config.SlackOff:
		return nil, errors.New("--role slack: Slack is off: set slack.mode (see docs/slack.md)")
	case does[RoleDiscord] && configured.Discord.Mode == config.DiscordOff:
		return nil, errors.New("--role discord: Discord is off: set discord.mode (see docs/discord.md)")
	}
	if does[RoleIntake] {
		does[RoleSlack], does[RoleDiscord], does[RoleWeb] = true, true, true
	}
	return does, nil
}

// Serve does what the roles ask for until ctx ends: then nothing more is taken in, what works
// is saved and given back. A second signal ends the program at once.
func Serve(ctx context.Context, setup Setup, does Roles, out io.Writer) (err error) {
	if setup.Telemetry, err = openTelemetry(ctx, setup); err != nil {
		return err
	}
	defer setup.Telemetry.Close(ctx)
	c, err := Open(ctx, setup, Options{Index: ServeIndex, Ending: ctx.Done(), Pages: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.watchStores(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		c.Logger.Info("stopping: what works is saved and given back; a second signal ends at once")
	})
	defer stop()
	return c.withTelemetry(ctx, out, does, func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		parts, ctx := errgroup.WithContext(ctx)
		var err error
		if does[RoleWorker] {
			err = c.startWorker(ctx, parts, out)
		}
		if err == nil {
			err = c.startIntake(ctx, parts, does, out)
		}
		if err != nil {
			stop()
		}
		return errors.Join(err, parts.Wait())
	})
}

// startWorker works at what is queued, looks after what answers cite, reports how the agents are,
// posts digests, and reads sources by their schedules, until ctx ends.
func (c *Cairn) startWorker(ctx context.Context, parts *errgroup.Group, out io.Writer) error {
	parts.Go(func() error {
		c.Bot.Work(ctx)
		return nil
	})
	parts.Go(func() error {
		c.Bot.WatchCitations(ctx, c.goneDocuments)
		return nil
	})
	parts.Go(func() error { return c.ReportAgents(ctx) })
	parts.Go(func() error {
		prunePages(ctx, c.Storage.Pages, c.Logger)
		pruneUploads(ctx, c.Storage.Uploads, c.Logger)
		return nil
	})
	parts.Go(func() error {
		scheduleDigests(ctx, c)
		return nil
	})
	fmt.Fprintln(out, "Working at what is queued.")
	return (&syncer{sources: sources{c.Library}, groups: c.Storage.Groups, granted: make(map[knowledge.SourceID]time.Time)}).startSync(ctx, parts, c.checks, out)
}

// startIntake takes messages in from the page, Slack and Discord, as far as the roles ask for
// them, until ctx ends.
func (c *Cairn) startIntake(ctx context.Context, parts *errgroup.Group, does Roles, out io.Writer) error {
	handler := c.Telemetry.Intake(c.Bot)
	if does[RoleWeb] {
		if err := c.startWeb(ctx, parts, handler, out); err != nil {
			return err
		}
	}
	if does[RoleWeb] && c.Config.Inspect.RelayListen != "" {
		if err := startRelay(ctx, c, parts, out); err != nil {
			return err
		}
	}
	if does[RoleSlack] && c.Slack != nil {
		parts.Go(func() error { return c.Slack.run(ctx, handler, out) })
	}
	if does[RoleDiscord] && c.Discord != nil {
		parts.Go(func() error { return c.Discord.run(ctx, handler, out) })
	}
	return nil
}

// startWeb serves the web page and the operations page.
func (c *Cairn) startWeb(ctx context.Context, parts *errgroup.Group, handler chat.Handler, out io.Writer) error {
	page, err := c.ListenForWeb(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Ask at %s\n", page.URL())
	parts.Go(func() error { return page.Run(ctx, handler) })
	return c.startOperations(ctx, parts, out)
}
