package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/adapters/discord/tickets"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/adapters/slack/installs"
	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
	"github.com/cairn-bot/cairn/internal/adapters/web/uploads"
	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/pages"
	serverpages "github.com/cairn-bot/cairn/internal/pages/postgres"
	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
	embeddedruns "github.com/cairn-bot/cairn/internal/runs/embedded"
	redisruns "github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/store"
)

// keepThreads is how long a thread that nobody uses is remembered.
const keepThreads = 30 * 24 * time.Hour

// Threads are the stores of threads and runs.
type Threads struct {
	Sessions session.Store
	Runs     store.Store
	Records  store.Records
	// Purge removes what is left of deleted data from the files of the stores.
	Purge func(ctx context.Context) error
}

// Storage is all that is kept beside the index: in Redis where one is configured, for several
// processes, else in the data directory.
type Storage struct {
	Threads
	Settings settings.Store // of places, that people change in chats
	Groups   access.Store
	Agents   reports.Store
	Pinned   curated.Store  // answers that experts pinned to questions
	Uploads  uploads.Store  // files that people attached on the web page
	Pages    *pages.Library // that people write; nil in Redis
	InRedis  bool

	data     *sqlite.DB // nil in Redis
	counts   quota.Counts
	installs slack.Installs
	turns    pace.Turns // share Slack's limits
	shards   discordShards
	tickets  discord.Tickets
	closers
}

// discordShards is what the replicas of the bot in Discord share.
type discordShards interface {
	gateway.Shards
	gateway.Starts
	fleet.Rates
}

// OpenStorage opens the configured storage. The data directory has to be there.
func OpenStorage(ctx context.Context, setup Setup) (*Storage, error) {
	if !setup.Config.Redis.URL.IsZero() {
		return openRedis(ctx, setup)
	}
	if err := closeDataDir(ctx, setup.Config.DataDir, setup.Logger); err != nil {
		return nil, err
	}
	return openData(ctx, setup.Config.DataDir)
}

// HasStorage reports whether there is a storage already. A Redis always is.
func HasStorage(setup Setup) bool {
	if !setup.Config.Redis.URL.IsZero() {
		return true
	}
	_, err := os.Stat(setup.Config.DataDir)
	return err == nil
}

// Close releases the storage.
func (s *Storage) Close() error { return s.closeAll() }

// openData opens the storage in a data directory.
func openData(ctx context.Context, dir string) (*Storage, error) {
	db, err := sqlite.OpenData(ctx, dir)
	if err != nil {
		return nil, err
	}
	threads, err := openDataThreads(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Storage{
		data: db, Threads: threads, Pages: pages.NewLibrary(pages.OpenSQLite(db)), Settings: settings.OpenSQLite(db), Groups: access.OpenSQLite(db), Agents: reports.OpenSQLite(db), Pinned: curated.OpenSQLite(db), Uploads: uploads.OpenSQLite(db),
		counts: quota.OpenSQLite(db), installs: installs.OpenSQLite(db), turns: pace.NewLocal(nil),
		shards: fleet.NewMemory(), tickets: tickets.OpenSQLite(db), closers: closers{db.Close},
	}, nil
}

// pruneEvery is how often versions of pages that are not kept are removed.
const pruneEvery = 6 * time.Hour

// prunePages removes versions of pages that nobody needs any more, until ctx ends; written is nil where
// there are no pages. All workers do so: what one has removed the next does not find.
func prunePages(ctx context.Context, written *pages.Library, logger *slog.Logger) {
	if written == nil {
		return
	}
	every := time.NewTicker(pruneEvery)
	defer every.Stop()
	for {
		if _, err := written.Prune(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "remove old versions of pages", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// pruneUploads removes files that people attached on the web page and that nobody read for long.
func pruneUploads(ctx context.Context, kept uploads.Store, logger *slog.Logger) {
	if err := kept.Prune(ctx); err != nil && ctx.Err() == nil {
		logger.WarnContext(ctx, "remove old files", "error", err)
	}
}

// openServerPages opens the pages in the database of the index; nil where that is no server.
func openServerPages(ctx context.Context, setup Setup, opened *closers) (*pages.Library, error) {
	if setup.Config.Postgres.URL.IsZero() {
		return nil, nil
	}
	backend, err := serverpages.Open(ctx, setup.Config.Postgres.URL.Reveal())
	if err != nil {
		return nil, err
	}
	opened.add(backend.Close)
	return pages.NewLibrary(backend), nil
}

func openDataThreads(ctx context.Context, db *sqlite.DB) (Threads, error) {
	opened, err := embeddedruns.Open(ctx, db, runs.Options{Keep: keepThreads})
	if err != nil {
		return Threads{}, err
	}
	return newThreads(opened, db.PurgeDeleted), nil
}

func newThreads(opened store.Store, purge func(ctx context.Context) error) Threads {
	return Threads{Sessions: opened.Sessions(), Runs: opened, Records: opened.Records(), Purge: purge}
}

func openRedis(ctx context.Context, setup Setup) (*Storage, error) {
	client, err := conn.Open(ctx, setup.Config.Redis.URL.Reveal())
	if err != nil {
		return nil, err
	}
	for _, warning := range client.Warnings {
		setup.Logger.WarnContext(ctx, "Redis may lose accepted messages", "why", warning)
	}
	opened, err := redisruns.Open(ctx, client, redisruns.Options{Options: runs.Options{Keep: keepThreads}, Logger: setup.Logger})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	stored := closers{client.Close, opened.Close}
	written, err := openServerPages(ctx, setup, &stored)
	if err != nil {
		return nil, errors.Join(err, stored.closeAll())
	}
	app := fmt.Sprintf("%x", sha256.Sum256([]byte(setup.Config.Discord.Token.Reveal())))[:16]
	return &Storage{
		Threads:  newThreads(opened, client.RewriteFiles),
		Settings: settings.OpenRedis(client), Groups: access.OpenRedis(client), Agents: reports.OpenRedis(client), Pinned: curated.OpenRedis(client), Uploads: uploads.OpenRedis(client), Pages: written, InRedis: true,
		counts: quota.OpenRedis(client), installs: installs.OpenRedis(client), turns: pace.OpenRedis(client),
		shards: fleet.OpenRedis(client, app), tickets: tickets.OpenRedis(client), closers: stored,
	}, nil
}
