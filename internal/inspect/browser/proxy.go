package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/cairn-bot/cairn/internal/publicnet"
)

// Limits of the proxy.
const (
	dialLimit   = 10 * time.Second
	tunnelLimit = 2 * time.Minute
	// maxReceived is how much one connection brings, in bytes.
	maxReceived = 64 << 20
	// maxRefused is how many refused addresses are kept.
	maxRefused = 1_000
)

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// proxy is what all connections of Chromium go through: it looks names up itself, and refuses
// private addresses, so that no answer of a name server gets around that.
type proxy struct {
	allowed  []*url.URL
	listener net.Listener
	server   *http.Server
	client   *http.Transport
	running  sync.WaitGroup
	served   error // why serving ended; set when running is done

	mu      sync.Mutex
	refused map[string]bool // private addresses, "host:port"
}

func startProxy(allowed []*url.URL) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the proxy of Chromium: %w", err)
	}
	p := &proxy{allowed: allowed, listener: listener, refused: make(map[string]bool)}
	p.client = &http.Transport{DialContext: p.dial, ResponseHeaderTimeout: dialLimit, TLSHandshakeTimeout: dialLimit, DisableCompression: true}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: dialLimit}
	p.running.Go(func() { p.served = p.server.Serve(listener) })
	return p, nil
}

func (p *proxy) address() string { return "http://" + p.listener.Addr().String() }

// Close ends the proxy and its connections.
func (p *proxy) Close() error {
	err := p.server.Close()
	p.client.CloseIdleConnections()
	p.running.Wait()
	if !errors.Is(p.served, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve the proxy of Chromium: %w", p.served))
	}
	return err
}

// dial connects to public addresses, and to those that pages are listed by.
func (p *proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialLimit, Control: func(network, to string, raw syscall.RawConn) error {
		err := publicnet.RefusePrivate(network, to, raw)
		if errors.Is(err, publicnet.ErrPrivate) && p.isListed(to) {
			return nil
		}
		return err
	}}
	conn, err := dialer.DialContext(ctx, network, address)
	if errors.Is(err, publicnet.ErrPrivate) {
		p.mu.Lock()
		if len(p.refused) < maxRefused {
			p.refused[address] = true
		}
		p.mu.Unlock()
	}
	return conn, err
}

// isListed tells whether a page is listed by that very address and port.
func (p *proxy) isListed(to string) bool {
	at, err := netip.ParseAddrPort(to)
	return err == nil && slices.ContainsFunc(p.allowed, func(page *url.URL) bool {
		port := page.Port()
		if port == "" {
			port = defaultPorts[page.Scheme]
		}
		listed, err := netip.ParseAddrPort(net.JoinHostPort(page.Hostname(), port))
		return err == nil && listed.Addr().Unmap() == at.Addr().Unmap() && listed.Port() == at.Port()
	})
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodConnect {
		p.tunnel(w, request)
		return
	}
	if request.URL.Host == "" || request.URL.Scheme != "http" {
		http.Error(w, "this is a proxy", http.StatusBadRequest)
		return
	}
	outgoing := request.Clone(request.Context())
	outgoing.RequestURI = ""
	outgoing.Header.Del("Proxy-Connection")
	response, err := p.client.RoundTrip(outgoing)
	if err != nil {
		http.Error(w, "the address can't be reached", http.StatusBadGateway)
		return
	}
	defer response.Body.Close() //nolint:errcheck // it was read as far as it is passed on
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	if _, err := io.Copy(w, io.LimitReader(response.Body, maxReceived)); err != nil {
		panic(http.ErrAbortHandler) // so that Chromium does not take a part for the whole
	}
}

func (p *proxy) tunnel(w http.ResponseWriter, request *http.Request) {
	away, err := p.dial(request.Context(), "tcp", request.Host)
	if err != nil {
		http.Error(w, "the address can't be reached", http.StatusBadGateway)
		return
	}
	defer away.Close() //nolint:errcheck // both ends are done
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close() //nolint:errcheck // both ends are done
	limit := time.Now().Add(tunnelLimit)
	if near.SetDeadline(limit) != nil || away.SetDeadline(limit) != nil {
		return
	}
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		io.Copy(away, near) //nolint:errcheck // the end of either is the end of both
		away.Close()        //nolint:errcheck // as above
	})
	io.Copy(near, io.LimitReader(away, maxReceived)) //nolint:errcheck // the other end tells
	near.Close()                                     //nolint:errcheck // both ends are done
	sending.Wait()
}

// wasRefused tells whether an address, "host:port", is private and was refused.
func (p *proxy) wasRefused(address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused[address]
}
