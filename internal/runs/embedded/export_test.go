package embedded

import "time"

// SetClock gives the store another clock.
func (s *Store) SetClock(now func() time.Time) { s.now = now }
