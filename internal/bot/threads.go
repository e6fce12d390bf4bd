package bot

import (
	"context"
	"sync"

	"cairn/internal/chat"
)

// threads lets one message of a thread be handled at a time, in order of arrival. A
// thread takes room only while something is handled in it. The zero value is ready.
type threads struct {
	mu   sync.Mutex
	last map[chat.ThreadID]chan struct{} // closed when the last one in line is done
}

// hold waits for its turn in a thread. release must be called once it is over.
func (t *threads) hold(ctx context.Context, thread chat.ThreadID) (release func(), err error) {
	done := make(chan struct{})
	t.mu.Lock()
	if t.last == nil {
		t.last = make(map[chat.ThreadID]chan struct{})
	}
	before := t.last[thread]
	t.last[thread] = done
	t.mu.Unlock()

	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		close(done)
		if t.last[thread] == done {
			delete(t.last, thread)
		}
	}
	if before == nil {
		return leave, nil
	}
	select {
	case <-before:
		return leave, nil
	case <-ctx.Done():
		// Whoever waits behind must still wait for the one before.
		go func() {
			<-before
			leave()
		}()
		return nil, ctx.Err()
	}
}
