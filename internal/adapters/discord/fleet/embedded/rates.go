package embedded

import (
	"context"
	"time"

	"cairn/internal/adapters/discord/fleet"
)

// maxBuckets bounds what is remembered of routes and buckets.
const maxBuckets = 10_000

// rates is the known state of Discord's limits.
type rates struct {
	buckets map[string]*bucket // by its name and major ids, or by a route and its major ids
	routes  map[string]string  // the bucket of a route; "" for none

	due     time.Time // when the next request of all is due if they come evenly
	blocked time.Time
	invalid int
	counted time.Time // when their count ends
}

type bucket struct {
	limit, remaining int // limit is 0 while it is not known
	reset            time.Time
	epoch            int64
	blocked          time.Time
	flying           map[string]time.Time      // requests under way, by when they count as lost
	window           time.Duration             // how long one is
	line             map[string]waitingRequest // by the key of their turn
}

// waitingRequest is a request that stands in line.
type waitingRequest struct {
	order int64
	until time.Time // when its place in line is given up
}

func newRates() rates {
	return rates{buckets: make(map[string]*bucket), routes: make(map[string]string)}
}

func routeKey(r fleet.Request) string { return "route " + r.Route + " " + r.Major }

// bucketOf returns the bucket of a route, nil where it has none.
func (r *rates) bucketOf(request fleet.Request) *bucket {
	name, ok := r.routes[routeKey(request)]
	if ok && name == "" {
		return nil
	}
	if !ok {
		name = routeKey(request)
	}
	return r.findBucket(name)
}

func (r *rates) findBucket(name string) *bucket {
	found := r.buckets[name]
	if found == nil {
		if len(r.buckets) >= maxBuckets {
			clear(r.buckets)
			clear(r.routes)
		}
		found = &bucket{flying: make(map[string]time.Time), line: make(map[string]waitingRequest)}
		r.buckets[name] = found
	}
	return found
}

// Ask implements fleet.Rates.
func (s *Store) Ask(ctx context.Context, request fleet.Request, limits fleet.Limits) (fleet.Wait, error) {
	if err := ctx.Err(); err != nil {
		return fleet.Wait{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, now := &s.rates, time.Now()
	if r.counted.After(now) && r.invalid >= limits.Invalid {
		return fleet.Wait{For: r.counted.Sub(now), Why: fleet.WhyInvalid}, nil
	}
	if !request.Exempt && r.blocked.After(now) {
		return fleet.Wait{For: r.blocked.Sub(now), Why: fleet.WhyGlobal}, nil
	}
	own := r.bucketOf(request)
	if own != nil {
		if wait := own.waitInLine(now, request.Turn); wait.For > 0 {
			return wait, nil
		}
	}
	if !request.Exempt {
		if wait := r.paceGlobal(now, limits.PerSecond, request.Behind); wait > 0 {
			return fleet.Wait{For: wait, Why: fleet.WhyGlobal}, nil
		}
	}
	if own != nil {
		delete(own.line, request.Turn.Key)
		own.remaining--
		own.flying[request.ID] = now.Add(fleet.Flight)
	}
	return fleet.Wait{}, nil
}

// waitInLine returns the time until a request may use a bucket, behind those ahead of it. It keeps
// its place in line meanwhile.
func (b *bucket) waitInLine(now time.Time, turn fleet.Turn) fleet.Wait {
	ahead := b.countAhead(now, turn)
	wait := b.windowWait(now)
	switch {
	case wait.For > 0:
		wait.For = fleet.Later(wait.For, ahead, b.limit, b.window)
	case ahead == 0, b.limit > 0 && ahead < b.remaining:
		return fleet.Wait{}
	case b.limit > 0 && b.reset.After(now):
		wait = fleet.Wait{For: fleet.Later(b.reset.Sub(now), ahead-b.remaining, b.limit, b.window), Why: fleet.WhyBucket}
	default:
		wait = fleet.Wait{For: fleet.Poll, Why: fleet.WhyBucket}
	}
	if turn.Key != "" {
		b.line[turn.Key] = waitingRequest{turn.Order, now.Add(wait.For + fleet.LineGrace)}
	}
	return wait
}

// countAhead counts those that stand in line before a turn.
func (b *bucket) countAhead(now time.Time, turn fleet.Turn) int {
	count := 0
	for key, other := range b.line {
		switch {
		case !other.until.After(now):
			delete(b.line, key)
		case turn.Key == "", other.order < turn.Order, other.order == turn.Order && key < turn.Key:
			count++
		}
	}
	return count
}

// windowWait returns the time until a bucket has room. It starts a window when one is over.
func (b *bucket) windowWait(now time.Time) fleet.Wait {
	for id, until := range b.flying {
		if !until.After(now) {
			delete(b.flying, id)
		}
	}
	if b.blocked.After(now) {
		return fleet.Wait{For: b.blocked.Sub(now), Why: fleet.WhyBucket}
	}
	if b.limit == 0 {
		if len(b.flying) > 0 {
			return fleet.Wait{For: fleet.Poll, Why: fleet.WhyProbe}
		}
		return fleet.Wait{}
	}
	if !b.reset.IsZero() && !now.Before(b.reset) { // its end is not known yet
		b.remaining, b.reset = b.limit-len(b.flying), time.Time{}
	}
	switch {
	case b.remaining > 0:
		return fleet.Wait{}
	case !b.reset.IsZero():
		return fleet.Wait{For: b.reset.Sub(now), Why: fleet.WhyBucket}
	case len(b.flying) > 0:
		return fleet.Wait{For: fleet.Poll, Why: fleet.WhyBucket}
	}
	b.remaining = b.limit // all answers of this window were lost
	return fleet.Wait{}
}

// paceGlobal lets a tenth of the requests of a second come at once, and eight tenths evenly.
// What is left over is for those that are slower on their way than the ones after them. A request
// that is behind goes alone, once no place of the tenth is taken.
func (r *rates) paceGlobal(now time.Time, perSecond int, behind bool) time.Duration {
	burst := max(1, perSecond/10)
	each := time.Second / time.Duration(max(1, perSecond-2*burst))
	due := r.due
	if due.Before(now) {
		due = now
	}
	free := time.Duration(burst-1) * each
	if behind {
		free = 0
	}
	if early := due.Add(-free).Sub(now); early > 0 {
		return early
	}
	r.due = due.Add(each)
	return 0
}

// Tell implements fleet.Rates.
func (s *Store) Tell(ctx context.Context, request fleet.Request, said fleet.Said) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, now := &s.rates, time.Now()
	if before := r.bucketOf(request); before != nil {
		delete(before.flying, request.ID)
	}
	delete(r.findBucket(routeKey(request)).flying, request.ID)
	switch {
	case said.Bucket != "":
		r.routes[routeKey(request)] = said.Bucket + " " + request.Major
	case said.Status/100 == 2:
		r.routes[routeKey(request)] = ""
	}
	own := r.bucketOf(request)
	if said.Invalid() {
		if !r.counted.After(now) {
			r.invalid, r.counted = 0, now.Add(fleet.InvalidWindow)
		}
		r.invalid++
	}
	switch {
	case said.RetryAfter <= 0:
	case said.Global:
		r.blocked = now.Add(said.RetryAfter)
	case own != nil:
		own.blocked = now.Add(said.RetryAfter)
	}
	switch {
	case own != nil && said.Limit > 0:
		own.updateWindow(now, said)
	case own != nil && said.Uncounted():
		own.remaining = min(own.limit, own.remaining+1)
	}
	return nil
}

// updateWindow sets a bucket's window to the values of a response.
func (b *bucket) updateWindow(now time.Time, said fleet.Said) {
	const tolerance = int64(fleet.Tolerance / time.Millisecond)
	open := !b.reset.IsZero()
	switch {
	case said.Reset > b.epoch+tolerance:
		// The first answer of a window. Where it had begun here, what was taken since counts.
		left := said.Remaining - len(b.flying)
		if b.limit > 0 && !open {
			left = min(b.remaining, said.Remaining)
		}
		b.limit, b.remaining, b.epoch, b.reset = said.Limit, left, said.Reset, now.Add(said.ResetAfter+fleet.Slack)
		b.window = said.ResetAfter
	case open && said.Reset >= b.epoch-tolerance:
		b.limit, b.remaining = said.Limit, min(b.remaining, said.Remaining)
	}
}
