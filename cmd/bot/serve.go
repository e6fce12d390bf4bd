package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/config"
)

// The roles of a process that serves. Intake is all that takes messages in.
const (
	roleWorker  = "worker"
	roleIntake  = "intake"
	roleSlack   = "slack"
	roleDiscord = "discord"
	roleWeb     = "web"
)

type serveCommand struct {
	Role   roleFlag `long:"role" value-name:"ROLE,..." default:"intake,worker" description:"What this process does: worker answers messages, intake takes them in from all that is configured; slack, discord or web takes them in from that alone. Several processes may share a store."`
	Listen string   `long:"listen" value-name:"ADDRESS" description:"Address of the page, for intake and web; default: the configuration's, else a free port of this machine."`
}

// roleFlag is one or several roles, with commas between them.
type roleFlag []string

// UnmarshalFlag takes roles beside those that were named before.
func (f *roleFlag) UnmarshalFlag(value string) error {
	for role := range strings.SplitSeq(value, ",") {
		if err := among("--role", role, roleIntake, roleWorker, roleSlack, roleDiscord, roleWeb); err != nil {
			return err
		}
		*f = append(*f, role)
	}
	return nil
}

// roles are what a process does.
type roles map[string]bool

// roles are what the command line asks for. What takes messages in from one platform needs
// that platform.
func (c *serveCommand) roles(configured config.Config) (roles, error) {
	does := roles{}
	for _, role := range c.Role {
		does[role] = true
	}
	switch {
	case does[roleSlack] && configured.Slack.Mode == config.SlackOff:
		return nil, errors.New("--role slack: Slack is off: set slack.mode (see docs/slack.md)")
	case does[roleDiscord] && configured.Discord.Mode == config.DiscordOff:
		return nil, errors.New("--role discord: Discord is off: set discord.mode (see docs/discord.md)")
	}
	if does[roleIntake] {
		does[roleSlack], does[roleDiscord], does[roleWeb] = true, true, true
	}
	return does, nil
}

// Run serves until the first SIGTERM or Ctrl-C: then nothing more is taken in, what works
// is saved and given back. A second one ends the program at once.
func (c *serveCommand) Run(ctx context.Context, in *invocation) (err error) {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	does, err := c.roles(configured)
	if err != nil {
		return err
	}
	if c.Listen != "" {
		configured.Web.Listen = c.Listen
	}
	measured, err := openTelemetry(ctx, configured, in.std)
	if err != nil {
		return err
	}
	defer measured.Close(ctx)
	a, err := openMeasured(ctx, configured, in.std, serves, measured)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, a) }()
	handler, err := a.bot(ctx, ctx.Done())
	if err != nil {
		return err
	}
	if err := a.watchStores(a.opened); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		a.logger.Info("stopping: what works is saved and given back; a second signal ends at once")
	})
	defer stop()
	return a.whileTold(ctx, in.std.Out, a.dependencies(does), func(ctx context.Context) error {
		return a.serve(ctx, in.std.Out, does, handler)
	})
}

// serve does what the roles ask for until ctx ends.
func (a *app) serve(ctx context.Context, out io.Writer, does roles, handler *bot.Bot) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	if does[roleWorker] {
		parts.Go(func() error {
			handler.Work(ctx)
			return nil
		})
		parts.Go(func() error {
			handler.WatchCitations(ctx, a.isIndexWhole)
			return nil
		})
		fmt.Fprintln(out, "Working at what is queued.")
	}
	taking := a.telemetry.Intake(handler)
	err := a.takeIn(ctx, out, does, handler, func(run func(ctx context.Context, handler chat.Handler) error) {
		parts.Go(func() error { return run(ctx, taking) })
	})
	if err != nil {
		stop()
	}
	return errors.Join(err, parts.Wait())
}

// takeIn begins to take messages in.
func (a *app) takeIn(ctx context.Context, out io.Writer, does roles, handler *bot.Bot, begin func(run func(context.Context, chat.Handler) error)) error {
	if does[roleWeb] {
		page, err := a.web(ctx, handler, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Ask at %s\n", page.URL())
		begin(page.Run)
		if err := a.operationsApart(out, handler, begin); err != nil {
			return err
		}
	}
	if does[roleSlack] {
		talks, err := a.slack(ctx)
		if err != nil {
			return err
		}
		if talks != nil {
			begin(func(ctx context.Context, handler chat.Handler) error { return talks.run(ctx, handler, out) })
		}
	}
	if does[roleDiscord] {
		talks, err := a.discord(ctx)
		if err != nil {
			return err
		}
		if talks != nil {
			begin(func(ctx context.Context, handler chat.Handler) error { return talks.run(ctx, handler, out) })
		}
	}
	return nil
}
