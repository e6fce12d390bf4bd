package gatewaytest

import (
	"encoding/json"

	"github.com/gorilla/websocket"
)

// eachConnection does something to the connections of a shard. It fails the test where there is none.
func (s *Server) eachConnection(shard int, do func(c *connection)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for c := range s.connections {
		if c.session != nil && c.session.shard == shard {
			do(c)
			count++
		}
	}
	if count == 0 {
		s.t.Fatalf("shard %d is not connected", shard)
	}
}

// AskHeartbeat sends op 1, to be answered at once.
func (s *Server) AskHeartbeat(shard int) {
	s.t.Helper()
	s.eachConnection(shard, func(c *connection) { c.sendFrame(encode(payload{Op: opHeartbeat, Data: json.RawMessage("null")})) })
}

// Reconnect sends op 7: the client is to come again and resume.
func (s *Server) Reconnect(shard int) {
	s.t.Helper()
	s.eachConnection(shard, func(c *connection) { c.sendFrame(encode(payload{Op: opReconnect, Data: json.RawMessage("null")})) })
}

// Invalidate sends op 9. Where it is not resumable the session is gone.
func (s *Server) Invalidate(shard int, resumable bool) {
	s.t.Helper()
	s.eachConnection(shard, func(c *connection) { s.invalidateSession(c, resumable) })
}

// Close closes the connections of a shard with a code of Discord's, 4000 to 4014, or of
// WebSocket's. With 4007 and 4009 the session is gone.
func (s *Server) Close(shard, code int, reason string) {
	s.t.Helper()
	s.eachConnection(shard, func(c *connection) {
		if code == 4007 || code == 4009 {
			s.deleteSession(c.session)
		}
		c.closeWith(code, reason)
	})
}

// Cut ends the connections of a shard without a word. Their sessions can be resumed.
func (s *Server) Cut(shard int) {
	s.t.Helper()
	s.eachConnection(shard, func(c *connection) { c.closeAbruptly() })
}

// Zombie has the connections of a shard stay open and do nothing any more: no ACK, no
// event. What is dispatched is kept for a resume.
func (s *Server) Zombie(shard int) {
	s.t.Helper()
	s.eachConnection(shard, func(c *connection) {
		c.zombie = true
		c.beats.Stop()
	})
}

// Mangle has the next event of a type sent with its end missing, replays of it too.
func (s *Server) Mangle(eventType string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mangled[eventType]++
}

// Mute has the next identify get no answer.
func (s *Server) Mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muted++
}

// Forget ends all sessions for good, as an outage of Discord's does. Connections are cut.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session.connection != nil {
			session.connection.closeWith(websocket.CloseServiceRestart, "restart")
		}
		s.deleteSession(session)
	}
	s.signalChange()
}

// ResetToken has every identify and resume from now on fail with 4004.
func (s *Server) ResetToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokenReset = true
}
