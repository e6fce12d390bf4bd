package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/socketio"
)

// channel is a running app that joined the same channel. It implements inspect.Layer.
type channel struct {
	pool *Pool
	url  string
	host string
	id   string

	mu      sync.Mutex
	conn    *socketio.Conn // nil while there is none
	changed chan struct{}  // closed when conn, or why there is none, changes
	failure error          // why there is no connection, or why the last one ended
	waiting map[string]chan reply
	calls   int
	events  inspect.Events
	used    time.Time
}

var _ inspect.Layer = (*channel)(nil)

type reply struct {
	data json.RawMessage
	err  error
}

// run keeps the channel connected until ctx ends.
func (c *channel) run(ctx context.Context) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 100*time.Millisecond, 10*time.Second
	for ctx.Err() == nil {
		connected, err := c.serve(ctx)
		if connected {
			wait.Reset()
		}
		c.setConn(nil, err)
		select {
		case <-time.After(wait.NextBackOff()):
		case <-ctx.Done():
		}
	}
	c.setConn(nil, errors.New("the connection was not used and is closed"))
}

// serve connects and joins, and takes in what the app sends until the connection ends.
func (c *channel) serve(ctx context.Context) (connected bool, err error) {
	conn, err := socketio.Dial(ctx, socketio.DialOptions{URL: c.url, Dial: c.pool.allowed.dial})
	if err != nil {
		return false, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() }) //nolint:errcheck // so nothing blocks for longer than ctx lasts
	defer stop()
	defer conn.Close() //nolint:errcheck // the other side may be gone
	if err := conn.Emit(eventJoin, map[string]string{"channelId": c.id}); err != nil {
		return false, fmt.Errorf("join the channel: %w", err)
	}
	if err := c.send(conn, c.nextName(sayHello), sayHello, nil); err != nil {
		return false, fmt.Errorf("greet the app: %w", err)
	}
	c.setConn(conn, nil)
	for {
		name, arguments, err := conn.Receive()
		if malformed, ok := errors.AsType[*socketio.MalformedError](err); ok {
			c.failCalls(malformed)
			continue
		}
		if err != nil {
			return true, err
		}
		if name == eventMessage && len(arguments) == 1 {
			c.acceptMessage(arguments[0])
		}
	}
}

func (c *channel) setConn(conn *socketio.Conn, failure error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	if failure != nil || conn != nil {
		c.failure = failure
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// failCalls ends the calls that wait: what came can't be read, and may be the answer of any.
func (c *channel) failCalls(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, waits := range c.waiting {
		select {
		case waits <- reply{err: fmt.Errorf("the app's answer can't be read: %w", err)}:
		default:
		}
	}
}

// nextName names a call. The counter keeps apart those of one millisecond.
func (c *channel) nextName(asked target) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return fmt.Sprintf("call.%s.%d-%d", asked, time.Now().UnixMilli(), c.calls)
}

func (c *channel) send(conn *socketio.Conn, name string, asked target, arguments []any) error {
	if arguments == nil {
		arguments = []any{}
	}
	data, err := json.Marshal([]callData{{Target: asked, Args: arguments}})
	if err != nil {
		return fmt.Errorf("encode the call %s: %w", asked, err)
	}
	return conn.Emit(eventMessage, message{Channel: c.id, Type: typeCall, Name: name, Data: data})
}

// acceptMessage takes in a message of the channel: the answer of a call, or what happened in the app.
// Calls are passed over, the own ones among them, which the relay sends back.
func (c *channel) acceptMessage(raw json.RawMessage) {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.Type != typeEvent || m.Channel != "" && m.Channel != c.id {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if waits, ok := c.waiting[m.Name]; ok {
		select {
		case waits <- reply{data: m.Data}:
		default: // it has one
		}
		return
	}
	switch m.Name {
	case "timeline-event":
		c.events.Pages = inspect.KeepLast(append(c.events.Pages, inspect.DecodeTimeline(m.Data)...))
	case "service_after_call":
		if request, ok := inspect.DecodeServiceCall(m.Data); ok {
			c.events.Requests = inspect.KeepLast(append(c.events.Requests, request))
		}
	case "console-log":
		c.events.Messages = inspect.KeepLast(append(c.events.Messages, inspect.DecodeLogs(m.Data)...))
	}
}

// call asks the app, and waits for its answer within the time-out. A connection that is lost
// meanwhile is waited for once.
func (c *channel) call(ctx context.Context, asked target, arguments ...any) (json.RawMessage, error) {
	for attempt := 0; ; attempt++ {
		conn, changed, err := c.awaitConn(ctx)
		if err != nil {
			return nil, err
		}
		data, lost, err := c.callOnce(ctx, conn, changed, asked, arguments)
		if !lost || attempt == 1 {
			return data, err
		}
	}
}

// awaitConn waits for the connection. changed is closed when it ends.
func (c *channel) awaitConn(ctx context.Context) (*socketio.Conn, chan struct{}, error) {
	limit := time.NewTimer(c.pool.options.ConnectTimeout)
	defer limit.Stop()
	for {
		c.mu.Lock()
		conn, changed, failure := c.conn, c.changed, c.failure
		c.used = time.Now()
		c.mu.Unlock()
		if conn != nil {
			return conn, changed, nil
		}
		select {
		case <-changed:
		case <-limit.C:
			if failure == nil {
				failure = fmt.Errorf("no answer within %s", c.pool.options.ConnectTimeout)
			}
			return nil, nil, fmt.Errorf("the relay %s can't be reached: %w", c.host, failure)
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (c *channel) callOnce(ctx context.Context, conn *socketio.Conn, changed chan struct{}, asked target, arguments []any) (data json.RawMessage, lost bool, err error) {
	name, waits := c.nextName(asked), make(chan reply, 1)
	c.mu.Lock()
	c.waiting[name] = waits
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, name)
		c.mu.Unlock()
	}()
	if c.send(conn, name, asked, arguments) != nil {
		conn.Close() //nolint:errcheck // the one that reads tells why
	}
	limit := time.NewTimer(c.pool.options.CallTimeout)
	defer limit.Stop()
	select {
	case got := <-waits:
		return got.data, false, got.err
	case <-changed:
		c.mu.Lock()
		failure := c.failure
		c.mu.Unlock()
		return nil, true, fmt.Errorf("the connection to the relay %s ended while the app was asked for %s: %w", c.host, asked, failure)
	case <-limit.C:
		return nil, false, fmt.Errorf("the app did not answer %s within %s: is it open, and connected to this channel?", asked, c.pool.options.CallTimeout)
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// Tree implements inspect.Layer.
func (c *channel) Tree(ctx context.Context) (inspect.Element, error) {
	data, err := c.call(ctx, widgetTree)
	if err != nil {
		return inspect.Element{}, err
	}
	if text := strings.TrimSpace(string(data)); text == "" || text == "null" {
		return inspect.Element{}, &inspect.UnknownError{What: "the tree of the widgets"}
	}
	tree, _, err := inspect.DecodeTree(data)
	return tree, err
}

// Detail implements inspect.Layer.
func (c *channel) Detail(ctx context.Context, id string) (inspect.Detail, error) {
	data, err := c.call(ctx, widgetDetail, id)
	if err != nil {
		return inspect.Detail{}, err
	}
	return inspect.DecodeDetail(data)
}

// Events implements inspect.Layer: what was heard since the channel was joined.
func (c *channel) Events(context.Context) (inspect.Events, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.events.Clone(), nil
}
