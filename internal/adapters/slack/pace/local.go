package pace

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// maxLanes bounds the lanes that are remembered. One that nobody uses is as good as new.
const maxLanes = 4096

// Local gives turns to one process. Make it with NewLocal.
type Local struct {
	now func() time.Time

	mu    sync.Mutex
	lanes map[Lane]*lane
}

var _ Turns = (*Local)(nil)

// lane is how a limit stands.
type lane struct {
	next time.Time     // when the next call is due if they come evenly
	line []waitingCall // those who wait, the first to go first
}

type waitingCall struct {
	caller string
	order  time.Time
	due    time.Time // when its turn comes
	back   time.Time // when it asks again at the latest
}

// NewLocal returns turns by a clock; nil is the machine's.
func NewLocal(now func() time.Time) *Local {
	if now == nil {
		now = time.Now
	}
	return &Local{now: now, lanes: map[Lane]*lane{}}
}

// findLane returns a lane and the time, with those who wait and come back.
func (l *Local) findLane(ask Ask) (*lane, time.Time) {
	now := l.now()
	found := l.lanes[ask.Lane]
	if found == nil {
		if len(l.lanes) >= maxLanes {
			for key, old := range l.lanes {
				if old.dropAbsent(now); now.After(old.next) && len(old.line) == 0 {
					delete(l.lanes, key)
				}
			}
		}
		found = &lane{}
		l.lanes[ask.Lane] = found
	}
	found.dropAbsent(now)
	return found, now
}

// dropAbsent gives up the places of those who did not ask again.
func (l *lane) dropAbsent(now time.Time) {
	l.line = slices.DeleteFunc(l.line, func(p waitingCall) bool { return now.After(p.back.Add(Absent)) })
}

func (l *lane) removeCaller(caller string) {
	l.line = slices.DeleteFunc(l.line, func(p waitingCall) bool { return p.caller == caller })
}

// countAhead counts who goes before a caller, and reports whether one of them is about to.
func (l *lane) countAhead(ask Ask, now time.Time) (count int, soon bool) {
	for _, p := range l.line {
		if ask.Caller != "" && comparePlaces(p, waitingCall{caller: ask.Caller, order: ask.Order}) >= 0 {
			continue
		}
		count++
		soon = soon || !p.due.After(now.Add(Soon))
	}
	return min(count, MaxAhead), soon
}

func comparePlaces(a, b waitingCall) int {
	return cmp.Or(a.order.Compare(b.order), cmp.Compare(a.caller, b.caller))
}

// Take implements Turns.
func (l *Local) Take(ctx context.Context, ask Ask) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found, now := l.findLane(ask)
	next := found.next
	if next.Before(now) {
		next = now
	}
	free := next.Add(-ask.Limit.Every * time.Duration(ask.Limit.Burst-1-ask.Spare))
	ahead, soon := found.countAhead(ask, now)
	if !soon && !free.After(now) {
		found.removeCaller(ask.Caller)
		found.next = next.Add(ask.Limit.Every)
		return 0, nil
	}
	wait := max(Poll, free.Add(ask.Limit.Every*time.Duration(ahead)).Sub(now))
	if ask.Caller != "" {
		found.removeCaller(ask.Caller)
		found.line = append(found.line, waitingCall{ask.Caller, ask.Order, now.Add(wait), now.Add(min(wait, LongestAway))})
		slices.SortFunc(found.line, comparePlaces)
	}
	return wait, nil
}

// Leave implements Turns.
func (l *Local) Leave(_ context.Context, ask Ask) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, _ := l.findLane(ask)
	found.removeCaller(ask.Caller)
	return nil
}

// Hold implements Turns.
func (l *Local) Hold(_ context.Context, ask Ask, wait time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, now := l.findLane(ask)
	until := now.Add(wait + ask.Limit.Every*time.Duration(ask.Limit.Burst-1)) // and then one by one
	if until.After(found.next) {
		found.next = until
	}
	return nil
}
