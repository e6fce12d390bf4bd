package embedded

import "time"

// SetClock sets what the store takes for now.
func (s *Store) SetClock(now func() time.Time) { s.now = now }
