package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

var (
	//go:embed completion.bash
	bashCompletion string
	//go:embed completion.zsh
	zshCompletion string
	//go:embed completion.fish
	fishCompletion string
)

type completionCommand struct {
	Shell string `arg:"" name:"SHELL" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Run prints the shell's script, which calls completeCommand.
func (c *completionCommand) Run(_ context.Context, in *invocation) error {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	_, err := fmt.Fprint(in.std.Out, scripts[c.Shell])
	return err
}

type completeCommand struct {
	Words []string `arg:"" name:"WORD" optional:"" help:"The words behind the program's name; the last is to be completed."`
}

// Run prints the commands and flags that begin as the last word does, one a line.
func (c *completeCommand) Run(_ context.Context, in *invocation) error {
	parser, err := newParser(&commands{})
	if err != nil {
		return err
	}
	for _, word := range complete(parser.Model.Node, c.Words) {
		if _, err := fmt.Fprintln(in.std.Out, word); err != nil {
			return err
		}
	}
	return nil
}

// complete gives the commands, or the flags, of the command that all words but the last name
// which begin as the last does.
func complete(node *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := len(words) - 1
	for _, word := range words[:last] {
		if child := childNamed(node, word); child != nil {
			node = child
		}
	}
	var offered, found []string
	if strings.HasPrefix(words[last], "-") {
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				offered = append(offered, "--"+flag.Name)
			}
		}
	} else {
		for _, child := range node.Children {
			if !child.Hidden {
				offered = append(offered, child.Name)
			}
		}
	}
	for _, word := range offered {
		if strings.HasPrefix(word, words[last]) {
			found = append(found, word)
		}
	}
	return found
}
