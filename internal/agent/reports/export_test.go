package reports

import "time"

// SetClock sets what the store takes for now.
func (s *SQLite) SetClock(now func() time.Time) { s.now = now }
