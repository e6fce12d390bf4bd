package main

import (
	"context"
	"time"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/slack"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/graph/flows/answer"
	"cairn/internal/redis/conn"
	"cairn/internal/redis/script"
	"cairn/internal/runs"
	embeddedruns "cairn/internal/runs/embedded"
	redisruns "cairn/internal/runs/redis"
	"cairn/internal/session"
	embeddedsessions "cairn/internal/session/embedded"
	redissessions "cairn/internal/session/redis"
	"cairn/internal/sqlite"
)

// keepThreads is how long a thread that nobody uses is remembered.
const keepThreads = 30 * 24 * time.Hour

// adapters are those whose threads this program works at. Terminal and page post nothing:
// they read what was said.
func (a *app) adapters(ctx context.Context) (map[string]chat.Poster, error) {
	all := map[string]chat.Poster{"terminal": nil, "web": nil}
	talks, err := a.slack(ctx)
	if err != nil {
		return nil, err
	}
	if talks != nil {
		all[slack.Name] = a.telemetry.Platform(talks.adapter, slack.Name)
	}
	server, err := a.discord(ctx)
	if err != nil {
		return nil, err
	}
	if server != nil {
		all[discord.Name] = a.telemetry.Platform(server.adapter, discord.Name)
	}
	return all, nil
}

// stores are where threads and runs are kept.
type stores struct {
	sessions session.Store
	runs     bot.Runs
	records  bot.Records
	together func(ctx context.Context, write func(ctx context.Context) error) error // see bot.Options
	// purge removes what is left of deleted data from the files of the stores.
	purge func(ctx context.Context) error
}

// openStores opens the stores: in Redis where one is configured, else in the data
// directory. The app closes them.
func (a *app) openStores(ctx context.Context) (stores, error) {
	if !a.config.Redis.URL.IsZero() {
		return a.openRedis(ctx)
	}
	if err := closeDataDir(ctx, a.config.DataDir, a.logger); err != nil {
		return stores{}, err
	}
	db, err := a.openData(ctx)
	if err != nil {
		return stores{}, err
	}
	return openDataStores(ctx, db, keepThreads)
}

// openDataStores returns the stores in the database of a data directory. What was not used for
// longer than keep is forgotten; 0 keeps everything.
func openDataStores(ctx context.Context, db *sqlite.DB, keep time.Duration) (stores, error) {
	remembered, err := embeddedsessions.Open(ctx, db, keep)
	if err != nil {
		return stores{}, err
	}
	queue, err := embeddedruns.OpenStore(ctx, db, runs.Options{Keep: keep})
	if err != nil {
		return stores{}, err
	}
	records, err := embeddedruns.OpenRecords(ctx, db, keep)
	if err != nil {
		return stores{}, err
	}
	return stores{sessions: remembered, runs: queue, records: records, purge: db.PurgeDeleted}, nil
}

// openData opens the database of the data directory, once for all that is kept there.
func (a *app) openData(ctx context.Context) (*sqlite.DB, error) {
	if a.data != nil {
		return a.data, nil
	}
	db, err := sqlite.OpenData(ctx, a.config.DataDir)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, db.Close)
	a.data = db
	return db, nil
}

// connectRedis connects to the Redis that is configured, once for all that is kept there.
func (a *app) connectRedis(ctx context.Context) (*conn.Client, error) {
	if a.redis != nil {
		return a.redis, nil
	}
	client, err := conn.Open(ctx, a.config.Redis.URL.Reveal())
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, client.Close)
	a.redis = client
	return client, nil
}

func (a *app) openRedis(ctx context.Context) (stores, error) {
	client, err := a.connectRedis(ctx)
	if err != nil {
		return stores{}, err
	}
	for _, warning := range client.Warnings {
		a.logger.WarnContext(ctx, "Redis may lose accepted messages", "why", warning)
	}
	options := redisruns.Options{Options: runs.Options{Keep: keepThreads}, Logger: a.logger}
	queue, err := redisruns.Open(ctx, client, options)
	if err != nil {
		return stores{}, err
	}
	a.closers = append(a.closers, queue.Close)
	records, err := redisruns.OpenRecords(client, options)
	if err != nil {
		return stores{}, err
	}
	return stores{
		sessions: redissessions.Open(client, redissessions.Options{Keep: keepThreads}), runs: queue, records: records,
		together: script.Together(client), purge: client.RewriteFiles,
	}, nil
}

// bot opens the stores of threads and runs, and makes the bot over them. ending is closed
// when the process is to end; nil where a person who goes away gives up what works.
func (a *app) bot(ctx context.Context, ending <-chan struct{}) (*bot.Bot, error) {
	opened, err := a.openStores(ctx)
	if err != nil {
		return nil, err
	}
	a.opened = opened
	registered, err := a.flows(ctx)
	if err != nil {
		return nil, err
	}
	posters, err := a.adapters(ctx)
	if err != nil {
		return nil, err
	}
	router, err := a.router(registered)
	if err != nil {
		return nil, err
	}
	limits, err := a.quota(ctx)
	if err != nil {
		return nil, err
	}
	platforms, err := a.platforms(ctx)
	if err != nil {
		return nil, err
	}
	resolver, err := a.resolver(ctx, platforms)
	if err != nil {
		return nil, err
	}
	return bot.New(bot.Options{
		Access: resolver, Library: a.library(), Openers: openers(platforms), Withdraw: withdrawals[a.config.Access.Retract],
		Sessions: a.telemetry.Sessions(opened.sessions), Runs: a.telemetry.Runs(opened.runs), Records: a.telemetry.Records(opened.records),
		Together: a.telemetry.Together(opened.together), Flows: a.telemetry.Flows(registered, answer.Name), Router: router,
		Accompany: a.telemetry.Accompany, Logger: a.logger, Adapters: posters, Ending: ending, Quota: limits, Catalog: a, Examples: a.examples(), ReadFile: readAttached,
	})
}

// work has the bot work at what is queued until the app is closed: first it gives back
// what it has not finished.
func (a *app) work(ctx context.Context, worker *bot.Bot) {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		worker.Work(working)
	}()
	a.closers = append(a.closers, func() error {
		stop()
		<-ended
		return nil
	})
}
