package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCommand struct{}

// Run prints the manual page of the program, made from the same description of the commands as
// their help.
func (c *manCommand) Run(_ context.Context, in *invocation) error {
	parser, err := newParser(&commands{})
	if err != nil {
		return err
	}
	_, err = io.WriteString(in.std.Out, manPage(parser.Model))
	return err
}

// manPage is the manual page cairn(1) in roff.
func manPage(program *kong.Application) string {
	w := &roff{}
	release, _ := buildVersion()
	w.macro("TH", strings.ToUpper(program.Name), "1", "", program.Name+" "+release, "User commands")
	w.macro("SH", "NAME")
	w.text(program.Name + " - a teammate that answers questions from a team's own documents")
	w.macro("SH", "SYNOPSIS")
	w.bold(program.Name + " COMMAND [FLAGS] [ARGUMENTS]")
	w.macro("SH", "DESCRIPTION")
	w.text(program.Help)
	w.macro("SH", "COMMANDS")
	w.commands(program.Node)
	w.macro("SH", "FLAGS OF EVERY COMMAND")
	w.flags(program.Flags)
	w.macro("SH", "EXIT STATUS")
	for _, status := range []struct{ code, meaning string }{
		{"0", "The command did what was asked."}, {"1", "It failed, was interrupted, or wrote nothing because what it was to read is refused or empty."},
		{"2", "It was used wrongly."}, {"3", "A question was asked back where nobody was there to reply."},
	} {
		w.macro("TP")
		w.bold(status.code)
		w.text(status.meaning)
	}
	return w.String()
}

// roff writes a manual page.
type roff struct{ strings.Builder }

// commands describes the commands below one that run by themselves.
func (w *roff) commands(node *kong.Node) {
	for _, child := range node.Children {
		switch {
		case child.Hidden:
			continue
		case len(child.Children) > 0:
			w.commands(child)
			continue
		}
		w.macro("SS", child.FullPath())
		w.bold(synopsisOf(child))
		w.macro("PP")
		w.text(child.Help)
		if examples := child.Tag.GetAll("example"); len(examples) > 0 {
			w.macro("PP")
			w.macro("EX")
			for _, example := range examples {
				w.text(example)
			}
			w.macro("EE")
		}
		for _, argument := range child.Positional {
			w.macro("TP")
			w.bold(argument.Summary())
			w.text(describeValue(argument))
		}
		w.flags(child.Flags)
	}
}

// synopsisOf is how a command is typed: "cairn runs show <RUN> [flags]".
func synopsisOf(node *kong.Node) string {
	words := []string{node.FullPath()}
	for _, argument := range node.Positional {
		words = append(words, argument.Summary())
	}
	return strings.Join(append(words, "[flags]"), " ")
}

func (w *roff) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		short := ""
		if flag.Short != 0 {
			short = fmt.Sprintf("-%c, ", flag.Short)
		}
		w.macro("TP")
		w.bold(short + flag.Summary())
		w.text(describeValue(flag.Value))
	}
}

// macro writes a request with its arguments.
func (w *roff) macro(name string, arguments ...string) {
	w.WriteString("." + name)
	for _, argument := range arguments {
		w.WriteString(` "` + strings.ReplaceAll(escapeRoff(argument), `"`, `\(dq`) + `"`)
	}
	w.WriteString("\n")
}

func (w *roff) bold(text string) { w.WriteString(`\fB` + escapeRoff(text) + `\fR` + "\n") }

// text writes a line, which is no request whatever it begins with.
func (w *roff) text(text string) { w.WriteString(`\&` + escapeRoff(text) + "\n") }

// escapeRoff writes what means something to roff as it is to be read.
func escapeRoff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
}
