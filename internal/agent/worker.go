package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// worker runs one agent: it admits requests, gives them slots, and sees that each is
// answered once.
type worker struct {
	bus      *Bus
	agent    Agent
	handlers map[Type]Handler

	mu       sync.Mutex
	mailbox  mailbox
	jobs     map[jobKey]*job // that wait or run
	running  int             // slots taken, the lost ones too
	lost     int
	lastBeat time.Time
	problem  error // of the last Check
	checking bool  // a Check runs
	logged   State // the last one that was logged
	closed   bool
	counts   Counts
}

// job is a request that was admitted.
type job struct {
	message Message
	start   func() context.CancelFunc // begins its task, with a context that can be ended
	reply   func(Payload)             // sends the requester what became of it

	// Guarded by the worker's mu.
	stop    context.CancelFunc // ends the context of its task
	ended   error              // why that was called; nil if it was not
	settled bool               // its outcome is decided and counted
	done    bool               // its handler has returned
	lost    bool               // it holds a slot that counts as lost
	grace   *time.Timer        // runs from the end of its context
}

// jobKey is what a request and its cancellation have in common.
type jobKey struct {
	sender      Name
	correlation string
	retry       int
}

func keyOf(m Message) jobKey { return jobKey{m.Sender, m.CorrelationID, m.RetryCount} }

func newWorker(b *Bus, agent Agent) *worker {
	w := &worker{
		bus:      b,
		agent:    agent,
		handlers: map[Type]Handler{},
		mailbox:  mailbox{limit: agent.Mailbox},
		jobs:     map[jobKey]*job{},
		lastBeat: time.Now(),
	}
	for _, h := range agent.Handlers {
		w.handlers[h.request] = h
	}
	return w
}

func (w *worker) newError(kind Kind, cause error) *Error {
	return &Error{Agent: w.agent.Name, Kind: kind, Cause: cause}
}

// acceptRequest admits a request, or returns why it can't.
func (w *worker) acceptRequest(ctx context.Context, m Message) error {
	handler, ok := w.handlers[m.Type]
	if !ok {
		return w.newError(Unknown, fmt.Errorf("it takes no %s", m.Type))
	}
	j := w.newJob(ctx, m, handler)
	displaced, err := w.admitJob(j)
	if err != nil {
		return err
	}
	if displaced != nil {
		displaced.reply(w.newError(Full, errors.New("a more urgent request took its place in the mailbox")))
	}
	return nil
}

// newJob prepares the job of a request. It gets the values of the requester's
// context, but ends by a cancellation of its own.
func (w *worker) newJob(ctx context.Context, m Message, handler Handler) *job {
	j := &job{message: m}
	ctx = context.WithoutCancel(ctx)
	j.start = func() context.CancelFunc {
		ctx, stop := context.WithTimeout(ctx, w.agent.Timeout)
		w.bus.tasks.Go(func() { w.runJob(ctx, j, handler) })
		return stop
	}
	j.reply = func(p Payload) { w.bus.sendAfter(ctx, w.newReply(j, p)) }
	return j
}

// newReply addresses a payload to the requester.
func (w *worker) newReply(j *job, p Payload) Message {
	return Message{
		ID: w.bus.nextID(), Sender: w.agent.Name, Recipient: j.message.Sender, Type: p.MessageType(), Payload: p,
		Timestamp: time.Now(), CorrelationID: j.message.CorrelationID, Priority: j.message.Priority,
		RetryCount: j.message.RetryCount,
	}
}

// admitJob gives a job a slot, or a place in the mailbox.
func (w *worker) admitJob(j *job) (displaced *job, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if state, why := w.currentState(time.Now()); state == StateDown {
		w.counts.Refused++
		return nil, w.newError(Down, why)
	}
	key := keyOf(j.message)
	if w.jobs[key] != nil {
		w.counts.Doubled++
		return nil, nil
	}
	if w.running < w.agent.Concurrency {
		w.startJob(j)
	} else {
		var ok bool
		if displaced, ok = w.mailbox.push(j); !ok {
			w.counts.Refused++
			return nil, w.newError(Full, fmt.Errorf("the mailbox is full: %d requests as urgent are waiting", w.mailbox.size))
		}
		if displaced != nil {
			w.dropJob(displaced, &w.counts.Displaced)
		}
	}
	w.jobs[key] = j
	w.counts.Accepted++
	return displaced, nil
}

// startJob gives a job a slot. The caller holds w.mu.
func (w *worker) startJob(j *job) {
	w.running++
	j.stop = j.start()
}

// endJob ends the context of a job that has a slot. The caller holds w.mu.
func (w *worker) endJob(j *job, why error) {
	if j.ended == nil {
		j.ended = why
	}
	j.stop()
}

// dropJob answers a job that will not run. The caller holds w.mu and has taken it out of
// the mailbox.
func (w *worker) dropJob(j *job, count *int) {
	j.settled = true
	*count++
	delete(w.jobs, keyOf(j.message))
}

// runJob runs the handler of a job in its slot.
func (w *worker) runJob(ctx context.Context, j *job, handler Handler) {
	w.bus.tasks.Add(1)
	unwatch := context.AfterFunc(ctx, func() {
		defer w.bus.tasks.Done()
		w.handleOverdue(ctx, j)
	})
	var result Payload
	err := errExited // until the handler has returned
	working, over := w.bus.onRequest(ctx, w.agent.Name, j.message.Type)
	defer func() { over(err) }()
	defer func() {
		if value := recover(); value != nil {
			err = newPanicError(value)
			w.bus.log.ErrorContext(ctx, "agent panicked", "agent", w.agent.Name, "panic", err, "stack", string(debug.Stack()))
		}
		if unwatch() {
			w.bus.tasks.Done()
		}
		w.finishJob(ctx, j, result, err)
	}()
	task := &Task{Message: j.message, progress: func(p Payload) { w.sendProgress(ctx, j, p) }}
	result, err = handler.handle(working, task)
}

// settleResult decides on the reply to the requester, the first time it is called for a job. It
// returns nil when there is nothing to reply. The caller holds w.mu.
func (w *worker) settleResult(ctx context.Context, j *job, result Payload, err error) Payload {
	if j.settled {
		if err == nil {
			w.counts.Abandoned++
		}
		return nil
	}
	j.settled = true
	switch {
	case errors.Is(j.ended, errCancelled):
		w.counts.Cancelled++
		return nil
	case errors.Is(j.ended, ErrClosed):
		w.counts.Cancelled++
		return w.newError(Down, j.ended)
	case j.ended == nil && err == nil: // even if its time has just run out
		w.counts.Completed++
		return result
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		w.counts.TimedOut++
		return w.newError(Timeout, fmt.Errorf("no result within %s: %w", w.agent.Timeout, ctx.Err()))
	case j.ended != nil: // an update could not be sent
		w.counts.Failed++
		return w.newError(Failed, j.ended)
	}
	if _, ok := errors.AsType[*panicError](err); ok || errors.Is(err, errExited) {
		w.counts.Panicked++
		return w.newError(Panicked, err)
	}
	w.counts.Failed++
	return w.newError(Failed, err)
}

// handleOverdue is called when a job's context ends before its handler returns: the
// requester is told at once, and the handler has some time left.
func (w *worker) handleOverdue(ctx context.Context, j *job) {
	w.mu.Lock()
	var reply Payload
	if !j.done {
		reply = w.settleResult(ctx, j, nil, ctx.Err())
		w.bus.tasks.Add(1)
		j.grace = time.AfterFunc(w.agent.Grace, func() {
			defer w.bus.tasks.Done()
			w.loseSlot(j)
		})
	}
	w.mu.Unlock()
	if reply != nil {
		j.reply(reply)
	}
}

// loseSlot counts the slot of a job as lost. With the last slot, the waiting requests are refused.
func (w *worker) loseSlot(j *job) {
	w.mu.Lock()
	var unserved []*job
	if !j.done {
		j.lost = true
		w.lost++
		if w.lost == w.agent.Concurrency {
			unserved = w.clearMailbox(&w.counts.Unserved)
		}
	}
	w.mu.Unlock()
	for _, j := range unserved {
		j.reply(w.newError(Stuck, errors.New("the last slot was lost to a handler that does not return")))
	}
}

// clearMailbox empties the mailbox. The caller holds w.mu.
func (w *worker) clearMailbox(count *int) []*job {
	var left []*job
	for j := w.mailbox.pop(); j != nil; j = w.mailbox.pop() {
		w.dropJob(j, count)
		left = append(left, j)
	}
	return left
}

// finishJob passes a job's slot on to the next job and replies to the requester.
func (w *worker) finishJob(ctx context.Context, j *job, result Payload, err error) {
	w.mu.Lock()
	reply := w.settleResult(ctx, j, result, err)
	j.done = true
	delete(w.jobs, keyOf(j.message))
	if j.grace != nil && j.grace.Stop() {
		w.bus.tasks.Done()
	}
	if j.lost {
		w.lost--
	}
	w.running--
	if next := w.mailbox.pop(); next != nil {
		w.startJob(next)
	}
	w.mu.Unlock()
	j.stop()
	if reply != nil {
		j.reply(reply)
	}
}

// cancelJob ends the job of a request that its requester gave up.
func (w *worker) cancelJob(m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.jobs[keyOf(m)]
	switch {
	case j == nil:
	case w.mailbox.remove(j):
		w.dropJob(j, &w.counts.Cancelled)
	default:
		w.endJob(j, errCancelled)
	}
}

// sendProgress sends an update while its job runs. Where that fails the job ends, so that
// no reply follows a gap.
func (w *worker) sendProgress(ctx context.Context, j *job, p Payload) {
	w.mu.Lock()
	over := j.settled || j.done
	w.mu.Unlock()
	if over {
		return
	}
	var err error
	if p.MessageType() == Coordination {
		err = w.bus.sendMessage(ctx, w.newReply(j, p))
	} else {
		err = fmt.Errorf("%T travels as %q, not as %q", p, p.MessageType(), Coordination)
	}
	if err != nil {
		w.mu.Lock()
		w.endJob(j, fmt.Errorf("send progress: %w", err))
		w.mu.Unlock()
	}
}

// close refuses the waiting jobs and ends the running ones.
func (w *worker) close() {
	w.mu.Lock()
	w.closed = true
	waiting := w.clearMailbox(&w.counts.Cancelled)
	for _, j := range w.jobs {
		w.endJob(j, ErrClosed)
	}
	w.mu.Unlock()
	for _, j := range waiting {
		j.reply(w.newError(Down, ErrClosed))
	}
}
