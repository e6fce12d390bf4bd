package slacktest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Limits of Socket Mode.
const (
	maxConnections = 10
	maxAckPayload  = 20 << 10 // an answer this large is dropped, and nobody is told
)

type socketState struct {
	tickets map[string]bool
	open    map[*connection]bool
	order   []*connection
	next    int
	waiting map[string]chan json.RawMessage
	ended   sync.WaitGroup
	dropped int
}

// connection is one WebSocket of the app.
type connection struct {
	ws      *websocket.Conn
	mu      sync.Mutex // for writing
	stalled bool
	done    chan struct{}
}

func (s *Server) openSocket(work *request) (any, *apiError) {
	if work.args["token"] != AppToken {
		return nil, newAPIError("invalid_auth")
	}
	ticket := s.nextID("ticket")
	s.socket.tickets[ticket] = true
	return struct {
		URL string `json:"url"`
	}{"ws" + strings.TrimPrefix(s.http.URL, "http") + "/socket/" + ticket}, nil
}

// serveSocket is a connection from its hello to its end.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ticket := r.PathValue("ticket")
	valid := s.socket.tickets[ticket]
	delete(s.socket.tickets, ticket) // good for one use
	s.mu.Unlock()
	if !valid {
		http.Error(w, "this address was used before", http.StatusForbidden)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	conn := &connection{ws: ws, done: make(chan struct{})}
	count := s.addConnection(conn)
	defer s.removeConnection(conn)
	if count > maxConnections {
		conn.writeJSON(newDisconnect("too_many_websockets")) //nolint:errcheck // it is closed all the same
		return
	}
	type info struct {
		AppID string `json:"app_id"`
	}
	hello := struct {
		Type           string `json:"type"`
		NumConnections int    `json:"num_connections"`
		Info           info   `json:"connection_info"`
	}{"hello", count, info{AppID}}
	if conn.writeJSON(hello) != nil {
		return
	}
	s.socket.ended.Go(func() { conn.sendPings(s.options.PingEvery) })
	s.readAcks(conn)
}

func (s *Server) addConnection(conn *connection) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.socket.open[conn] = true
	if len(s.socket.open) <= maxConnections {
		s.socket.order = append(s.socket.order, conn)
	}
	return len(s.socket.open)
}

func (s *Server) removeConnection(conn *connection) {
	s.mu.Lock()
	delete(s.socket.open, conn)
	for i, kept := range s.socket.order {
		if kept == conn {
			s.socket.order = append(s.socket.order[:i:i], s.socket.order[i+1:]...)
			break
		}
	}
	s.mu.Unlock()
	close(conn.done)
	conn.ws.Close() //nolint:errcheck // the other side may have been first
}

// readAcks takes acknowledgements until the connection ends.
func (s *Server) readAcks(conn *connection) {
	for {
		_, raw, err := conn.ws.ReadMessage()
		if err != nil {
			return
		}
		var ack struct {
			EnvelopeID string          `json:"envelope_id"`
			Payload    json.RawMessage `json:"payload"`
		}
		s.mu.Lock()
		if json.Unmarshal(raw, &ack) == nil {
			if waiting := s.socket.waiting[ack.EnvelopeID]; waiting != nil {
				if len(raw) >= maxAckPayload {
					s.socket.dropped++
				} else {
					delete(s.socket.waiting, ack.EnvelopeID)
					waiting <- ack.Payload
				}
			}
		}
		s.mu.Unlock()
	}
}

func (c *connection) writeJSON(value any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stalled {
		return nil
	}
	if err := c.ws.SetWriteDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	return c.ws.WriteJSON(value)
}

func (c *connection) sendPings(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		c.mu.Lock()
		if !c.stalled {
			c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) //nolint:errcheck // reading finds out
		}
		c.mu.Unlock()
		select {
		case <-c.done:
			return
		case <-ticker.C:
		}
	}
}

// nextConnection takes the connections in turn: any of them may get any payload.
func (s *Server) nextConnection() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.socket.order) == 0 {
		return nil
	}
	s.socket.next++
	return s.socket.order[s.socket.next%len(s.socket.order)]
}

var errNoAck = errors.New("no acknowledgement")

// overSocket delivers by Socket Mode and waits for the acknowledgement.
func (s *Server) overSocket(conn *connection, delivery *Delivery, retry int, reason string) (json.RawMessage, error) {
	acked := make(chan json.RawMessage, 1)
	s.mu.Lock()
	id := s.nextID("envelope-")
	s.socket.waiting[id] = acked
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.socket.waiting, id)
		s.mu.Unlock()
	}()
	message := struct {
		Type         string          `json:"type"`
		EnvelopeID   string          `json:"envelope_id"`
		Payload      json.RawMessage `json:"payload"`
		AcceptsReply bool            `json:"accepts_response_payload"`
		Attempt      int             `json:"retry_attempt,omitempty"`
		Reason       string          `json:"retry_reason,omitempty"`
	}{delivery.Kind, id, delivery.Body, delivery.Kind != "events_api", retry, reason}
	if err := conn.writeJSON(message); err != nil {
		return nil, err
	}
	timeout := time.NewTimer(s.options.AckWithin)
	defer timeout.Stop()
	select {
	case payload := <-acked:
		return payload, nil
	case <-timeout.C:
		return nil, errNoAck
	case <-conn.done:
		return nil, errNoAck
	}
}

type disconnectMessage struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

func newDisconnect(reason string) disconnectMessage { return disconnectMessage{"disconnect", reason} }

// Connections returns how many WebSockets the app has open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.socket.open)
}

// Disconnect tells every connection to go: "warning", "refresh_requested" or
// "link_disabled". After a warning the connection stays open; after the others Slack
// closes it.
func (s *Server) Disconnect(reason string) {
	for _, conn := range s.openConnections() {
		conn.writeJSON(newDisconnect(reason)) //nolint:errcheck // it may be gone already
		if reason != "warning" {
			conn.ws.Close() //nolint:errcheck // it may be gone already
		}
	}
}

// Stall has every open connection say nothing more, not even pings, without an end.
func (s *Server) Stall() {
	for _, conn := range s.openConnections() {
		conn.mu.Lock()
		conn.stalled = true
		conn.mu.Unlock()
	}
}

func (s *Server) openConnections() []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*connection(nil), s.socket.order...)
}

func (s *Server) closeSockets() {
	for _, conn := range s.openConnections() {
		conn.ws.Close() //nolint:errcheck // it may be gone already
	}
	s.socket.ended.Wait()
}
