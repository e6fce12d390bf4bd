package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	code := run(ctx, os.Args[1:], stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, OwnProcess: true})
	stop()
	os.Exit(code)
}

// takesInterrupts are the commands in which Ctrl-C does not end the program at once:
// it stops an answer first.
var takesInterrupts = map[string]bool{"chat": true, "demo": true}

// endBySignal are the commands that a signal ends as a person means to. Others are
// interrupted by it.
var endBySignal = map[string]bool{"serve": true, "web": true, "chat": true, "demo": true}

// stdio is where a command reads and writes.
type stdio struct {
	In       *os.File
	Out, Err *os.File
	// OwnProcess tells that the command is all that the process does: its priority may change.
	OwnProcess bool
}

// Exit codes: a command that was used wrongly differs from one that failed.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitAsked  = 3 // asked back, and nobody was there to answer
)

// run parses the arguments, runs the command and gives the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	asked, err := parseArguments(args)
	switch {
	case err != nil:
		fmt.Fprintln(std.Err, "cairn:", err)
		return exitUsage
	case asked.command == nil:
		fmt.Fprint(std.Out, asked.text)
		return exitOK
	}
	if !takesInterrupts[asked.name] {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	err = asked.command.Run(ctx, &invocation{std: std, global: asked.global})
	switch {
	case err == nil, errors.Is(err, context.Canceled) && endBySignal[asked.name]:
		return exitOK
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	fmt.Fprintln(std.Err, "cairn:", err)
	if errors.Is(err, errAskedBack) {
		return exitAsked
	}
	return exitFailed
}

// invocation is one command being run.
type invocation struct {
	std    stdio
	global global
	// session is a file that was recorded of an app, in the place of the configured one.
	session string
}

// configuration reads the file and the environment; a --data flag goes before both.
func (in *invocation) configuration() (config.Config, error) {
	configured, err := config.Load(in.global.Config)
	if err != nil {
		return config.Config{}, err
	}
	if in.global.Data != "" {
		configured.DataDir = in.global.Data
		if err := configured.RereadSources(); err != nil {
			return config.Config{}, err
		}
	}
	return configured, nil
}

// setup reads the configuration, and gives what parts of the program are made with.
func (in *invocation) setup() (app.Setup, error) {
	configured, err := in.configuration()
	if err != nil {
		return app.Setup{}, err
	}
	return app.NewSetup(configured, in.std.Err), nil
}

// openLibrary reads the configuration and opens the index, to read it.
func (in *invocation) openLibrary(ctx context.Context) (*app.Library, error) {
	setup, err := in.setup()
	if err != nil {
		return nil, err
	}
	return app.OpenLibrary(ctx, setup, app.ReadIndex)
}

// open reads the configuration and opens all that answers messages.
func (in *invocation) open(ctx context.Context) (*app.Cairn, error) {
	setup, err := in.setup()
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, setup, app.Options{Index: app.ReadIndex})
}

// closeAfter joins what a command failed with and what closing failed with.
func closeAfter(err error, opened io.Closer) error { return errors.Join(err, opened.Close()) }
