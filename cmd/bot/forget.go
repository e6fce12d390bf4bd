package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"cairn/internal/chat"
)

type forgetCommand struct {
	User string `required:"" placeholder:"ID" help:"Who is to be forgotten, by the id that the platform knows them by."`
}

// Run erases what is kept of a person: what they wrote and what was said to it, their
// runs, traces and ratings.
func (c *forgetCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, a) }()
	if err := a.forgetQueries(ctx, chat.UserID(c.User)); err != nil {
		return err
	}
	handler, err := a.bot(ctx, nil)
	if err != nil {
		return err
	}
	a.work(ctx, handler)
	known, err := a.adapters(ctx)
	if err != nil {
		return err
	}
	threads, err := handler.Forget(ctx, chat.UserID(c.User), slices.Sorted(maps.Keys(known))...)
	if err != nil {
		return err
	}
	fmt.Fprintf(in.std.Out, "Forgot %s in %s.\n", c.User, count(threads, "thread"))
	return nil
}
