package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

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
	return a.purgeForgotten(ctx, in.std.Out)
}

// purgeTime bounds how long Redis is waited for while it writes its files anew.
const purgeTime = time.Minute

// purgeForgotten removes the words that were forgotten from the files of the stores as well,
// and says where they may still be.
func (a *app) purgeForgotten(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, purgeTime)
	defer cancel()
	err := a.opened.purge(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the words are still in files: the stores took more than %s to write them anew, run the command again later: %w", purgeTime, err)
	case err != nil:
		return fmt.Errorf("the words are still in files: %w", err)
	}
	if a.redis == nil {
		_, err = fmt.Fprintln(out, "The files in the data directory hold nothing of it any more. Backups do.")
	} else {
		_, err = fmt.Fprintln(out, "Redis's append-only file was written anew, and holds nothing of it any more. "+
			"Snapshots do until the next one, replicas until they rewrite theirs, and backups.")
	}
	return err
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
