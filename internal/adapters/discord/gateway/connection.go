package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// dialLimit is for the connection, and then for the hello.
	dialLimit  = 10 * time.Second
	writeLimit = 10 * time.Second
	// minInterval and maxInterval bound what a hello may ask for.
	minInterval = 10 * time.Millisecond
	maxInterval = 10 * time.Minute
)

// connection is one WebSocket of a shard.
type connection struct {
	ws      *websocket.Conn
	seq     func() int64 // what heartbeats tell; 0 before the first event is kept
	stalled func() bool  // nothing is read because too much is being dealt with
	writing sync.Mutex

	mu    sync.Mutex
	acked bool
	cause error // why the client ended it
}

// dial connects and waits for the hello. It gives how often a heartbeat is due.
func dial(ctx context.Context, address string) (*connection, time.Duration, error) {
	target, err := url.Parse(address)
	if err != nil || target.Host == "" || target.Scheme != "ws" && target.Scheme != "wss" {
		return nil, 0, fmt.Errorf("the gateway's address %q is none of a WebSocket", address)
	}
	target.RawQuery = url.Values{"v": {"10"}, "encoding": {"json"}}.Encode()
	if target.Path == "" {
		target.Path = "/"
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialLimit}
	ws, response, err := dialer.DialContext(ctx, target.String(), nil)
	if response != nil && response.Body != nil {
		response.Body.Close() //nolint:errcheck // the library has read what there is
	}
	if err != nil {
		return nil, 0, fmt.Errorf("connect to the gateway: %w", err)
	}
	c := &connection{ws: ws, acked: true}
	// The library would answer with the same code, and 1001 from here ends the session.
	ws.SetCloseHandler(func(int, string) error {
		return c.sendClose()
	})
	stop := context.AfterFunc(ctx, func() { c.closeResumable(context.Cause(ctx)) })
	defer stop()
	interval, err := c.readHello()
	if err != nil {
		c.closeResumable(err)
		return nil, 0, fmt.Errorf("wait for the gateway's hello: %w", err)
	}
	return c, interval, nil
}

func (c *connection) readHello() (time.Duration, error) {
	c.ws.SetReadLimit(maxFrame)
	first, err := c.readFrame()
	if err != nil {
		return 0, err
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if first.Op != opHello {
		return 0, fmt.Errorf("the first frame has op %d", first.Op)
	}
	if err := json.Unmarshal(first.Data, &hello); err != nil {
		return 0, fmt.Errorf("its hello is malformed: %w", err)
	}
	if least, most := minInterval.Milliseconds(), maxInterval.Milliseconds(); hello.Interval < least || hello.Interval > most {
		return 0, fmt.Errorf("a heartbeat interval of %d ms is not between %d and %d", hello.Interval, least, most)
	}
	return time.Duration(hello.Interval) * time.Millisecond, nil
}

// malformedError is the error of an unreadable message; the connection goes on.
type malformedError struct{ cause error }

func (e *malformedError) Error() string { return e.cause.Error() }

// readFrame waits for a message. After a *malformedError the connection goes on.
func (c *connection) readFrame() (frame, error) {
	_, raw, err := c.ws.ReadMessage()
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.cause != nil {
			return frame{}, c.cause
		}
		return frame{}, err
	}
	got, err := parseFrame(raw)
	if err != nil {
		return got, &malformedError{err}
	}
	return got, nil
}

// sendCommand writes a command. What it can't write the reader will notice.
func (c *connection) sendCommand(op int, data any) error {
	raw, err := json.Marshal(struct {
		Op   int `json:"op"`
		Data any `json:"d"`
	}{op, data})
	if err != nil {
		return fmt.Errorf("encode op %d: %w", op, err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return fmt.Errorf("send op %d: %w", op, err)
	}
	if err := c.ws.WriteMessage(websocket.TextMessage, raw); err != nil {
		return fmt.Errorf("send op %d: %w", op, err)
	}
	return nil
}

// closeResumable closes the connection so that its session can be resumed. The first cause is what
// reading gives from then on.
func (c *connection) closeResumable(cause error) {
	c.mu.Lock()
	first := c.cause == nil
	if first {
		c.cause = cause
	}
	c.mu.Unlock()
	if first {
		c.sendClose() //nolint:errcheck // the other side may be gone
		c.ws.Close()  //nolint:errcheck // as above
	}
}

func (c *connection) sendClose() error {
	message := websocket.FormatCloseMessage(closeToResume, "")
	return c.ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(time.Second))
}

// sendHeartbeats sends heartbeats, the first after a part of the interval, until ctx ends. A
// connection that did not answer the last one is ended.
func (c *connection) sendHeartbeats(ctx context.Context, first, interval time.Duration) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		c.mu.Lock()
		dead := !c.acked && !c.stalled()
		c.acked = false
		c.mu.Unlock()
		if dead {
			c.closeResumable(errZombie)
			return
		}
		if err := c.sendHeartbeat(); err != nil {
			c.closeResumable(err)
			return
		}
		timer.Reset(interval)
	}
}

func (c *connection) sendHeartbeat() error {
	var last *int64
	if seq := c.seq(); seq > 0 {
		last = &seq
	}
	return c.sendCommand(opHeartbeat, last)
}

// markAlive notes that the other side answered.
func (c *connection) markAlive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked = true
}

// identify is the data of op 2.
type identify struct {
	Token      string     `json:"token"`
	Intents    int        `json:"intents"`
	Shard      [2]int     `json:"shard"`
	Properties properties `json:"properties"`
}

type properties struct {
	OS      string `json:"os"`
	Browser string `json:"browser"`
	Device  string `json:"device"`
}

func (c *connection) sendIdentify(o Options, lease Lease) error {
	return c.sendCommand(opIdentify, identify{o.Token, o.Intents, [2]int{lease.Shard, lease.Shards}, properties{runtime.GOOS, "cairn", "cairn"}})
}

func (c *connection) sendResume(token string, session Session) error {
	return c.sendCommand(opResume, struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}{token, session.ID, session.Seq})
}
