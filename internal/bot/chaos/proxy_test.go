package chaos

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// proxy is the way to a server, which can be cut.
type proxy struct {
	url    string // the server's, by this way
	server string // host:port

	mu    sync.Mutex
	open  map[net.Conn]bool
	gate  chan struct{} // closed while bytes pass
	flows sync.WaitGroup
}

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: address.Host, open: make(map[net.Conn]bool), gate: make(chan struct{})}
	close(p.gate)
	address.Host = listener.Addr().String()
	p.url = address.String()
	p.flows.Go(func() { p.accept(listener) })
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.cut()
		p.flows.Wait()
	})
	return p
}

// accept ends with the listener.
func (p *proxy) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.DialTimeout("tcp", p.server, time.Second) //nolint:noctx // it is short
		if err != nil {
			p.close(near)
			continue
		}
		p.mu.Lock()
		p.open[near], p.open[far] = true, true
		p.mu.Unlock()
		p.flows.Go(func() { p.pass(near, far) })
		p.flows.Go(func() { p.pass(far, near) })
	}
}

// pass copies until one end is closed, and then closes the other.
func (p *proxy) pass(from, to net.Conn) {
	defer p.close(from)
	defer p.close(to)
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		gate := p.gate
		p.mu.Unlock()
		<-gate
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close closes a connection, which the other direction may have closed.
func (p *proxy) close(c io.Closer) {
	c.Close() // see above
	p.mu.Lock()
	defer p.mu.Unlock()
	if connection, ok := c.(net.Conn); ok {
		delete(p.open, connection)
	}
}

// cut closes all connections: what was under way may have arrived, or a part of it.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for connection := range p.open {
		connection.Close() // it may be closed
	}
}

// stall lets nothing pass for a while.
func (p *proxy) stall(ctx context.Context, d time.Duration) {
	gate := make(chan struct{})
	p.mu.Lock()
	p.gate = gate
	p.mu.Unlock()
	defer close(gate)
	wait(ctx, d)
}
