package fleet

import (
	"context"
	"time"
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

func routeKey(r Request) string { return "route " + r.Route + " " + r.Major }

// bucketOf returns the bucket of a route, nil where it has none.
func (r *rates) bucketOf(request Request) *bucket {
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

// Ask implements Rates.
func (s *Memory) Ask(ctx context.Context, request Request, limits Limits) (Wait, error) {
	if err := ctx.Err(); err != nil {
		return Wait{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, now := &s.rates, time.Now()
	if r.counted.After(now) && r.invalid >= limits.Invalid {
		return Wait{For: r.counted.Sub(now), Why: WhyInvalid}, nil
	}
	if !request.Exempt && r.blocked.After(now) {
		return Wait{For: r.blocked.Sub(now), Why: WhyGlobal}, nil
	}
	own := r.bucketOf(request)
	if own != nil {
		if wait := own.waitInLine(now, request.Turn); wait.For > 0 {
			return wait, nil
		}
	}
	if !request.Exempt {
		if wait := r.paceGlobal(now, limits.PerSecond, request.Behind); wait > 0 {
			return Wait{For: wait, Why: WhyGlobal}, nil
		}
	}
	if own != nil {
		delete(own.line, request.Turn.Key)
		own.remaining--
		own.flying[request.ID] = now.Add(Flight)
	}
	return Wait{}, nil
}

// waitInLine returns the time until a request may use a bucket, behind those ahead of it. It keeps
// its place in line meanwhile.
func (b *bucket) waitInLine(now time.Time, turn Turn) Wait {
	ahead := b.countAhead(now, turn)
	wait := b.windowWait(now)
	switch {
	case wait.For > 0:
		wait.For = Later(wait.For, ahead, b.limit, b.window)
	case ahead == 0, b.limit > 0 && ahead < b.remaining:
		return Wait{}
	case b.limit > 0 && b.reset.After(now):
		wait = Wait{For: Later(b.reset.Sub(now), ahead-b.remaining, b.limit, b.window), Why: WhyBucket}
	default:
		wait = Wait{For: Poll, Why: WhyBucket}
	}
	if turn.Key != "" {
		b.line[turn.Key] = waitingRequest{turn.Order, now.Add(wait.For + LineGrace)}
	}
	return wait
}

// countAhead counts those that stand in line before a turn.
func (b *bucket) countAhead(now time.Time, turn Turn) int {
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
func (b *bucket) windowWait(now time.Time) Wait {
	for id, until := range b.flying {
		if !until.After(now) {
			delete(b.flying, id)
		}
	}
	if b.blocked.After(now) {
		return Wait{For: b.blocked.Sub(now), Why: WhyBucket}
	}
	if b.limit == 0 {
		if len(b.flying) > 0 {
			return Wait{For: Poll, Why: WhyProbe}
		}
		return Wait{}
	}
	if !b.reset.IsZero() && !now.Before(b.reset) { // its end is not known yet
		b.remaining, b.reset = b.limit-len(b.flying), time.Time{}
	}
	switch {
	case b.remaining > 0:
		return Wait{}
	case !b.reset.IsZero():
		return Wait{For: b.reset.Sub(now), Why: WhyBucket}
	case len(b.flying) > 0:
		return Wait{For: Poll, Why: WhyBucket}
	}
	b.remaining = b.limit // all answers of this window were lost
	return Wait{}
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

// Tell implements Rates.
func (s *Memory) Tell(ctx context.Context, request Request, said Said) error {
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
			r.invalid, r.counted = 0, now.Add(InvalidWindow)
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
func (b *bucket) updateWindow(now time.Time, said Said) {
	const tolerance = int64(Tolerance / time.Millisecond)
	open := !b.reset.IsZero()
	switch {
	case said.Reset > b.epoch+tolerance:
		// The first answer of a window. Where it had begun here, what was taken since counts.
		left := said.Remaining - len(b.flying)
		if b.limit > 0 && !open {
			left = min(b.remaining, said.Remaining)
		}
		b.limit, b.remaining, b.epoch, b.reset = said.Limit, left, said.Reset, now.Add(said.ResetAfter+Slack)
		b.window = said.ResetAfter
	case open && said.Reset >= b.epoch-tolerance:
		b.limit, b.remaining = said.Limit, min(b.remaining, said.Remaining)
	}
}
