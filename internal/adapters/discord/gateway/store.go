package gateway

import (
	"context"
	"errors"
	"time"
)

// Shards keeps who runs which shard, with the sessions that the next one resumes. All
// replicas of a bot share one. Time is the store's own.
type Shards interface {
	// Share says that a replica lives, renews its leases and gives it more while it has
	// fewer than its part of the shards and some are free: those that nobody holds, and
	// those of replicas that said nothing for their TTL.
	Share(ctx context.Context, member Member) (Share, error)
	// Save keeps the session of a lease. ErrLost where the lease is another's by now.
	Save(ctx context.Context, lease Lease, session Session) error
	// Release is Save, and lets go of the lease: another replica can have it at once.
	Release(ctx context.Context, lease Lease, session Session) error
	// Leave says that a replica has gone, so that the others' parts grow. It holds no lease
	// any more. A replica that was never there is none the less gone.
	Leave(ctx context.Context, replica string) error
}

// ErrLost is of a lease that is not the replica's any more.
var ErrLost = errors.New("the shard was taken over by another replica")

// Member is a replica that takes part.
type Member struct {
	Replica string // of this process alone
	// Shards is how many the bot has in the replica's view. While any lease lives, the
	// number that was there first holds.
	Shards int
	TTL    time.Duration // how long its leases live without it
}

// Share is what a replica has of the shards.
type Share struct {
	Shards int // how many there are
	Quota  int // how many of them are its part; what it holds beyond that it lets go of
	Leases []Lease
}

// Lease is one shard in one replica's hands.
type Lease struct {
	Replica       string
	Shard, Shards int
	Token         int64   // grows with each holder
	Session       Session // as it was saved last
}

// Session is what a shard is resumed with; the zero value is none.
type Session struct {
	ID  string `json:"id"`
	URL string `json:"url"` // resume_gateway_url
	Seq int64  `json:"seq"` // all events up to it are dealt with
}

// Starts keeps the identifies of all replicas within what Discord allows.
type Starts interface {
	// Start takes a place for the identify of a shard, to be sent at once. Where there is
	// none it gives how long to wait before asking again, else 0.
	Start(ctx context.Context, shard int, limit StartLimit) (wait time.Duration, err error)
}

// StartLimit is Discord's session_start_limit of this moment. Shards whose number leaves
// the same rest by MaxConcurrency have one identify per Window.
type StartLimit struct {
	MaxConcurrency int
	Remaining      int
	ResetAfter     time.Duration
	Window         time.Duration
}

// Bot is what Discord's "get gateway bot" tells.
type Bot struct {
	URL    string // wss://…
	Shards int    // advised
	Starts StartLimit
}
