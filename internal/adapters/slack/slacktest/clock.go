package slacktest

import (
	"sort"
	"sync"
	"time"
)

// Clock is the time that a Server lives in. AfterFunc calls f once d has passed; stop
// keeps it from being called and reports whether it still could.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// System is the machine's clock.
type System struct{}

// Now is time.Now.
func (System) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (System) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// Manual is a clock that moves when it is told to.
type Manual struct {
	mu     sync.Mutex
	now    time.Time
	timers []*manualTimer
}

type manualTimer struct {
	at time.Time
	f  func()
}

// NewManual returns a clock that stands at start.
func NewManual(start time.Time) *Manual { return &Manual{now: start} }

// Now returns the time that the clock was moved to.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// AfterFunc has f called by the Advance that passes d.
func (m *Manual) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	timer := &manualTimer{at: m.now.Add(d), f: f}
	m.timers = append(m.timers, timer)
	return func() bool { return m.removeTimer(timer) }
}

// removeTimer removes a timer; false where it was gone.
func (m *Manual) removeTimer(timer *manualTimer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, kept := range m.timers {
		if kept == timer {
			m.timers = append(m.timers[:i], m.timers[i+1:]...)
			return true
		}
	}
	return false
}

// Advance moves the clock by d and calls what falls due, in order, before it returns.
func (m *Manual) Advance(d time.Duration) {
	end := m.Now().Add(d)
	for {
		timer := m.nextTimer(end)
		if timer == nil {
			return
		}
		timer.f()
	}
}

// nextTimer moves the clock to the first timer due until end and removes it; nil, and the
// clock at end, where there is none.
func (m *Manual) nextTimer(end time.Time) *manualTimer {
	m.mu.Lock()
	defer m.mu.Unlock()
	sort.SliceStable(m.timers, func(i, j int) bool { return m.timers[i].at.Before(m.timers[j].at) })
	if len(m.timers) == 0 || m.timers[0].at.After(end) {
		if end.After(m.now) {
			m.now = end
		}
		return nil
	}
	timer := m.timers[0]
	m.timers = m.timers[1:]
	if timer.at.After(m.now) {
		m.now = timer.at
	}
	return timer
}
