package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxBacklog is how many updates may wait for a requester.
const maxBacklog = 64

// The pause before a retry doubles from the first to the longest, half of it by chance: those
// refused together do not come back together.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// Request is what an agent is asked.
type Request struct {
	From, To Name
	Payload  Payload  // travels as a request
	Priority Priority // 0: Normal
	// Timeout is how long each attempt may take, waiting in the mailbox included; 0:
	// twice the task time-out of the agent, where that is on the same bus, otherwise
	// twice DefaultTimeout.
	Timeout time.Duration
	Retries int // attempts after the first
	// OnProgress is given the updates of the attempt that runs, in order, on the
	// goroutine that called Call. May be nil.
	OnProgress func(update Payload)
	// OnRetry is told before a further attempt why the last one failed; what
	// OnProgress was given up to then is void. May be nil.
	OnRetry func(failed *Error)
}

// Call sends a request and waits for its response. An error is an *Error. The end of
// ctx ends the work on the other side.
func Call[Resp Payload](ctx context.Context, bus *Bus, request Request) (Resp, error) {
	var none Resp
	reply, failure := bus.callWithRetries(ctx, request)
	if failure != nil {
		return none, failure
	}
	response, ok := reply.(Resp)
	if !ok {
		return none, &Error{Agent: request.To, Kind: Failed, Cause: fmt.Errorf("it replied with %T, not with %T", reply, none)}
	}
	return response, nil
}

// attempt is a request that waits for its reply.
type attempt struct {
	message  Message
	reply    chan Payload    // takes one
	progress chan Payload    // nil: nobody listens
	over     <-chan struct{} // closed when nobody waits any more
}

func (b *Bus) callWithRetries(ctx context.Context, r Request) (Payload, *Error) {
	message, err := b.newRequest(r)
	if err != nil {
		return nil, &Error{Agent: r.To, Kind: Failed, Cause: err}
	}
	if ctx.Err() != nil {
		return nil, contextError(ctx, r.To)
	}
	limit := b.attemptTimeout(r)
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: firstPause, RandomizationFactor: backoff.DefaultRandomizationFactor, Multiplier: 2, MaxInterval: longestPause,
	}
	for retry := 0; ; retry++ {
		message.RetryCount = retry
		if retry > 0 {
			message.ID, message.Timestamp = b.nextID(), time.Now()
		}
		reply, failure := b.runAttempt(ctx, message, limit, r.OnProgress)
		if failure == nil {
			return reply, nil
		}
		if retry == r.Retries || !failure.isTransient() || ctx.Err() != nil {
			return nil, failure
		}
		if r.OnRetry != nil {
			r.OnRetry(failure)
		}
		if failure := b.waitBeforeRetry(ctx, r.To, pauses.NextBackOff()); failure != nil {
			return nil, failure
		}
	}
}

// newRequest returns the message of the first attempt.
func (b *Bus) newRequest(r Request) (Message, error) {
	id := b.nextID()
	m := Message{
		ID: id, Sender: r.From, Recipient: r.To, Payload: r.Payload, Timestamp: time.Now(),
		CorrelationID: id, Priority: orDefault(r.Priority, Normal),
	}
	if r.Payload == nil {
		return m, errors.New("the request has no payload")
	}
	m.Type = r.Payload.MessageType()
	if m.Type.responseType() == "" {
		return m, fmt.Errorf("%T travels as %q, which is no type of request", r.Payload, m.Type)
	}
	if r.Timeout < 0 || r.Retries < 0 {
		return m, errors.New("the request has a negative limit")
	}
	return m, m.checkFields()
}

// attemptTimeout returns how long an attempt may take.
func (b *Bus) attemptTimeout(r Request) time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	if w := b.findWorker(r.To); w != nil {
		return 2 * w.agent.Timeout
	}
	return 2 * DefaultTimeout
}

// runAttempt sends a request once and waits for its reply.
func (b *Bus) runAttempt(ctx context.Context, m Message, limit time.Duration, onProgress func(Payload)) (Payload, *Error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := &attempt{message: m, reply: make(chan Payload, 1), over: limited.Done()}
	if onProgress != nil {
		a.progress = make(chan Payload, maxBacklog)
	}
	if !b.registerAttempt(a) {
		return nil, &Error{Agent: m.Recipient, Kind: Down, Cause: ErrClosed}
	}
	defer b.cancelAttempt(ctx, a)
	if err := b.sendMessage(limited, m); err != nil {
		b.unregisterAttempt(a)
		return nil, deliveryError(m.Recipient, err)
	}
	for {
		select {
		case update := <-a.progress:
			onProgress(update)
		case reply := <-a.reply:
			return a.readReply(reply, onProgress)
		case <-limited.Done():
			if !b.cancelAttempt(ctx, a) { // the reply is there
				return a.readReply(<-a.reply, onProgress)
			}
			if ctx.Err() != nil {
				return nil, contextError(ctx, m.Recipient)
			}
			cause := fmt.Errorf("no reply within %s: %w", limit, context.DeadlineExceeded)
			return nil, &Error{Agent: m.Recipient, Kind: Timeout, Cause: cause}
		case <-b.closing:
			return nil, &Error{Agent: m.Recipient, Kind: Down, Cause: ErrClosed}
		}
	}
}

// readReply passes on the updates that came before a reply, then decodes the reply.
func (a *attempt) readReply(reply Payload, onProgress func(Payload)) (Payload, *Error) {
	for {
		select {
		case update := <-a.progress:
			onProgress(update)
			continue
		default:
		}
		if failure, ok := reply.(*Error); ok {
			return nil, failure
		}
		return reply, nil
	}
}

// deliveryError returns the failure of a request that was refused, or did not arrive.
func deliveryError(to Name, err error) *Error {
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal
	}
	return &Error{Agent: to, Kind: Failed, Cause: fmt.Errorf("deliver request: %w", err)}
}

// contextError returns the failure of a request whose context has.
func contextError(ctx context.Context, to Name) *Error {
	kind := Cancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = Timeout
	}
	return &Error{Agent: to, Kind: kind, Cause: context.Cause(ctx)}
}

// waitBeforeRetry waits before a retry.
func (b *Bus) waitBeforeRetry(ctx context.Context, to Name, pause time.Duration) *Error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return contextError(ctx, to)
	case <-b.closing:
		return &Error{Agent: to, Kind: Down, Cause: ErrClosed}
	}
}

// registerAttempt makes an attempt known, so that its reply finds it.
func (b *Bus) registerAttempt(a *attempt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.pending[a.message.CorrelationID] = a
	}
	return !b.closed
}

// unregisterAttempt removes an attempt and reports whether it still waited.
func (b *Bus) unregisterAttempt(a *attempt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	waited := b.pending[a.message.CorrelationID] == a
	if waited {
		delete(b.pending, a.message.CorrelationID)
	}
	return waited
}

// cancelAttempt ends the work on an attempt and reports whether it still waited.
func (b *Bus) cancelAttempt(ctx context.Context, a *attempt) bool {
	if !b.unregisterAttempt(a) {
		return false
	}
	m := a.message
	m.ID, m.Type, m.Payload, m.Timestamp = b.nextID(), Coordination, Cancel{}, time.Now()
	b.sendAfter(ctx, m)
	return true
}

// findAttempt returns the attempt that a message from an agent belongs to, or nil.
func (b *Bus) findAttempt(m Message) *attempt {
	a := b.pending[m.CorrelationID]
	if a == nil || a.message.RetryCount != m.RetryCount || a.message.Recipient != m.Sender || a.message.Sender != m.Recipient {
		b.late.Add(1)
		return nil
	}
	return a
}

// deliverReply hands a reply to the attempt that waits for it, once.
func (b *Bus) deliverReply(m Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.findAttempt(m); a != nil {
		delete(b.pending, m.CorrelationID)
		a.reply <- m.Payload
	}
}

// deliverUpdate hands an update to the attempt that it belongs to. One that could not be taken
// is an error, so that no reply follows a gap.
func (b *Bus) deliverUpdate(ctx context.Context, m Message) error {
	b.mu.Lock()
	a := b.findAttempt(m)
	b.mu.Unlock()
	if a == nil || a.progress == nil {
		return nil
	}
	select {
	case a.progress <- m.Payload:
		return nil
	case <-a.over:
		return errCancelled
	case <-ctx.Done():
		return ctx.Err()
	}
}
