package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// retryFirst and retryMost are between tries to hand an event over.
	retryFirst = 100 * time.Millisecond
	retryMost  = 10 * time.Second
	// drainLimit is how long events that are being dealt with may go on when a shard is let go of.
	drainLimit = 5 * time.Second
)

// Handler deals with an event. After an error it is given the event again, until ctx ends.
type Handler func(ctx context.Context, event Dispatch) error

// queue hands events over: those with one order after another, others at once, so many
// in all.
type queue struct {
	handle  Handler
	logger  *slog.Logger
	slots   chan struct{} // one for each event in the queue
	stopped chan struct{}
	workers sync.WaitGroup

	mu     sync.Mutex
	chains map[string][]job // what waits behind the event that is being dealt with
}

// job is an event with a function to call once it is handled.
type job struct {
	event    Dispatch
	order    string
	id       string // for the log
	finished func()
}

func newQueue(handle Handler, size int, logger *slog.Logger) *queue {
	return &queue{
		handle: handle, logger: logger, slots: make(chan struct{}, size),
		stopped: make(chan struct{}), chains: make(map[string][]job),
	}
}

// pushEvent waits for a place. It gives up when ctx ends, and is false then. The event is
// handed over with work.
func (q *queue) pushEvent(ctx, work context.Context, next job) bool {
	select {
	case q.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if waiting, ok := q.chains[next.order]; ok {
		q.chains[next.order] = append(waiting, next)
		return true
	}
	q.chains[next.order] = nil
	q.workers.Go(func() { q.processEvents(work, next) })
	return true
}

// isFull reports whether push would wait.
func (q *queue) isFull() bool { return len(q.slots) == cap(q.slots) }

// processEvents deals with the events of one order until none is left.
func (q *queue) processEvents(ctx context.Context, next job) {
	for more := true; more; next, more = q.nextEvent(next.order) {
		if q.handleEvent(ctx, next) {
			next.finished()
		}
		<-q.slots
	}
}

func (q *queue) nextEvent(order string) (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.chains[order]
	if len(waiting) == 0 {
		delete(q.chains, order)
		return job{}, false
	}
	q.chains[order] = waiting[1:]
	return waiting[0], true
}

// handleEvent handles an event. It returns false if the event is left to the next owner of the shard.
func (q *queue) handleEvent(ctx context.Context, next job) bool {
	pause := newPause(retryFirst, retryMost)
	for {
		select {
		case <-q.stopped:
			return false
		default:
		}
		err := q.tryEvent(ctx, next)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		q.logger.ErrorContext(ctx, "handle discord event; retrying",
			"type", next.event.Type, "id", next.id, "error", err)
		timer := time.NewTimer(pause.NextBackOff())
		select {
		case <-timer.C:
		case <-q.stopped:
			timer.Stop()
			return false
		}
	}
}

// tryEvent hands an event over. One that makes the handler panic would do so for ever: it is
// told of, and counts as dealt with.
func (q *queue) tryEvent(ctx context.Context, next job) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			q.logger.ErrorContext(ctx, "discord event skipped: its handler panicked",
				"type", next.event.Type, "id", next.id, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
			err = nil
		}
	}()
	return q.handle(ctx, next.event)
}

// stopQueue leaves what waits to whoever is next, gives what is being dealt with some time,
// then ends its context, and waits for it. Nobody pushes any more.
func (q *queue) stopQueue(end context.CancelFunc) {
	close(q.stopped)
	timer := time.AfterFunc(drainLimit, end)
	defer timer.Stop()
	q.workers.Wait()
	end()
}
