// Package fleet keeps the requests of all replicas of a bot within Discord's limits on its
// REST API. Redis is what replicas share, and Memory what one process that is alone has; both also
// keep the shards and the identifies of package gateway.
//
// The limiter of discordgo counts for one process, waits where no context ends it, and has neither
// shared buckets, nor an order of those who wait, nor the limit on invalid requests: an adapter that
// gives up its worker while it waits needs all of them.
package fleet

import (
	"context"
	"time"
)

// Rates keeps what all replicas asked of Discord and what it said of its limits. Time is
// the store's own.
//
// A route whose bucket is not known yet has one request at a time. A bucket has as many in
// its window as Discord says; those that are on their way when a window ends count in the
// next one too. What waits for a bucket stands in a line, so that places are taken in order
// whoever asks first; to stand there takes no place.
type Rates interface {
	// Ask takes a place for a request. Where there is none, it says how long to wait
	// before asking again, and why; a request with a turn stands in line until then, and
	// for LineGrace longer.
	Ask(ctx context.Context, request Request, limits Limits) (Wait, error)
	// Tell ends a request that has a place. One that is never told of gives its place back
	// after a minute.
	Tell(ctx context.Context, request Request, said Said) error
}

// Request is a request to Discord.
type Request struct {
	ID    string // of this one alone
	Route string // method and path without the ids that buckets do not depend on
	Major string // the ids that they do depend on
	// Exempt is of requests that do not count toward the limit on all: those of interactions.
	Exempt bool
	Turn   Turn // Patience is the sender's own
	// Behind has the request leave the limit on all to requests that are not Behind, as look-ups
	// after an outage leave it to answers.
	Behind bool
}

// Limits are those that Discord does not tell of.
type Limits struct {
	PerSecond int // requests in all
	Invalid   int // answers of 401, 403 and 429 in ten minutes, counted from the first
}

// Wait is for how long there is no place; 0 where the place is taken.
type Wait struct {
	For time.Duration
	Why string // in words, for errors
}

// Said is what Discord answered. The zero value is of a request that got no answer.
type Said struct {
	Status int
	Bucket string // "" where the route has none
	Limit  int
	// Remaining, Reset and ResetAfter are of the bucket's window; Reset is in milliseconds
	// of Discord's clock, and tells windows apart.
	Remaining  int
	Reset      int64
	ResetAfter time.Duration
	// RetryAfter is of a 429; Global of one of the limit on all, Shared of one that others
	// caused, which counts against nobody.
	RetryAfter time.Duration
	Global     bool
	Shared     bool
}

// Invalid reports whether the answer counts toward the ten thousand invalid ones for which
// Discord bans an address.
func (s Said) Invalid() bool {
	return s.Status == 401 || s.Status == 403 || s.Status == 429 && !s.Shared
}

// Uncounted reports whether the answer came from before Discord's limits, as those of an outage
// do: the place is free again. Windows of five minutes would be used up by failures else.
func (s Said) Uncounted() bool { return s.Status >= 500 && s.Limit == 0 }

// Numbers that the stores have in common.
const (
	// Flight is how long a request may be under way.
	Flight = time.Minute
	// Poll is how long to wait for what depends on another request's answer.
	Poll = 20 * time.Millisecond
	// InvalidWindow is how long invalid answers are counted together.
	InvalidWindow = 10 * time.Minute
	// Tolerance is how far apart the Resets may be that Discord tells of one window.
	Tolerance = 50 * time.Millisecond
	// Slack is added to what Discord says of the end of a window: it rounds to milliseconds.
	Slack = 3 * time.Millisecond
	// routeMemory is how long it is remembered what a route has, and forInteraction where its
	// token is valid for 15 minutes only.
	routeMemory    = 24 * time.Hour
	forInteraction = 15 * time.Minute
)

// Known returns how long it is remembered which bucket the route has.
func (r Request) Known() time.Duration {
	if r.Exempt {
		return forInteraction
	}
	return routeMemory
}

// Reasons of Wait.
const (
	WhyInvalid = "too many requests were refused in the last ten minutes, and with more Discord bans this address"
	WhyGlobal  = "the limit on all requests to Discord is reached"
	WhyBucket  = "the limit of this Discord route is reached"
	WhyProbe   = "the limit of this Discord route is being found out"
)
