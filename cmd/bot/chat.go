package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/bot"
)

type chatCommand struct{}

// Run talks until the person leaves.
func (c *chatCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	a.StartWork(ctx)
	stats, err := a.Index.Stats(ctx)
	if err != nil {
		return err
	}
	welcome := fmt.Sprintf("I know %d documents. Ask me something; /help shows more, /quit leaves.", stats.Documents)
	return talk(ctx, in.std, a.Bot, welcome)
}

// talk runs the terminal adapter. Ctrl-C stops an answer, or leaves.
func talk(ctx context.Context, std stdio, handler *bot.Bot, welcome string) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	adapter := terminal.NewChat(terminal.Options{
		In: std.In, Renderer: terminal.Detect(std.Out, os.Getenv), Live: terminal.IsTerminal(std.Out),
		Author: author(), Controls: handler, Sources: handler, Interrupts: interrupts, Welcome: welcome,
	})
	return adapter.Run(ctx, handler)
}
