// Package agent is a message bus and the agents that live on it. A requester Calls an
// agent by name and gets its response, or within a known time an *Error that says which
// agent gave none and why: the requester can go on without it and say what is missing.
// Nothing that an agent does or fails to do hangs a requester.
//
// # An agent
//
// An Agent is a name, limits, and one Handler for each type of request that it takes.
// Register starts it. A request takes one of its slots (Agent.Concurrency) at once, or
// waits in its mailbox: by priority, then by arrival. A full mailbox refuses a request
// with Full, unless the request is more urgent than one that waits. Then the least
// urgent, of those the last to come, is displaced, and its requester gets Full. An
// urgent request never ends a task that runs.
//
// A handler is given a context that ends with its task: when Agent.Timeout has passed
// since it started, when the requester has given up, when the bus is closed. While it
// works it may send updates with Task.Progress, which is how a streamed answer travels.
// What it returns becomes the reply. A panic becomes a reply of kind Panicked and harms
// nothing else.
//
// # What goes wrong
//
// When the time of a task is over its requester gets Timeout at once, whatever the
// handler does. A handler that has not returned Agent.Grace after the end of its context
// costs the agent a slot, and the agent is stuck; when the last slot is lost it is down.
// Then what waits gets Stuck and new requests get Down, without waiting. The agent
// recovers when a handler returns after all.
//
// An agent sends a heartbeat to the bus at every Options.Interval. With a Check it does
// so only if that returns nil in time: what the agent needs to work is then known to be
// there. An agent that missed two heartbeats is stuck, one that missed three is down,
// until the next one. Bus.States shows all this; changes for worse and better are logged.
//
// # A call
//
// A Call is a request and its retries. All its messages share one correlation id, and
// RetryCount tells the attempts apart: a reply or update of an earlier attempt is dropped
// and counted (Bus.Late), so that exactly one reply is taken. Each attempt has
// Request.Timeout, waiting in the mailbox included. Timeout, Failed and Full are retried
// up to Request.Retries times, after a pause that doubles; the other kinds are final. An
// attempt that is given up is cancelled on the other side. Since a handler may ignore
// that, it can run again while it still runs: handlers must allow for it.
//
// Updates reach Request.OnProgress in order, on the caller's goroutine, before Call
// returns and never after. They are not dropped: a requester that is far behind slows
// its agent down.
//
// Agents may Call each other. Their time-outs bound a circle of calls as they do any
// other; give the outer agent the longer one.
//
// # Messages and transports
//
// A Payload is a Go type that says which Type of message it travels as, so a handler
// is typed from end to end. In this process payloads are passed as they are and must not
// be written to once sent. A Transport delivers messages to recipients. The Bus is the
// one for its own process; Options.Remotes names those that others deliver to, and what
// such a transport receives it gives to Bus.Deliver. No handler can tell the difference.
// Messages over a transport may be lost, late or doubled; a Call allows for all three. The
// heartbeats of agents that are elsewhere are not watched: their calls time out.
//
// # Reading order
//
// message.go and errors.go (what travels), agent.go (what an agent is), call.go (the
// requester's side), bus.go (delivery), worker.go (the agent's side), mailbox.go,
// beat.go, state.go.
package agent
