package main

import (
	"context"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/slack"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/config"
	"cairn/internal/quota"
	embeddedquota "cairn/internal/quota/embedded"
	redisquota "cairn/internal/quota/redis"
)

// quota gives what limits the questions of people; nil where no limit is configured. What
// they asked and spent is counted where threads and runs are kept.
func (a *app) quota(ctx context.Context) (bot.Quota, error) {
	if a.config.Limits == (config.Limits{}) {
		return nil, nil //nolint:nilnil // as bot.Options has it: nothing limits them
	}
	counts, err := a.openCounts(ctx)
	if err != nil {
		return nil, err
	}
	return quota.New(quota.Options{
		Limits: quota.Limits(a.config.Limits), Counts: counts, Channel: channelOf,
		Cost: func(run string) float64 { return a.spending().Run(run).Cost },
	}), nil
}

func (a *app) openCounts(ctx context.Context) (quota.Counts, error) {
	if a.config.Redis.URL.IsZero() {
		db, err := a.openData(ctx)
		if err != nil {
			return nil, err
		}
		return embeddedquota.Open(db), nil
	}
	client, err := a.connectRedis(ctx)
	if err != nil {
		return nil, err
	}
	return redisquota.Open(client), nil
}

// channelOf tells where a message was written. The page is one channel as a whole, for a
// person there is anyone with a new browser. Who sits at the terminal runs the program, and
// has no limits.
func channelOf(message chat.Message) (channel string, limited bool) {
	switch message.Thread.Adapter() {
	case "terminal":
		return "", false
	case slack.Name:
		return slack.ChannelOf(message.Thread), true
	case discord.Name:
		return discord.ChannelOf(message), true
	}
	return "page", true
}
