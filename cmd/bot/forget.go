package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"cairn/internal/audit"
	"cairn/internal/chat"
)

type forgetCommand struct {
	User string `long:"user" required:"yes" value-name:"ID" description:"Who is to be forgotten, by the id that the platform knows them by; required."`
}

// Run erases what is kept of a person: what they wrote and what was said to it, their
// runs, traces and ratings.
func (c *forgetCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, a) }()
	var threads int
	err = a.atTerminal(ctx, audit.ForgetPerson, c.User, func() (err error) {
		threads, err = a.forget(ctx, chat.UserID(c.User))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(in.std.Out, "Forgot %s in %s.\n", c.User, count(threads, "thread"))
	return nil
}

// forget erases what is kept of a person, and tells in how many threads.
func (a *app) forget(ctx context.Context, user chat.UserID) (threads int, err error) {
	if err := a.forgetQueries(ctx, user); err != nil {
		return 0, err
	}
	handler, err := a.bot(ctx, nil)
	if err != nil {
		return 0, err
	}
	a.work(ctx, handler)
	known, err := a.adapters(ctx)
	if err != nil {
		return 0, err
	}
	return handler.Forget(ctx, user, slices.Sorted(maps.Keys(known))...)
}
