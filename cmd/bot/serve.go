package main

import (
	"context"
	"strings"

	"cairn/internal/app"
)

type serveCommand struct {
	Role   roleFlag `long:"role" value-name:"ROLE,..." default:"intake,worker" description:"What this process does: worker answers messages, intake takes them in from all that is configured; slack, discord or web takes them in from that alone. Several processes may share a store."`
	Listen string   `long:"listen" value-name:"ADDRESS" description:"Address of the page, for intake and web; default: the configuration's, else a free port of this machine."`
}

// roleFlag is one or several roles, with commas between them.
type roleFlag []app.Role

// UnmarshalFlag takes roles beside those that were named before.
func (f *roleFlag) UnmarshalFlag(value string) error {
	for role := range strings.SplitSeq(value, ",") {
		err := among("--role", role, string(app.RoleIntake), string(app.RoleWorker), string(app.RoleSlack), string(app.RoleDiscord), string(app.RoleWeb))
		if err != nil {
			return err
		}
		*f = append(*f, app.Role(role))
	}
	return nil
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
