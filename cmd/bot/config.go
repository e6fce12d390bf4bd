package main

import (
	"context"
	"errors"
	"fmt"

	"cairn/internal/config"
)

type configCommands struct {
	Check   configCheckCommand   `cmd:"" help:"Check the configuration: say all that is wrong with it, or print the settings that hold."`
	Example configExampleCommand `cmd:"" help:"Print a configuration with every setting at its default."`
}

type configCheckCommand struct {
	Models bool `help:"Also send one small request to each configured model, and say how long it took or what is wrong."`
}

// Run loads the configuration; its errors are the command's.
func (c *configCheckCommand) Run(ctx context.Context, in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	from := "There is no file: these are the defaults and the environment's settings."
	if configured.File != "" {
		from = "It comes from " + configured.File + " and the environment:"
	}
	if _, err := fmt.Fprintf(in.std.Out, "The configuration is sound. %s\n\n%s", from, configured); err != nil || !c.Models {
		return err
	}
	if len(configured.Models) == 0 {
		return errors.New("no model is configured, so there is none to check: see docs/configuration.md")
	}
	fmt.Fprintln(in.std.Out)
	failed := 0
	for _, result := range checkModels(ctx, configured.Models) {
		if result.err != nil {
			failed++
		}
		if _, err := fmt.Fprintln(in.std.Out, result); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s gave no reply", failed, count(len(configured.Models), "model"))
	}
	return nil
}

type configExampleCommand struct{}

// Run prints the example.
func (c *configExampleCommand) Run(in *invocation) error {
	_, err := fmt.Fprint(in.std.Out, config.Example())
	return err
}
