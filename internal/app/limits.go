package app

import (
	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/slack"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/config"
	"cairn/internal/llm/gate"
	"cairn/internal/quota"
)

// newQuota makes what limits the questions of people; nil where no limit is configured. What
// they asked and spent is counted where threads and runs are kept.
func newQuota(limits config.Limits, counts quota.Counts, budget *gate.Budget) bot.Quota {
	if limits == (config.Limits{}) {
		return nil
	}
	return quota.New(quota.Options{
		Limits: quota.Limits(limits), Counts: counts, Channel: channelOf,
		Cost: func(run string) float64 { return budget.Run(run).Cost },
	})
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
