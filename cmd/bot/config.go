package main

import (
	"fmt"

	"cairn/internal/config"
)

type configCommands struct {
	Check   configCheckCommand   `cmd:"" help:"Check the configuration and say all that is wrong with it."`
	Example configExampleCommand `cmd:"" help:"Print a configuration with every setting at its default."`
}

type configCheckCommand struct{}

// Run loads the configuration; its errors are the command's.
func (c *configCheckCommand) Run(in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(in.std.Out, "The configuration is sound. Data directory: %s. Sources: %d.\n", configured.DataDir, len(configured.Sources))
	return err
}

type configExampleCommand struct{}

// Run prints the example.
func (c *configExampleCommand) Run(in *invocation) error {
	_, err := fmt.Fprint(in.std.Out, config.Example())
	return err
}
