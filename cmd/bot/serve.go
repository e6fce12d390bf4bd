package main

import (
	"context"

	"github.com/cairn-bot/cairn/internal/app"
)

type serveCommand struct {
	Role   []app.Role `enum:"intake,worker,slack,discord,web" default:"intake,worker" placeholder:"ROLE" help:"What this process does: worker answers messages, intake takes them in from all that is configured; slack, discord or web takes them in from that alone. Several processes may share a store."`
	Listen string     `placeholder:"ADDRESS" help:"Address of the page, for intake and web; default: the configuration's, else a free port of this machine."`
}

// Run serves until the first SIGTERM or Ctrl-C.
func (c *serveCommand) Run(ctx context.Context, in *invocation) error {
	setup, err := in.setup()
	if err != nil {
		return err
	}
	roles, err := app.NewRoles(c.Role, setup.Config)
	if err != nil {
		return err
	}
	if c.Listen != "" {
		setup.Config.Web.Listen = c.Listen
	}
	setup.Version, setup.Commit = buildVersion()
	return app.Serve(ctx, setup, roles, in.std.Out)
}
