package agent

import "slices"

// mailbox is the jobs that wait for a slot, by priority and then by arrival.
type mailbox struct {
	limit int
	size  int
	lanes [Highest][]*job // by priority, Lowest first
}

// push adds a job. A full mailbox makes room for one that is more urgent than the
// least urgent there: of those the one that came last is displaced.
func (m *mailbox) push(j *job) (displaced *job, ok bool) {
	if m.size == m.limit {
		if displaced = m.leastUrgent(); displaced.message.Priority >= j.message.Priority {
			return nil, false
		}
		m.remove(displaced)
	}
	lane := &m.lanes[j.message.Priority-1]
	*lane = append(*lane, j)
	m.size++
	return displaced, true
}

// leastUrgent returns the least urgent job that came last; nil if none waits.
func (m *mailbox) leastUrgent() *job {
	for _, lane := range m.lanes {
		if len(lane) > 0 {
			return lane[len(lane)-1]
		}
	}
	return nil
}

// pop takes the most urgent job that came first, or nil.
func (m *mailbox) pop() *job {
	for i := len(m.lanes) - 1; i >= 0; i-- {
		if lane := m.lanes[i]; len(lane) > 0 {
			j := lane[0]
			m.lanes[i] = slices.Delete(lane, 0, 1)
			m.size--
			return j
		}
	}
	return nil
}

// remove takes a job out and reports whether it was there.
func (m *mailbox) remove(j *job) bool {
	lane := &m.lanes[j.message.Priority-1]
	i := slices.Index(*lane, j)
	if i < 0 {
		return false
	}
	*lane = slices.Delete(*lane, i, i+1)
	m.size--
	return true
}
