package gateway

import "sync"

// window knows which events of one session came and which are dealt with.
type window struct {
	mu        sync.Mutex
	received  int64 // the largest number that came
	confirmed int64 // all up to it are dealt with
	pending   []int64
	done      map[int64]bool // of those pending
}

// newWindow returns the window of a session whose events up to seq are handled.
func newWindow(seq int64) *window {
	return &window{received: seq, confirmed: seq, done: make(map[int64]bool)}
}

// markReceived notes an event. It returns false for one that was received before: Discord replays
// it, and it is being handled.
func (w *window) markReceived(seq int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seq <= w.received {
		return false
	}
	w.received = seq
	w.pending = append(w.pending, seq)
	return true
}

// markFinished notes that a received event is handled.
func (w *window) markFinished(seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[seq] = true
	for len(w.pending) > 0 && w.done[w.pending[0]] {
		w.confirmed = w.pending[0]
		delete(w.done, w.confirmed)
		w.pending = w.pending[1:]
	}
}

// lastFinished returns the number up to which all events are dealt with.
func (w *window) lastFinished() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.confirmed
}
