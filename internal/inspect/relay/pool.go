package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// Options is what a Pool works with.
type Options struct {
	// Relays are the addresses that may be connected to, "https://relay.example": the first is
	// the one that is meant where none is named.
	Relays []string
	// CallTimeout is how long an app has to answer a call; 0: 5 s.
	CallTimeout time.Duration
	// ConnectTimeout is how long a call waits for the connection; 0: 10 s.
	ConnectTimeout time.Duration
	// IdleTimeout is how long a connection is kept that nobody uses; 0: 15 minutes. What an
	// app tells meanwhile is known to the next question.
	IdleTimeout time.Duration
}

// maxChannels is how many channels are connected at once.
const maxChannels = 50

// Pool keeps the channels of apps connected. Make one with NewPool.
type Pool struct {
	options Options
	allowed allowList

	mu       sync.Mutex
	channels map[string]*channel
	stop     chan struct{} // closed at the end
	closed   bool
	running  sync.WaitGroup
}

// NewPool makes a pool. Close it to end its connections.
func NewPool(options Options) (*Pool, error) {
	allowed, err := parseAllowList(options.Relays)
	if err != nil {
		return nil, err
	}
	if options.CallTimeout == 0 {
		options.CallTimeout = 5 * time.Second
	}
	if options.ConnectTimeout == 0 {
		options.ConnectTimeout = 10 * time.Second
	}
	if options.IdleTimeout == 0 {
		options.IdleTimeout = 15 * time.Minute
	}
	p := &Pool{options: options, allowed: allowed, channels: make(map[string]*channel), stop: make(chan struct{})}
	return p, nil
}

// Close ends all connections and waits for that.
func (p *Pool) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.stop)
	}
	p.mu.Unlock()
	p.running.Wait()
	return nil
}

// Join returns the app that joined a channel of the relay at a host, "" for the first relay. What
// may not be used is a *RefusedError. The connection is made meanwhile, and kept.
func (p *Pool) Join(id, host string) (inspect.Layer, error) {
	relay, err := p.allowed.find(host)
	if err != nil {
		return nil, err
	}
	if !channelID.MatchString(id) {
		return nil, &RefusedError{"That is no id of a channel: it has 6 to 100 letters, digits, `-` and `_`."}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("join a channel: the program is ending")
	}
	key := relay.Host + " " + id
	if joined, ok := p.channels[key]; ok {
		joined.mu.Lock()
		joined.used = time.Now()
		joined.mu.Unlock()
		return joined, nil
	}
	if len(p.channels) >= maxChannels {
		return nil, &RefusedError{fmt.Sprintf("I am connected to %d apps already: try again in a few minutes.", maxChannels)}
	}
	joined := &channel{
		pool: p, url: relay.String() + Path, host: relay.Host, id: id,
		changed: make(chan struct{}), waiting: make(map[string]chan reply), used: time.Now(),
	}
	p.channels[key] = joined
	// The connection outlives the question that began it.
	ctx, stop := context.WithCancel(context.Background())
	p.running.Go(func() { joined.run(ctx) })
	p.running.Go(func() {
		defer stop()
		for left := p.dropIdle(key, joined); left > 0; left = p.dropIdle(key, joined) {
			select {
			case <-time.After(left):
			case <-p.stop:
				return
			}
		}
	})
	return joined, nil
}

// dropIdle lets go of a channel that nobody has used for long, so that it is joined anew; otherwise
// it returns how long that takes at least.
func (p *Pool) dropIdle(key string, joined *channel) (left time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	joined.mu.Lock()
	defer joined.mu.Unlock()
	if left = p.options.IdleTimeout - time.Since(joined.used); left <= 0 {
		delete(p.channels, key)
	}
	return left
}
