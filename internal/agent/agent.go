package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The limits of an agent that sets none of its own.
const (
	DefaultMailbox     = 100
	DefaultConcurrency = 10
	DefaultTimeout     = 30 * time.Second
	DefaultGrace       = time.Second
)

// Agent is what a bus needs to know to run one.
type Agent struct {
	Name     Name
	Handlers []Handler // one for each type of request that the agent takes

	Mailbox     int           // requests that may wait; 0: DefaultMailbox
	Concurrency int           // tasks at a time; 0: DefaultConcurrency
	Timeout     time.Duration // of a task, from its start; 0: DefaultTimeout
	// Grace is how long a handler may take to return after its context ended, before
	// its slot counts as lost; 0: DefaultGrace.
	Grace time.Duration
	// Check is called before each heartbeat, and the beat is sent if it returns nil. It
	// tells that what the agent works with is there. Nil: the agent always beats.
	Check func(ctx context.Context) error
}

// Handler answers one type of request. On makes it.
type Handler struct {
	request, response Type
	handle            func(ctx context.Context, task *Task) (Payload, error)
}

// On makes a handler. Req and Resp are struct types, or other plain values, that travel
// as a request and as the response that belongs to it.
//
// handle may run several times at once, and again for a request that was retried. It
// should return soon after its context has ended: because the requester gave up, the
// time was over, or the bus was closed. The values of the context are those of the
// requester's.
func On[Req, Resp Payload](handle func(ctx context.Context, task *Task, request Req) (Resp, error)) Handler {
	var request Req
	var response Resp
	return Handler{
		request:  request.MessageType(),
		response: response.MessageType(),
		handle: func(ctx context.Context, task *Task) (Payload, error) {
			request, ok := task.Message.Payload.(Req)
			if !ok {
				return nil, fmt.Errorf("%s takes %T as %s, it was sent %T", task.Message.Recipient, request, task.Message.Type, task.Message.Payload)
			}
			return handle(ctx, task, request)
		},
	}
}

// Task is one request while it is worked on.
type Task struct {
	Message  Message // the request
	progress func(Payload)
}

// Progress sends the requester something while the task is worked on, such as the next
// words of an answer; update travels as Coordination. Updates come in the order in which
// Progress was called, and before the reply. Progress waits while the requester is far
// behind, and does nothing once the task is over.
func (t *Task) Progress(update Payload) { t.progress(update) }

// withDefaults returns the agent with its limits filled in, or every mistake in it.
func (a Agent) withDefaults() (Agent, error) {
	var mistakes []error
	if a.Name == "" || a.Name == busName {
		mistakes = append(mistakes, fmt.Errorf("agent %q: give it a name, other than %q", a.Name, busName))
	}
	if len(a.Handlers) == 0 {
		mistakes = append(mistakes, fmt.Errorf("agent %s has no handlers", a.Name))
	}
	taken := map[Type]bool{}
	for _, h := range a.Handlers {
		switch {
		case h.request.responseType() == "":
			mistakes = append(mistakes, fmt.Errorf("agent %s: %q is no type of request", a.Name, h.request))
		case h.response != h.request.responseType():
			mistakes = append(mistakes, fmt.Errorf("agent %s: %s is answered by %s, not by %q", a.Name, h.request, h.request.responseType(), h.response))
		case taken[h.request]:
			mistakes = append(mistakes, fmt.Errorf("agent %s has two handlers for %s", a.Name, h.request))
		}
		taken[h.request] = true
	}
	if a.Mailbox < 0 || a.Concurrency < 0 || a.Timeout < 0 || a.Grace < 0 {
		mistakes = append(mistakes, fmt.Errorf("agent %s has a negative limit", a.Name))
	}
	a.Mailbox = orDefault(a.Mailbox, DefaultMailbox)
	a.Concurrency = orDefault(a.Concurrency, DefaultConcurrency)
	a.Timeout = orDefault(a.Timeout, DefaultTimeout)
	a.Grace = orDefault(a.Grace, DefaultGrace)
	return a, errors.Join(mistakes...)
}

func orDefault[N ~int | ~int64](value, otherwise N) N {
	if value == 0 {
		return otherwise
	}
	return value
}
