package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/jessevdk/go-flags"
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
	case flags.WroteHelp(err):
		fmt.Fprint(std.Out, err)
		return exitOK
	case err != nil:
		fmt.Fprintln(std.Err, "cairn:", err)
		return exitUsage
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
}
