package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Transport carries messages to recipients. A Bus is the one for those in its process.
type Transport interface {
	// Deliver hands a message over and does not wait for what comes of it. A refusal
	// is an *Error, any other error means that the message may not arrive. The updates
	// of a task arrive in order and before its reply, or there was such an error.
	Deliver(ctx context.Context, m Message) error
}

var _ Transport = (*Bus)(nil)

// DefaultInterval is the time between two heartbeats.
const DefaultInterval = 5 * time.Second

// handoverLimit is how long a reply or a cancellation may take to be handed over.
const handoverLimit = 5 * time.Second

// Options configure a bus.
type Options struct {
	Interval time.Duration      // between the heartbeats of an agent; 0: DefaultInterval
	Remotes  map[Name]Transport // agents and requesters that are not in this process
	Log      *slog.Logger       // of agents that get stuck, go down and recover; nil: none
	// OnRequest gives the context that an agent works at a request in, from the one that it
	// would have, and is told how that ended: nil, or a handler's error. nil: nobody is.
	OnRequest func(ctx context.Context, name Name, request Type) (context.Context, func(err error))
}

// Bus connects requesters with agents. Its methods may be called concurrently.
type Bus struct {
	interval  time.Duration
	remotes   map[Name]Transport
	log       *slog.Logger
	onRequest func(ctx context.Context, name Name, request Type) (context.Context, func(err error))

	prefix string // of message ids
	number atomic.Uint64
	late   atomic.Uint64

	tasks   sync.WaitGroup // every goroutine of the bus
	closing chan struct{}
	stop    context.CancelFunc // of the watch and the heartbeats
	begin   func(run func(ctx context.Context))

	mu      sync.Mutex
	closed  bool
	agents  map[Name]*worker
	pending map[string]*attempt // by correlation id
}

// New makes a bus. Close it to end what runs on it.
func New(options Options) *Bus {
	b := &Bus{
		interval:  orDefault(options.Interval, DefaultInterval),
		remotes:   options.Remotes,
		log:       options.Log,
		onRequest: options.OnRequest,
		prefix:    rand.Text()[:12] + "-",
		closing:   make(chan struct{}),
		agents:    map[Name]*worker{},
		pending:   map[string]*attempt{},
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.onRequest == nil {
		b.onRequest = func(ctx context.Context, _ Name, _ Type) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.begin = func(run func(ctx context.Context)) { b.tasks.Go(func() { run(ctx) }) }
	b.begin(b.watchAgents)
	return b
}

// Register starts agents, or none and returns every mistake in them.
func (b *Bus) Register(agents ...Agent) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	var mistakes []error
	workers := map[Name]*worker{}
	for _, agent := range agents {
		agent, err := agent.withDefaults()
		_, ok := b.remotes[agent.Name]
		if ok || b.agents[agent.Name] != nil || workers[agent.Name] != nil {
			err = errors.Join(err, fmt.Errorf("agent %s is registered already", agent.Name))
		}
		mistakes = append(mistakes, err)
		workers[agent.Name] = newWorker(b, agent)
	}
	if err := errors.Join(mistakes...); err != nil {
		return fmt.Errorf("register agents: %w", err)
	}
	for name, w := range workers {
		b.agents[name] = w
		b.begin(w.sendHeartbeats)
	}
	return nil
}

// Close ends every task and refuses new ones, then waits until all goroutines of the
// bus are gone or ctx ends; the error names who still has some. Every Call that waits
// returns. Close may be called again, to wait again.
func (b *Bus) Close(ctx context.Context) error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.closing)
		b.stop()
	}
	b.mu.Unlock()
	for _, w := range b.allWorkers() {
		w.close()
	}
	gone := make(chan struct{})
	go func() { // ends with the last goroutine of the bus
		b.tasks.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	var working []Name
	for _, w := range b.allWorkers() {
		if w.hasRunningJobs() {
			working = append(working, w.agent.Name)
		}
	}
	return fmt.Errorf("close the bus while %v still work: %w", working, ctx.Err())
}

// States returns how the agents of this bus are, by name.
func (b *Bus) States() []Status {
	now := time.Now()
	var states []Status
	for _, w := range b.allWorkers() {
		states = append(states, w.currentStatus(now))
	}
	return states
}

// Late returns how many replies and updates came when nobody waited for them any more.
func (b *Bus) Late() uint64 { return b.late.Load() }

// Deliver hands a message to its recipient on this bus: a request to an agent's
// mailbox, a reply or an update to the Call that waits for it. Only an update may have
// to wait, until its requester has taken earlier ones. A late message is dropped and
// counted.
func (b *Bus) Deliver(ctx context.Context, m Message) error {
	if err := m.checkFields(); err != nil {
		return &Error{Agent: m.Recipient, Kind: Failed, Cause: err}
	}
	switch {
	case m.Type.responseType() != "":
		w := b.findWorker(m.Recipient)
		if w == nil {
			return &Error{Agent: m.Recipient, Kind: Unknown, Cause: errors.New("no agent of that name is registered")}
		}
		return w.acceptRequest(ctx, m)
	case m.Type == Heartbeat:
		if w := b.findWorker(m.Sender); w != nil {
			w.recordHeartbeat(m.Timestamp)
		}
		return nil
	case isCancel(m.Payload):
		if w := b.findWorker(m.Recipient); w != nil {
			w.cancelJob(m)
		}
		return nil
	case m.Type == Coordination:
		return b.deliverUpdate(ctx, m)
	default:
		b.deliverReply(m)
		return nil
	}
}

func isCancel(p Payload) bool {
	_, ok := p.(Cancel)
	return ok
}

// sendMessage hands a message to the transport of its recipient.
func (b *Bus) sendMessage(ctx context.Context, m Message) error {
	if remote, ok := b.remotes[m.Recipient]; ok {
		return remote.Deliver(ctx, m)
	}
	return b.Deliver(ctx, m)
}

// sendAfter sends a message that must go out even though ctx has ended.
func (b *Bus) sendAfter(ctx context.Context, m Message) {
	if _, ok := b.remotes[m.Recipient]; ok {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), handoverLimit)
		defer cancel()
		ctx = limited
	}
	if err := b.sendMessage(ctx, m); err != nil {
		b.log.WarnContext(ctx, "message not delivered", "type", m.Type, "sender", m.Sender, "recipient", m.Recipient, "error", err)
	}
}

func (b *Bus) nextID() string { return b.prefix + strconv.FormatUint(b.number.Add(1), 36) }

func (b *Bus) findWorker(name Name) *worker {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.agents[name]
}

func (b *Bus) allWorkers() []*worker {
	b.mu.Lock()
	defer b.mu.Unlock()
	workers := make([]*worker, 0, len(b.agents))
	for _, w := range b.agents {
		workers = append(workers, w)
	}
	slices.SortFunc(workers, func(a, b *worker) int { return cmp.Compare(a.agent.Name, b.agent.Name) })
	return workers
}

// watchAgents logs agents that get stuck, go down or recover, and refuses the requests that
// wait for one that is down.
func (b *Bus) watchAgents(ctx context.Context) {
	ticker := time.NewTicker(b.interval)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			for _, w := range b.allWorkers() {
				w.reviewState(ctx, now)
			}
		case <-ctx.Done():
			return
		}
	}
}
