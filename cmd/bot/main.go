package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	code := run(ctx, os.Args[1:], stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

// takesInterrupts are the commands in which Ctrl-C does not end the program at once:
// it stops an answer first.
var takesInterrupts = map[string]bool{"chat": true, "demo": true, "demo <folder>": true}

// stdio is where a command reads and writes.
type stdio struct {
	In       *os.File
	Out, Err *os.File
}

// Exit codes: a command that was used wrongly differs from one that failed.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// run parses the arguments, runs the command and gives the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("cairn"),
		kong.Description("Answers questions from your team's own documents, and shows where every statement comes from."),
		kong.Writers(std.Out, std.Err),
		kong.UsageOnError(),
		kong.Vars{"version": versionLine()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(std.Err, "cairn:", err)
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	exited := -1
	parser.Exit = func(code int) { exited = code }
	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintln(std.Err, "cairn:", err)
		return exitUsage
	}
	if !takesInterrupts[parsed.Command()] {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(&invocation{std: std, global: cli.global})
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(std.Err, "cairn:", err)
		return exitFailed
	}
	return exitOK
}

// commands is the command line.
type commands struct {
	global
	Demo    demoCommand     `cmd:"" help:"Try Cairn on a small set of documents: in this terminal and on a local page."`
	Ingest  ingestCommand   `cmd:"" help:"Read folders of documents into the index."`
	Migrate migrateCommand  `cmd:"" help:"Bring the database that holds the index up to date with this program."`
	Ask     askCommand      `cmd:"" help:"Answer one question."`
	Chat    chatCommand     `cmd:"" help:"Talk in the terminal: follow-ups are understood."`
	Analyze analyzeCommand  `cmd:"" help:"Analyse documents with you in the loop."`
	Context contextCommand  `cmd:"" help:"Write an overview of something from documents."`
	Repo    repoCommand     `cmd:"" help:"Report on a repository."`
	Web     webCommand      `cmd:"" help:"Serve the local page over the index."`
	Serve   serveCommand    `cmd:"" help:"Take messages in and answer them, in one process or several."`
	Runs    runsCommands    `cmd:"" help:"Look into runs: list, show, cancel, replay."`
	Slack   slackCommands   `cmd:"" help:"Set Cairn up in Slack."`
	Discord discordCommands `cmd:"" help:"Set Cairn up in Discord."`
	Status  statusCommand   `cmd:"" help:"Say how Cairn stands: stores, messages, questions, runs, sources."`
	Ready   readyCommand    `cmd:"" help:"Ask the process that serves whether it is ready, for health checks."`
	Doctor  doctorCommand   `cmd:"" help:"Check what Cairn needs to work, and say what to do about what is wrong."`
	Forget  forgetCommand   `cmd:"" help:"Erase what is kept of a person."`
	Flows   flowsCommand    `cmd:"" help:"Draw the registered graphs."`
	Eval    evalCommand     `cmd:"" help:"Measure search and answers on a set of questions."`
	Config  configCommands  `cmd:"" help:"Look at the configuration."`
	Version versionCommand  `cmd:"" help:"Say which version this is, and which commit it was built from."`

	VersionFlag kong.VersionFlag `name:"version" help:"Print the version."`
}

// global is what every command takes.
type global struct {
	Data   string `placeholder:"DIR" help:"Data directory; default: the configuration's, else the user's data directory."`
	Config string `placeholder:"FILE" help:"Configuration file; default: $$CAIRN_CONFIG, ./cairn.yaml, the user's configuration directory."`
}

// invocation is one command being run.
type invocation struct {
	std    stdio
	global global
}
