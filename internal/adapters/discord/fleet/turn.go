package fleet

import (
	"context"
	"fmt"
	"time"
)

// Turn is the place of a request among those that wait for the same bucket, and how long its
// sender waits for it.
type Turn struct {
	// Key names what is sent, the same in each attempt and process; "" for what is sent only
	// where nobody waits in line, and leaves the limit on all to others.
	Key string
	// Order sorts the line, the least first: milliseconds of when what is answered was
	// written.
	Order int64
	// Patience is how long to wait for a place at most; the context's deadline bounds it. A
	// request that would wait longer is not sent: *TurnError.
	Patience time.Duration
}

type turnKey struct{}

// WithTurn gives the requests of a context a turn. Those without one wait as long as their
// context lets them, behind all that wait in line.
func WithTurn(ctx context.Context, turn Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, turn)
}

func turnOf(ctx context.Context) (turn Turn, ok bool) {
	turn, ok = ctx.Value(turnKey{}).(Turn)
	return turn, ok
}

// TurnError is the error for a request whose turn comes later than its sender waits. Nothing
// was sent.
type TurnError struct {
	After time.Duration // until its turn, about
	Why   string
}

func (e *TurnError) Error() string {
	return fmt.Sprintf("%s, and the turn of this request comes in %s", e.Why, e.After.Round(time.Millisecond))
}

// LineGrace is how long a place in line is kept for a request that does not come back when
// its turn is there. One that comes back later is sorted in by its order again.
const LineGrace = 3 * time.Second

// Later is for how long a request waits in all that has so many before it, where the first
// free places come after a wait, and then so many in each window.
func Later(wait time.Duration, ahead, limit int, window time.Duration) time.Duration {
	if limit <= 0 || ahead < limit {
		return wait
	}
	return wait + time.Duration(ahead/limit)*window
}
