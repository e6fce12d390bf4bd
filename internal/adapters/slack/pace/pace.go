// Package pace shares Slack's limits on calls among all processes of an app: who wants to
// call Slack takes a turn first, or learns when its turn comes. Local is for an app that is
// one process, Redis for several.
package pace

import (
	"context"
	"time"
)

// Lane is what a limit counts: the calls of a method in a workspace, or in one of its
// channels.
type Lane struct {
	Team    string
	Method  string // "chat.postMessage"
	Channel string // "" where the limit is the workspace's
}

// Limit is how many calls a lane takes: one in each Every, and Burst at once, which is 1 or
// more.
type Limit struct {
	Every time.Duration
	Burst int
}

// Ask is a call that wants a turn.
type Ask struct {
	Lane  Lane
	Limit Limit
	// Caller keeps its place in the line while it is away, and has one place alone, however
	// often it asks. "" has none: it takes a turn that nobody waits for.
	Caller string
	// Order is the place in the line, by time: the earlier goes first.
	Order time.Time
	// Spare is how many turns must be left for others.
	Spare int
}

// Turns gives turns. Time is the store's own. Its methods may be called concurrently, from
// any number of processes.
type Turns interface {
	// Take takes a turn; 0 says that it is taken. Else nothing was taken, and Take says when
	// the turn of a caller that keeps its place comes, more or less. It is to ask again by
	// then, and within LongestAway.
	Take(ctx context.Context, ask Ask) (wait time.Duration, err error)
	// Leave gives up the caller's place in the line. To leave without having one is no error.
	Leave(ctx context.Context, ask Ask) error
	// Hold keeps everybody from calling for so long, as Slack wished.
	Hold(ctx context.Context, ask Ask, wait time.Duration) error
}

// Numbers that the stores have in common.
const (
	// Absent is how much later than it should a caller may ask again: then its place is given
	// up. One that comes still has the place of its Order.
	Absent = 3 * time.Second
	// Soon is how close to its turn a caller holds up those behind it.
	Soon = 2 * time.Second
	// LongestAway is how long a caller stays away at most before it asks again, also where its
	// turn comes later.
	LongestAway = 25 * time.Second
	// Poll is how soon to ask again where the next in the line is on its way.
	Poll = 50 * time.Millisecond
	// MaxAhead bounds how many callers ahead are counted.
	MaxAhead = 500
)
