package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/runs"
)

type forgetCommand struct {
	User string `required:"" placeholder:"ID" help:"Who is to be forgotten, by the id that the platform knows them by; required."`
}

// Run erases what is kept of a person: what they wrote and what was said to it, their
// runs, also those that a command left waiting, traces and ratings.
func (c *forgetCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	var threads int
	err = recordAction(ctx, a.Config, audit.Entry{Action: audit.ForgetPerson, Target: c.User}, func() (err error) {
		threads, err = forgetPerson(ctx, a, chat.UserID(c.User))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(in.std.Out, "Forgot %s in %s.\n", c.User, count(threads, "thread"))
	return purgeForgotten(ctx, a.Storage, in.std.Out)
}

// purgeTime bounds how long Redis is waited for while it writes its files anew.
const purgeTime = time.Minute

// purgeForgotten removes the words that were forgotten from the files of the stores as well,
// and says where they may still be.
func purgeForgotten(ctx context.Context, storage *app.Storage, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, purgeTime)
	defer cancel()
	err := storage.Purge(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the words are still in files: the stores took more than %s to write them anew, run the command again later: %w", purgeTime, err)
	case err != nil:
		return fmt.Errorf("the words are still in files: %w", err)
	}
	if !storage.InRedis {
		_, err = fmt.Fprintln(out, "The files in the data directory hold nothing of it any more. Backups do.")
	} else {
		_, err = fmt.Fprintln(out, "Redis's append-only file was written anew, and holds nothing of it any more. "+
			"Snapshots do until the next one, replicas until they rewrite theirs, and backups.")
	}
	return err
}

// forgetPerson erases what is kept of a person, and tells in how many threads.
func forgetPerson(ctx context.Context, a *app.Cairn, user chat.UserID) (threads int, err error) {
	asked, err := listRunsOf(ctx, a.Storage.Records, user)
	if err != nil {
		return 0, err
	}
	if err := a.ForgetQueries(ctx, asked); err != nil { // before the records of the runs are erased
		return 0, err
	}
	if a.Storage.Pages != nil {
		if _, err := a.Storage.Pages.Forget(ctx, string(user)); err != nil {
			return 0, err
		}
	}
	if _, err := curated.Forget(ctx, a.Storage.Pinned, user); err != nil {
		return 0, err
	}
	if err := app.ForgetWaiting(a.Setup, user); err != nil {
		return 0, err
	}
	a.StartWork(ctx)
	return a.Bot.Forget(ctx, user, slices.Sorted(maps.Keys(a.Posters()))...)
}

// listRunsOf lists the ids of all runs of a person.
func listRunsOf(ctx context.Context, records runs.Registry, user chat.UserID) ([]string, error) {
	const fewest = 1000
	for limit := fewest; ; limit *= 2 {
		listed, err := records.List(ctx, runs.Filter{Author: user}, limit)
		if err != nil {
			return nil, fmt.Errorf("list the runs of %s: %w", user, err)
		}
		if len(listed) == limit { // there may be more
			continue
		}
		ids := make([]string, len(listed))
		for i, record := range listed {
			ids[i] = string(record.ID)
		}
		return ids, nil
	}
}
