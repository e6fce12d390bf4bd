package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// The roles of a process that serves.
const (
	roleIntake = "intake"
	roleWorker = "worker"
)

type serveCommand struct {
	Role   []string `enum:"intake,worker" default:"intake,worker" help:"What this process does: intake takes messages in, worker answers them. Several processes may share a store."`
	Listen string   `placeholder:"ADDRESS" help:"Address of the page, for intake; default: the configuration's, else a free port of this machine."`
}

// Run serves until the first SIGTERM or Ctrl-C: then nothing more is taken in, what works
// is saved and given back. A second one ends the program at once.
func (c *serveCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, a) }()
	handler, err := a.bot(ctx, ctx.Done())
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		a.logger.Info("stopping: what works is saved and given back; a second signal ends at once")
	})
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	if slices.Contains(c.Role, roleWorker) {
		parts.Go(func() error {
			handler.Work(ctx)
			return nil
		})
		fmt.Fprintln(in.std.Out, "Working at what is queued.")
	}
	if slices.Contains(c.Role, roleIntake) {
		if c.Listen != "" {
			a.config.Web.Listen = c.Listen
		}
		page, err := a.web(ctx, handler, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(in.std.Out, "Ask at %s\n", page.URL())
		parts.Go(func() error { return page.Run(ctx, handler) })
		if talks, err := a.slack(ctx); err != nil {
			return err
		} else if talks != nil {
			parts.Go(func() error { return talks.run(ctx, handler, in.std.Out) })
		}
		if talks, err := a.discord(ctx); err != nil {
			return err
		} else if talks != nil {
			parts.Go(func() error { return talks.run(ctx, handler, in.std.Out) })
		}
	}
	return parts.Wait()
}
