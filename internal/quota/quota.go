// Package quota limits what a person, and what a channel, may ask in an hour and cost in a
// day. What was asked and spent is counted by a store that all processes share (Counts).
//
// A question is counted before it becomes a run, and one that no meter has room for is
// refused with the time at which to ask again. What a run costs is known only once it has
// worked, so the last run of a day may go over a limit of cost, by what that run costs.
package quota

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Limits are what one person, and one channel, may have; 0 is without limit. Costs are in
// the currency of the models' prices.
type Limits struct {
	UserQuestions, ChannelQuestions int     // in any hour
	UserCost, ChannelCost           float64 // in a day of UTC
}

// Of is whose limit it is.
type Of string

// Each person and each channel has limits.
const (
	User    Of = "user"
	Channel Of = "channel"
)

// By is what a limit is about.
type By string

// Questions are limited in any hour, Cost in a day of UTC.
const (
	Questions By = "questions"
	Cost      By = "cost"
)

// Meter is what is counted of one person or channel.
type Meter struct {
	Name      string // no other has it
	Questions int    // how many fit into an hour; 0: any number, and they are not counted
	Cost      int64  // what fits into a day, in millionths; 0: anything
}

// Full tells which meter has no room.
type Full struct {
	Meter int // its number in what Take was given
	By    By
	Wait  time.Duration // until it has room again, by itself
}

// Counts keeps what was asked and spent. Its clock is the store's own. Its methods may be
// called concurrently, by several processes.
type Counts interface {
	// Take counts a question against all meters, or against none where one of them is full:
	// then it gives the one with the longest wait. A question is known by its id: one that
	// was counted within the hour is taken again and not counted again.
	Take(ctx context.Context, id string, meters []Meter) (*Full, error)
	// Spend adds millionths to what was spent today on all meters of those names.
	Spend(ctx context.Context, names []string, millionths int64) error
}

// Options are what a limiter is made of.
type Options struct {
	Limits Limits
	Counts Counts
	// Channel tells where a message was written, and whether limits are for it at all.
	Channel func(message chat.Message) (channel string, limited bool)
	// Cost is what a run has cost so far, in this process; nil: nothing costs.
	Cost func(run string) float64
}

// Limiter counts the questions and runs of a bot.
type Limiter struct{ options Options }

// New returns a limiter. All of its options but Cost are required.
func New(options Options) *Limiter {
	if options.Cost == nil {
		options.Cost = func(string) float64 { return 0 }
	}
	return &Limiter{options}
}

// Refusal tells why a question is refused.
type Refusal struct {
	Of    Of
	By    By
	Limit int // of questions; 0 where By is Cost
	Wait  time.Duration
}

// Admit counts a question, by an id that it has whenever it comes again. A refusal is nil
// where it is admitted.
func (l *Limiter) Admit(ctx context.Context, id string, message chat.Message) (*Refusal, error) {
	of, meters := l.metersOf(message)
	if len(meters) == 0 {
		return nil, nil //nolint:nilnil // as is documented: there is no refusal
	}
	full, err := l.options.Counts.Take(ctx, id, meters)
	if full == nil || err != nil {
		return nil, err
	}
	refusal := &Refusal{Of: of[full.Meter], By: full.By, Wait: full.Wait}
	if full.By == Questions {
		refusal.Limit = meters[full.Meter].Questions
	}
	return refusal, nil
}

// Watch begins to count what a run costs that a message started. charge, to be called
// once the run works no more, adds that to what its author and channel spent today.
func (l *Limiter) Watch(run chat.RunID, message chat.Message) (charge func(ctx context.Context) error) {
	before := l.options.Cost(string(run))
	return func(ctx context.Context) error {
		spent := int64(math.Round((l.options.Cost(string(run)) - before) * millionths))
		var names []string
		_, meters := l.metersOf(message)
		for _, meter := range meters {
			if meter.Cost > 0 {
				names = append(names, meter.Name)
			}
		}
		if spent <= 0 || len(names) == 0 {
			return nil
		}
		if err := l.options.Counts.Spend(ctx, names, spent); err != nil {
			return fmt.Errorf("count what run %s cost: %w", run, err)
		}
		return nil
	}
}

const millionths = 1e6

// metersOf returns those that a message counts against, with whose each is.
func (l *Limiter) metersOf(message chat.Message) (of []Of, meters []Meter) {
	channel, limited := l.options.Channel(message)
	if !limited {
		return nil, nil
	}
	limits := l.options.Limits
	add := func(whose Of, name string, questions int, cost float64) {
		if name != "" && (questions > 0 || cost > 0) {
			of = append(of, whose)
			meters = append(meters, Meter{
				Name: string(whose) + ":" + message.Thread.Adapter() + ":" + name, Questions: questions, Cost: int64(math.Ceil(cost * millionths)),
			})
		}
	}
	add(User, string(message.Author), limits.UserQuestions, limits.UserCost)
	add(Channel, channel, limits.ChannelQuestions, limits.ChannelCost)
	return of, meters
}
