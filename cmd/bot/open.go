package main

import (
	"context"
	"errors"
	"os"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat"
)

type openCommand struct {
	Number int    `arg:"" name:"N" help:"The number of the mark: 2 for [2]."`
	As     string `placeholder:"USER" help:"Open it as somebody else may read it, as in cairn ask."`
}

// Run shows the passage that a mark of the last answer in this terminal cites, as Cairn has it.
func (c *openCommand) Run(ctx context.Context, in *invocation) error {
	asker, err := askAs(c.As)
	if err != nil {
		return err
	}
	return in.withBot(ctx, func(opened *app.Cairn) error {
		reply, err := lastReply(ctx, opened)
		if err != nil {
			return err
		}
		ref, ok := terminal.FindCited(*reply, c.Number)
		if !ok {
			return terminal.CitationError(c.Number)
		}
		text, err := opened.Bot.ReadSource(ctx, ref, chat.Reader{Adapter: terminal.Name, User: author(), Identity: asker})
		if err != nil {
			return err
		}
		return terminal.Detect(in.std.Out, os.Getenv).Source(text)
	})
}

// maxOpened is how many of the person's last conversations are looked through.
const maxOpened = 20

// lastReply gives the last answer with sources in the person's conversations in the terminal.
func lastReply(ctx context.Context, opened *app.Cairn) (*chat.Reply, error) {
	threads, err := opened.Bot.Threads(ctx, terminal.Name, author(), maxOpened)
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		turns, err := opened.Bot.Transcript(ctx, thread.Thread)
		if err != nil {
			return nil, err
		}
		for i := len(turns) - 1; i >= 0; i-- {
			if reply := turns[i].Reply; reply != nil && len(reply.Sources) > 0 {
				return reply, nil
			}
		}
	}
	return nil, errors.New("there is no answer with sources yet: ask something with `cairn ask`")
}
