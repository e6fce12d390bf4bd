package gatewaytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxPayload = 4096 // bytes, of what clients send
	writeLimit = 5 * time.Second
)

// connection is one WebSocket of a client. What is sent goes through a queue, so that a
// client that does not read holds nobody up.
type connection struct {
	ws      *websocket.Conn
	resumes bool // it came to the address for resuming
	done    chan struct{}

	greeting Greeting // read before each identify

	queueMu sync.Mutex
	queue   []outgoing
	wake    chan struct{} // of one element

	// The rest is under the server's mu.
	session *session
	over    bool // its session was declared invalid: it has to go
	zombie  bool
	beats   *time.Timer
	sent    []time.Time
}

// outgoing is a frame, or the end with a code.
type outgoing struct {
	frame  []byte
	code   int
	reason string
}

// serveConnection is a connection from its hello to its end.
func (s *Server) serveConnection(w http.ResponseWriter, r *http.Request, resumes bool) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	c := &connection{ws: ws, resumes: resumes, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	if !s.addConnection(c) {
		c.closeAbruptly()
		return
	}
	defer s.ended.Done()
	var writer sync.WaitGroup
	writer.Go(c.writeLoop)
	query := r.URL.Query()
	switch {
	case query.Get("v") != "10":
		s.closeConnection(c, 4012, fmt.Sprintf("invalid API version %q", query.Get("v")))
	case query.Get("encoding") != "json" || query.Has("compress"):
		s.closeConnection(c, 4002, "this gateway speaks plain JSON alone")
	default:
		c.sendFrame(encode(payload{Op: opHello, Data: fmt.Appendf(nil, `{"heartbeat_interval":%d}`, s.options.HeartbeatInterval.Milliseconds())}))
	}
	code := s.readCommands(c)
	s.removeConnection(c, code)
	close(c.done)
	c.closeAbruptly()
	writer.Wait()
}

// addConnection is false where the server is about to close.
func (s *Server) addConnection(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.ended.Add(1)
	s.connections[c] = true
	c.beats = time.AfterFunc(s.heartbeatGrace(), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.recordRefusal("no heartbeat within %s", s.heartbeatGrace())
		s.deleteSession(c.session)
		c.closeWith(4009, "session timed out")
	})
	return true
}

// heartbeatGrace returns how long a client may go without a heartbeat.
func (s *Server) heartbeatGrace() time.Duration { return s.options.HeartbeatInterval + s.options.Grace }

// removeConnection ends what the client closed with a code. With 1000 and 1001 the session goes, as
// at Discord.
func (s *Server) removeConnection(c *connection, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.beats.Stop()
	delete(s.connections, c)
	if c.session != nil && c.session.connection == c {
		c.session.connection = nil
		if code == websocket.CloseNormalClosure || code == websocket.CloseGoingAway {
			s.deleteSession(c.session)
		}
	}
	s.state.Closed = append(s.state.Closed, code)
	s.signalChange()
}

// deleteSession ends a session for good, if there is one.
func (s *Server) deleteSession(session *session) {
	if session == nil {
		return
	}
	delete(s.sessions, session.id)
	session.connection = nil
}

// readCommands obeys what the client sends until it goes. It gives the code of its end.
func (s *Server) readCommands(c *connection) int {
	for {
		_, raw, err := c.ws.ReadMessage()
		if err != nil {
			if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
				return closed.Code
			}
			return websocket.CloseAbnormalClosure
		}
		var identifies struct {
			Op int `json:"op"`
		}
		if json.Unmarshal(raw, &identifies) == nil && identifies.Op == opIdentify {
			c.greeting = s.options.Greeting() // it may hold locks under which events are dispatched
		}
		s.mu.Lock()
		s.handlePayload(c, raw)
		s.mu.Unlock()
	}
}

func (s *Server) handlePayload(c *connection, raw []byte) {
	if c.zombie {
		return
	}
	if len(raw) > maxPayload {
		s.endLocked(c, 4002, fmt.Sprintf("a payload of %d bytes, more than %d", len(raw), maxPayload))
		return
	}
	now := time.Now()
	for len(c.sent) > 0 && now.Sub(c.sent[0]) > s.options.SendWindow {
		c.sent = c.sent[1:]
	}
	if c.sent = append(c.sent, now); len(c.sent) > s.options.Sends {
		s.endLocked(c, 4008, "more than 120 payloads in a minute")
		return
	}
	var got payload
	if err := json.Unmarshal(raw, &got); err != nil {
		s.endLocked(c, 4002, "a payload that can't be decoded: "+err.Error())
		return
	}
	s.handleCommand(c, got)
}

func (s *Server) closeConnection(c *connection, code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(c, code, reason)
}

// endLocked ends a connection because of what the client did.
func (s *Server) endLocked(c *connection, code int, reason string) {
	s.recordRefusal("closed with %d: %s", code, reason)
	c.closeWith(code, reason)
}

func (c *connection) sendFrame(frame []byte) {
	if !c.zombie {
		c.pushOutgoing(outgoing{frame: frame})
	}
}

func (c *connection) closeWith(code int, reason string) {
	c.pushOutgoing(outgoing{code: code, reason: reason})
}

// closeAbruptly ends a connection without a word.
func (c *connection) closeAbruptly() { c.ws.NetConn().Close() } //nolint:errcheck // it may be closed

func (c *connection) pushOutgoing(o outgoing) {
	c.queueMu.Lock()
	c.queue = append(c.queue, o)
	c.queueMu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// writeLoop sends what is in the queue until the connection is done.
func (c *connection) writeLoop() {
	for {
		select {
		case <-c.done:
			return
		case <-c.wake:
		}
		c.queueMu.Lock()
		queue := c.queue
		c.queue = nil
		c.queueMu.Unlock()
		for _, next := range queue {
			if !c.writeOne(next) {
				c.closeAbruptly()
				return
			}
		}
	}
}

// writeOne is false where the connection is at its end.
func (c *connection) writeOne(next outgoing) bool {
	if next.frame == nil {
		message := websocket.FormatCloseMessage(next.code, next.reason)
		return c.ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(writeLimit)) == nil && next.code == 0
	}
	return c.ws.SetWriteDeadline(time.Now().Add(writeLimit)) == nil && c.ws.WriteMessage(websocket.TextMessage, next.frame) == nil
}
