package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/postgres"
	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// Between a machine's clock and that of Redis: what is told, and what is too much. Leases
// and queues go by the clock of Redis alone; signatures of platforms by the machine's.
const (
	clockDoubt  = 2 * time.Second
	clockBroken = time.Minute
)

// checkRedis looks at the servers that keep threads and runs.
func checkRedis(ctx context.Context, settings config.Redis) []finding {
	if settings.URL.IsZero() {
		return []finding{{What: "Redis", Told: "none is configured: threads and runs are in the data directory, for one machine"}}
	}
	client, err := conn.Open(ctx, settings.URL.Reveal())
	if err != nil {
		return []finding{{What: "Redis", Problem: err, Remedy: "correct redis.url, or start the server; see docs/redis.md#what-goes-wrong-at-the-start"}}
	}
	found := []finding{{What: "Redis"}, {What: "clock"}}
	about, err := client.About(ctx)
	for i := range found {
		found[i].Problem, found[i].Remedy = err, "see docs/redis.md"
	}
	if err == nil {
		found[0].Told = "version " + about.Version
		found[1] = checkClock(about.Ahead)
	}
	for _, warning := range client.Warnings {
		found = append(found, finding{What: "Redis", Problem: errors.New(warning), Remedy: "see docs/redis.md#what-can-be-lost", Minor: true})
	}
	if err := client.Close(); err != nil {
		found = append(found, finding{What: "Redis", Problem: err, Remedy: "look into the network to the server"})
	}
	return found
}

// checkClock judges by how much the clock of Redis is ahead of this machine's.
func checkClock(ahead time.Duration) finding {
	off := ahead.Abs().Round(time.Millisecond)
	found := finding{What: "clock", Told: fmt.Sprintf("%s from that of Redis", off)}
	if off > clockDoubt {
		found.Problem = fmt.Errorf("it is %s from that of Redis", off)
		found.Remedy = "let both machines keep their time by NTP: requests of Slack and Discord are refused where the clock is five minutes wrong"
		found.Minor = off <= clockBroken
	}
	return found
}

// checkDatabases looks into the database of the index, and into its replica.
func checkDatabases(ctx context.Context, configured config.Config, std stdio) []finding {
	if configured.Postgres.URL.IsZero() {
		return []finding{{What: "PostgreSQL", Told: "none is configured: the index is in the data directory"}}
	}
	options := app.PostgresOptions(configured, nil, app.NewLogger(configured.Log, std.Err))
	found := []finding{checkSchema(ctx, "PostgreSQL", options)}
	if options.ReadURL != "" {
		options.URL = options.ReadURL
		found = append(found, checkSchema(ctx, "replica of PostgreSQL", options))
	}
	return found
}

func checkSchema(ctx context.Context, what string, options postgres.Options) finding {
	due, err := postgres.DueMigration(ctx, options)
	switch {
	case err != nil:
		return finding{What: what, Problem: err, Remedy: "correct postgres.url or the server; see docs/postgres.md"}
	case due.Extension == "" || due.Installed:
		return finding{What: what, Problem: fmt.Errorf("database %s lacks the extension pgvector", due.Database), Remedy: "`cairn migrate` creates it, as a user who may"}
	case due.IsDue():
		return finding{What: what, Problem: fmt.Errorf("database %s has schema version %d of %d", due.Database, due.From, due.To), Remedy: "run `cairn migrate`"}
	}
	return finding{What: what, Told: fmt.Sprintf("database %s, schema version %d, pgvector %s", due.Database, due.To, due.Extension)}
}

// checkStores opens the index, and the stores of threads and runs.
func checkStores(ctx context.Context, configured config.Config, std stdio) []finding {
	library, err := app.OpenLibrary(ctx, app.NewSetup(configured, std.Err), app.ReadIndex)
	if err != nil {
		return []finding{{What: "index", Problem: err, Remedy: "`cairn ingest FOLDER` makes one; see docs/postgres.md where it is in PostgreSQL"}}
	}
	found := append([]finding{checkIndex(ctx, library.Index)}, checkIngests(ctx, library.Index)...)
	threads := finding{What: "threads and runs", Told: "in " + configured.DataDir}
	if !configured.Redis.URL.IsZero() {
		threads.Told = "in Redis"
	}
	opened := []io.Closer{library}
	storage, err := app.OpenStorage(ctx, library.Setup)
	if err != nil {
		threads.Problem, threads.Remedy = err, "see redis.url and data_dir in docs/configuration.md"
	} else {
		opened = append(opened, storage)
	}
	found = append(found, threads)
	for _, one := range slices.Backward(opened) {
		if err := one.Close(); err != nil {
			found = append(found, finding{What: "closing", Problem: err, Remedy: "look into the disk that data_dir is on"})
		}
	}
	return found
}

func checkIndex(ctx context.Context, opened index.Index) finding {
	stats, err := opened.Stats(ctx)
	switch {
	case err != nil:
		return finding{What: "index", Problem: err, Remedy: "see docs/configuration.md"}
	case stats.Passages == 0:
		return finding{What: "index", Problem: errors.New("it holds nothing"), Remedy: "`cairn ingest FOLDER` reads documents into it"}
	}
	told := fmt.Sprintf("%s, %s", count(stats.Documents, "document"), count(stats.Passages, "passage"))
	if left := stats.Passages - stats.Embedded; left > 0 {
		told += fmt.Sprintf(", %d not yet searched by meaning", left)
	}
	return finding{What: "index", Told: told}
}

// checkIngests tells of sources that were not read to their end, or not whole.
func checkIngests(ctx context.Context, opened index.Index) []finding {
	keeps, ok := opened.(index.IngestStates)
	if !ok {
		return nil
	}
	states, err := keeps.IngestStates(ctx)
	if err != nil {
		return []finding{{What: "sources", Problem: err, Remedy: "see docs/indexing.md"}}
	}
	var found []finding
	for _, state := range states {
		one := finding{What: "last ingest of " + string(state.Source), Told: fmt.Sprintf("%s, all read", count(state.Seen, "document")), Minor: true}
		switch {
		case state.Reason != "":
			one.Problem, one.Remedy = fmt.Errorf("it ended early: %s", oneLine(state.Reason)), "run `cairn ingest` again"
		case state.Held > 0:
			one.Problem, one.Remedy = fmt.Errorf("%s gone at the source, more than a fifth of it, and kept", count(state.Held, "document")),
				"look whether that is right, then run `cairn sources sync --prune "+string(state.Source)+"`"
		case state.Failed > 0:
			one.Problem, one.Remedy = fmt.Errorf("%s could not be read", count(state.Failed, "document")), "`cairn ingest` says which, and why"
		}
		found = append(found, one)
	}
	return found
}
