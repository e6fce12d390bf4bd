package servertest

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is the way to a server, which can be cut.
type Proxy struct {
	Address string // host:port, by this way
	Server  string // host:port

	mu    sync.Mutex
	open  map[net.Conn]bool
	gate  chan struct{} // closed while bytes pass
	flows sync.WaitGroup
}

// NewProxy makes a way to a server at host:port, which need not be there yet, until the test ends.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: listener.Addr().String(), Server: server, open: make(map[net.Conn]bool), gate: make(chan struct{})}
	close(p.gate)
	p.flows.Go(func() { p.accept(listener) })
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.Cut()
		p.flows.Wait()
	})
	return p
}

// accept ends with the listener.
func (p *Proxy) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.DialTimeout("tcp", p.Server, time.Second) //nolint:noctx // it is short
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
func (p *Proxy) pass(from, to net.Conn) {
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
func (p *Proxy) close(c io.Closer) {
	c.Close() //nolint:errcheck // see above
	p.mu.Lock()
	defer p.mu.Unlock()
	if connection, ok := c.(net.Conn); ok {
		delete(p.open, connection)
	}
}

// Cut closes all connections: what was under way may have arrived, or a part of it.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for connection := range p.open {
		connection.Close() //nolint:errcheck // it may be closed
	}
}

// Hold lets nothing pass until release is called. One hold at a time.
func (p *Proxy) Hold() (release func()) {
	gate := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = gate
	return func() { close(gate) }
}
