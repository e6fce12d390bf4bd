package app

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/quota"
)

// newQuota makes what limits the questions of people; nil where no limit is configured. What
// they asked and spent is counted where threads and runs are kept.
func newQuota(limits config.Limits, counts quota.Counts, budget *gate.Budget) bot.Quota {
	bounded := quota.Limits{
		UserQuestions: limits.UserQuestions, ChannelQuestions: limits.ChannelQuestions, UserCost: limits.UserCost, ChannelCost: limits.ChannelCost,
	}
	if bounded == (quota.Limits{}) {
		return nil
	}
	return quota.New(quota.Options{
		Limits: bounded, Counts: counts, Channel: channelOf,
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

// teamBudget is what teams may use of language models.
type teamBudget struct {
	*quota.TeamLimiter
	budget *gate.Budget
}

// newTeamBudget makes what limits the models of teams; nil where no limit is configured.
func newTeamBudget(limits config.Limits, counts quota.Counts, budget *gate.Budget) bot.ModelBudget {
	if limits.TeamTokens == 0 && limits.TeamCost == 0 || budget == nil {
		return nil
	}
	return teamBudget{quota.NewTeamLimiter(quota.TeamOptions{
		Limits: quota.TeamLimits{Tokens: limits.TeamTokens, Cost: limits.TeamCost}, Counts: counts, Team: teamOf,
		Used: func(run string) (int, float64) {
			spent := budget.Run(run)
			return spent.Tokens, spent.Cost
		},
	}), budget}
}

// Close implements bot.ModelBudget.
func (b teamBudget) Close(run chat.RunID) {
	b.budget.Close(string(run), "the team's budget of today is used up")
}

// Open implements bot.ModelBudget.
func (b teamBudget) Open(run chat.RunID) { b.budget.Open(string(run)) }

// teamOf tells the Slack workspace or Discord server that a message was written in, "" for none.
func teamOf(message chat.Message) string {
	switch message.Thread.Adapter() {
	case slack.Name, discord.Name:
		channel, _ := channelOf(message)
		team, _, _ := strings.Cut(channel, ":")
		return team
	}
	return ""
}
