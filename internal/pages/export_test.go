package pages

import "time"

// SetClock has a library tell the time otherwise.
func (l *Library) SetClock(now func() time.Time) { l.now = now }

// FindSuperfluous is for the tests of what is kept in the long run.
var FindSuperfluous = findSuperfluous

// Bounds of what is kept.
const (
	KeepAll = keepAll
	MaxKept = maxKept
)
