package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jessevdk/go-flags"
)

// command is one thing that the program does. Its exported fields are its flags and
// arguments, as their tags tell go-flags, which looks no methods up by name: a parser that
// does so has the linker keep all methods of all types, a fifth of the binary.
type command interface {
	Run(ctx context.Context, in *invocation) error
}

// entry is a command, or a family of them, under the name that people call it by. A family
// that has a command as well does that where none of its members is named.
type entry struct {
	name    string
	command command
	help    string
	family  []entry
}

// entries are all commands.
func entries() []entry {
	list := &runsListCommand{}
	return []entry{
		{name: "demo", command: &demoCommand{}, help: "Try Cairn on a few documents: in this terminal and on a local page."},
		{name: "ingest", command: &ingestCommand{}, help: "Read folders of documents into the index."},
		{name: "migrate", command: &migrateCommand{}, help: "Bring the index's database up to date with this program."},
		{name: "ask", command: &askCommand{}, help: "Answer one question."},
		{name: "chat", command: &chatCommand{}, help: "Talk in the terminal: follow-ups are understood."},
		{name: "analyze", command: &analyzeCommand{}, help: "Analyse documents with you in the loop."},
		{name: "context", command: &contextCommand{}, help: "Write an overview of something from documents."},
		{name: "repo", command: &repoCommand{}, help: "Report on a repository."},
		{name: "web", command: &webCommand{}, help: "Serve the local page over the index."},
		{name: "serve", command: &serveCommand{}, help: "Take messages in and answer them, in one process or several."},
		{name: "runs", command: list, help: "Look into runs: list (the default), show, cancel, replay, discard.", family: []entry{
			{name: "list", command: list, help: "List runs, the last changed first, and what was put aside."},
			{name: "show", command: &runsShowCommand{}, help: "Show how a run went."},
			{name: "cancel", command: &runsCancelCommand{}, help: "End a run that works or waits for an answer."},
			{name: "replay", command: &runsReplayCommand{}, help: "Go on with a run that failed, was cancelled or put aside."},
			{name: "discard", command: &runsDiscardCommand{}, help: "Forget that a run was put aside: nobody goes on with it."},
		}},
		{name: "slack", help: "Set Cairn up in Slack: manifest.", family: []entry{
			{name: "manifest", command: &slackManifestCommand{}, help: "Print the app manifest, with each permission and why it is asked."},
		}},
		{name: "discord", help: "Set Cairn up in Discord: invite, commands.", family: []entry{
			{name: "invite", command: &discordInviteCommand{}, help: "Print the link that adds Cairn to a server, with what it needs."},
			{name: "commands", command: &discordCommandsCommand{}, help: "Show Cairn's commands in Discord, or bring them up to date."},
		}},
		{name: "status", command: &statusCommand{}, help: "Say how Cairn stands: stores, messages, questions, runs, sources."},
		{name: "ready", command: &readyCommand{}, help: "Ask the process that serves if it is ready, for health checks."},
		{name: "doctor", command: &doctorCommand{}, help: "Check what Cairn needs to work, and say how to mend what is wrong."},
		{name: "who-sees", command: &whoSeesCommand{}, help: "Say who may read a document, and why."},
		{name: "forget", command: &forgetCommand{}, help: "Erase what is kept of a person."},
		{name: "flows", command: &flowsCommand{}, help: "Draw the registered graphs."},
		{name: "eval", command: &evalCommand{}, help: "Measure search and answers on a set of questions."},
		{name: "config", help: "Look at the configuration: check, example.", family: []entry{
			{name: "check", command: &configCheckCommand{}, help: "Say all that is wrong with it, or print the settings that hold."},
			{name: "example", command: &configExampleCommand{}, help: "Print a configuration with every setting at its default."},
		}},
		{name: "version", command: &versionCommand{}, help: "Say which version this is, and which commit it was built from."},
	}
}

// global is what every command takes.
type global struct {
	Data   string `long:"data" value-name:"DIR" description:"Data directory; default: the configuration's, else the user's data directory."`
	Config string `long:"config" value-name:"FILE" description:"Configuration file; default: $CAIRN_CONFIG, ./cairn.yaml, the user's configuration directory."`
}

// options are the flags of every command. Those that are answered at once hold what does so.
type options struct {
	global
	Help    func() error `short:"h" long:"help" description:"Show this help."`
	Version func() error `long:"version" description:"Print the version."`
}

// asked is what the command line asks for.
type asked struct {
	name    string // the last word of the command: "list"
	command command
	global  global
}

// parseArguments reads what was typed. Where that asks for a text, such as help, the error
// is the text, and flags.WroteHelp tells so; other errors say what to do.
func parseArguments(args []string) (asked, error) {
	line := &commandLine{
		parser:   flags.NewNamedParser("cairn", flags.PassDoubleDash|flags.AllowBoolValues),
		commands: map[*flags.Command]command{},
	}
	given := options{Help: line.help, Version: func() error { return answered(versionLine() + "\n") }}
	if err := line.define(&given); err != nil {
		return asked{}, fmt.Errorf("define the commands: %w", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	rest, err := line.parser.ParseArgs(args)
	if flags.WroteHelp(err) {
		return asked{}, err
	}
	called, path := line.called()
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("unexpected argument %q", rest[0])
	}
	if err != nil {
		return asked{}, fmt.Errorf("%w\nSee `%s --help`", err, path)
	}
	return asked{name: called.Name, command: line.commands[called], global: given.global}, nil
}

// commandLine is the parser, and the command that each of its own stands for.
type commandLine struct {
	parser   *flags.Parser
	commands map[*flags.Command]command
}

func (l *commandLine) define(given *options) error {
	l.parser.Usage = "[OPTIONS]"
	l.parser.LongDescription = "Answers questions from your team's own documents, and shows where every statement comes from."
	l.parser.UnknownOptionHandler = l.unknown
	if _, err := l.parser.AddGroup("Options of every command", "", given); err != nil {
		return err
	}
	return l.add(l.parser.Command, entries())
}

func (l *commandLine) add(to *flags.Command, offered []entry) error {
	for _, e := range offered {
		var fields any = e.command
		if e.family != nil {
			fields = &struct{}{} // those of a family are its members'
		}
		added, err := to.AddCommand(e.name, e.help, e.help, fields)
		if err != nil {
			return err
		}
		added.SubcommandsOptional = e.command != nil
		l.commands[added] = e.command
		if err := l.add(added, e.family); err != nil {
			return err
		}
	}
	return nil
}

// called is the command that was named so far, and how: "cairn runs list".
func (l *commandLine) called() (*flags.Command, string) {
	command, path := l.parser.Command, l.parser.Name
	for command.Active != nil {
		command = command.Active
		path += " " + command.Name
	}
	return command, path
}

func (l *commandLine) help() error {
	var text strings.Builder
	l.parser.WriteHelp(&text)
	return answered(text.String())
}

// unknown deals with a flag that the command does not have. Of a family it is taken for one
// of the member that the family's name stands for: the arguments then go on with that.
func (l *commandLine) unknown(flag string, value flags.SplitArgument, rest []string) ([]string, error) {
	called, path := l.called()
	for _, member := range called.Commands() {
		if l.commands[called] == nil || l.commands[member] != l.commands[called] {
			continue
		}
		again := "--" + flag
		if text, ok := value.Value(); ok {
			again += "=" + text
		}
		return append([]string{member.Name, again}, rest...), nil
	}
	dashes, has := "--", []string(nil)
	if utf8.RuneCountInString(flag) == 1 {
		dashes = "-"
	}
	for _, group := range append([]*flags.Group{called.Group}, l.parser.Groups()...) {
		for _, option := range group.Options() {
			has = append(has, "--"+option.LongName)
		}
	}
	return nil, misused(flags.ErrUnknownFlag, "unknown flag `%s%s': %s takes %s", dashes, flag, path, strings.Join(has, ", "))
}

// answered is a text as the parser takes it from a flag that is answered at once.
func answered(text string) error { return misused(flags.ErrHelp, "%s", text) }

// among fails where a flag's value is none of its choices, in the parser's words for those
// that it has from a tag.
func among(flag, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	last := len(choices) - 1
	return misused(flags.ErrInvalidChoice, "Invalid value `%s' for option `%s'. Allowed values are: %s or %s",
		value, flag, strings.Join(choices[:last], ", "), choices[last])
}

// misused is an error that the parser hands on as it is.
func misused(kind flags.ErrorType, format string, args ...any) error {
	return &flags.Error{Type: kind, Message: fmt.Sprintf(format, args...)}
}
