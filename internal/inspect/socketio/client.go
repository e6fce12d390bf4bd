package socketio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// Limits of a connection.
const (
	dialLimit  = 10 * time.Second
	writeLimit = 10 * time.Second
	// maxSilence bounds how long a server may leave its client without a ping.
	maxSilence = 5 * time.Minute
)

// DialOptions is what a connection is made with.
type DialOptions struct {
	// URL is where the server is, with its path: "https://relay.example/socket.io".
	URL string
	// Dial connects to an address, "host:port"; nil: as net.Dialer does.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Conn is a connection to a server. Receive is called by one goroutine, Emit and Close by any.
type Conn struct {
	ws      *websocket.Conn
	silence time.Duration // after which the server is taken for dead
	writing sync.Mutex
}

// ErrClosed is the end of a connection that the server closed in order.
var ErrClosed = errors.New("the server closed the connection")

// Dial connects over WebSocket. It follows no redirects.
func Dial(ctx context.Context, options DialOptions) (*Conn, error) {
	target, err := url.Parse(options.URL)
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("the address %q is none of a server", options.URL)
	}
	switch target.Scheme {
	case "http":
		target.Scheme = "ws"
	case "https":
		target.Scheme = "wss"
	default:
		return nil, fmt.Errorf("the address %q begins with neither http:// nor https://", options.URL)
	}
	target.Path = strings.TrimSuffix(target.Path, "/") + "/"
	target.RawQuery = url.Values{"EIO": {"4"}, "transport": {"websocket"}}.Encode()
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	dialer := websocket.Dialer{HandshakeTimeout: dialLimit, NetDialContext: options.Dial}
	ws, response, err := dialer.DialContext(ctx, target.String(), nil)
	if response != nil && response.Body != nil {
		response.Body.Close() //nolint:errcheck // the library has read what there is
	}
	if err != nil {
		return nil, describeDial(err, response)
	}
	c := &Conn{ws: ws, silence: dialLimit}
	ws.SetReadLimit(inspect.MaxBytes)
	stop := context.AfterFunc(ctx, func() { ws.Close() }) //nolint:errcheck // so nothing blocks for longer than ctx lasts
	defer stop()
	if err := c.handshake(); err != nil {
		return nil, errors.Join(fmt.Errorf("greet the server: %w", err), ctx.Err(), ws.Close())
	}
	return c, nil
}

func describeDial(err error, response *http.Response) error {
	if response != nil {
		return fmt.Errorf("connect: the server answered %s to a WebSocket: is this the address of a Socket.IO 4 server?", response.Status)
	}
	return fmt.Errorf("connect: %w", err)
}

// handshake reads the server's opening and joins its one namespace.
func (c *Conn) handshake() error {
	kind, text, err := c.readFrame()
	if err != nil {
		return err
	}
	var open opening
	if kind != engineOpen || json.Unmarshal([]byte(text), &open) != nil {
		return errors.New("it does not speak Engine.IO 4")
	}
	silence := time.Duration(open.PingInterval+open.PingTimeout) * time.Millisecond
	if open.PingInterval <= 0 || open.PingTimeout <= 0 || silence > maxSilence {
		return fmt.Errorf("its pings come every %d ms within %d ms, which is not between 0 and %s", open.PingInterval, open.PingTimeout, maxSilence)
	}
	if err := c.write(string(rune(engineMessage)) + Packet{Kind: Connect}.String()); err != nil {
		return err
	}
	for {
		p, err := c.receivePacket()
		if err != nil {
			return err
		}
		switch p.Kind {
		case Connect:
			c.silence = silence
			return nil
		case ConnectError:
			return fmt.Errorf("it refused the connection: %s", inspect.Cut(string(p.Data)))
		default:
			return errors.New("it sent something else before the connection was made")
		}
	}
}

// readFrame waits for a message of the WebSocket.
func (c *Conn) readFrame() (kind byte, text string, err error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
		return 0, "", err
	}
	form, raw, err := c.ws.ReadMessage()
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		return 0, "", fmt.Errorf("a message is larger than the %d MiB that are read", inspect.MaxBytes>>20)
	case err != nil:
		return 0, "", err
	case form != websocket.TextMessage:
		return 0, "", &MalformedError{ErrBinary}
	case len(raw) == 0:
		return 0, "", errors.New("a message is empty")
	}
	return raw[0], string(raw[1:]), nil
}

// receivePacket waits for a packet of Socket.IO, and answers pings until there is one.
func (c *Conn) receivePacket() (Packet, error) {
	for {
		kind, text, err := c.readFrame()
		if err != nil {
			return Packet{}, err
		}
		switch kind {
		case enginePing:
			if err := c.write(string(rune(enginePong)) + text[:min(len(text), 100)]); err != nil {
				return Packet{}, err
			}
		case engineMessage:
			p, err := ParsePacket(text)
			if err != nil {
				return Packet{}, &MalformedError{err}
			}
			return p, nil
		case engineClose:
			return Packet{}, ErrClosed
		case engineNoop:
		default:
			return Packet{}, fmt.Errorf("the server sent a packet of the kind %q", string(rune(kind)))
		}
	}
}

// MalformedError is a message that can't be read; the connection goes on.
type MalformedError struct{ cause error }

func (e *MalformedError) Error() string { return e.cause.Error() }

func (e *MalformedError) Unwrap() error { return e.cause }

// Receive waits for an event. After an error that is no *MalformedError the connection is of no
// use.
func (c *Conn) Receive() (name string, arguments []json.RawMessage, err error) {
	for {
		p, err := c.receivePacket()
		if err != nil {
			return "", nil, err
		}
		switch p.Kind {
		case Event:
			name, arguments, err := p.Content()
			if err != nil {
				return "", nil, &MalformedError{err}
			}
			return name, arguments, nil
		case Disconnect:
			return "", nil, ErrClosed
		default: // of no use to who asks for no acknowledgements
		}
	}
}

// Emit sends an event with what goes with it as JSON.
func (c *Conn) Emit(name string, arguments ...any) error {
	p, err := newEvent(name, arguments)
	if err != nil {
		return err
	}
	return c.write(string(rune(engineMessage)) + p.String())
}

func (c *Conn) write(text string) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, []byte(text))
}

// Close ends the connection, and a Receive that waits.
func (c *Conn) Close() error { return c.ws.Close() }
