package quota

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// TeamLimits are what language models may use in a day of UTC for one team: a Slack workspace or a
// Discord server. 0 is without limit. A question is never refused by them: it is answered without
// models.
type TeamLimits struct {
	Tokens int
	Cost   float64 // in the currency of the models' prices
}

// TeamOptions are what a TeamLimiter is made of. All are required.
type TeamOptions struct {
	Limits TeamLimits
	Counts Counts
	// Team tells which team a message was written in, "" for none.
	Team func(message chat.Message) string
	// Used is what a run has used so far, in this process.
	Used func(run string) (tokens int, cost float64)
}

// TeamLimiter counts what teams use of language models.
type TeamLimiter struct{ options TeamOptions }

// NewTeamLimiter makes a limiter.
func NewTeamLimiter(options TeamOptions) *TeamLimiter { return &TeamLimiter{options} }

// metersOf returns the meters of a message's team, of tokens and of costs; one without a limit has
// the Cost 0.
func (l *TeamLimiter) metersOf(message chat.Message) (tokens, cost Meter, ok bool) {
	team := l.options.Team(message)
	if team == "" {
		return Meter{}, Meter{}, false
	}
	name := message.Thread.Adapter() + ":" + team
	limits := l.options.Limits
	return Meter{Name: "team-tokens:" + name, Cost: int64(limits.Tokens)}, Meter{Name: "team-cost:" + name, Cost: int64(math.Ceil(limits.Cost * millionths))}, true
}

// UsedUp tells for how long a message's team has no models any more, 0 where it has.
func (l *TeamLimiter) UsedUp(ctx context.Context, message chat.Message) (time.Duration, error) {
	tokens, cost, ok := l.metersOf(message)
	if !ok {
		return 0, nil
	}
	full, err := l.options.Counts.Take(ctx, "", []Meter{tokens, cost}) // meters without questions count none
	if full == nil || err != nil {
		return 0, err
	}
	return full.Wait, nil
}

// Watch begins to count what a run uses; charge, to be called once the run works no more, adds that
// to what the message's team used today.
func (l *TeamLimiter) Watch(run chat.RunID, message chat.Message) (charge func(ctx context.Context) error) {
	tokensBefore, costBefore := l.options.Used(string(run))
	return func(ctx context.Context) error {
		tokens, cost, ok := l.metersOf(message)
		if !ok {
			return nil
		}
		tokensNow, costNow := l.options.Used(string(run))
		for _, used := range []struct {
			meter  Meter
			amount int64
		}{{tokens, int64(tokensNow - tokensBefore)}, {cost, int64(math.Round((costNow - costBefore) * millionths))}} {
			if used.meter.Cost == 0 || used.amount <= 0 {
				continue
			}
			if err := l.options.Counts.Spend(ctx, []string{used.meter.Name}, used.amount); err != nil {
				return fmt.Errorf("count what run %s used: %w", run, err)
			}
		}
		return nil
	}
}
