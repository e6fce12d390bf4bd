package main

import (
	"context"

	"github.com/cairn-bot/cairn/internal/app"
)

type webCommand struct {
	Listen string `placeholder:"ADDRESS" help:"Address to listen at; default: the configuration's, else a free port of this machine."`
}

// Run serves until it is stopped.
func (c *webCommand) Run(ctx context.Context, in *invocation) error {
	setup, err := in.setup()
	if err != nil {
		return err
	}
	if c.Listen != "" {
		setup.Config.Web.Listen = c.Listen
	}
	return app.ServeWeb(ctx, setup, in.std.Out)
}
