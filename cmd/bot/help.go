package main

import (
	"context"
	"io"
)

type helpCommand struct {
	Commands []string `arg:"" name:"COMMAND" optional:"" help:"The command to explain; default: all of them, in a line each."`
}

// Run prints what --help prints.
func (c *helpCommand) Run(_ context.Context, in *invocation) error {
	asked, err := parseArguments(append(c.Commands, "--help"))
	if err != nil {
		return err
	}
	_, err = io.WriteString(in.std.Out, asked.text)
	return err
}
