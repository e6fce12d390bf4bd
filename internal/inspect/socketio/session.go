package socketio

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// maxQueued is how much waits for a client that does not read, in bytes. One that has more is
// dropped.
const maxQueued = 2 * inspect.MaxBytes

// Session is a client of a server.
type Session struct {
	server *Server
	id     string
	wake   chan struct{} // there is something to send
	gone   chan struct{} // closed at the end

	handling sync.Mutex // one event at a time

	mu     sync.Mutex
	queue  []string
	queued int             // bytes
	ws     *websocket.Conn // nil while it polls
	// polling is a poll that waits; upgrading is a WebSocket that is about to take its place.
	polling, upgrading bool
	ended, joined      bool
	heard              time.Time
}

// push queues a packet for the client.
func (s *Session) push(packet string) {
	s.mu.Lock()
	s.queue = append(s.queue, packet)
	s.queued += len(packet)
	full := s.queued > maxQueued
	s.mu.Unlock()
	if full {
		s.end()
	}
	s.notify()
}

func (s *Session) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// drain takes what is queued.
func (s *Session) drain() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	packets := s.queue
	s.queue, s.queued = nil, 0
	return packets
}

// EmitRaw sends an event with what goes with it as JSON.
func (s *Session) EmitRaw(name string, arguments ...json.RawMessage) error {
	all := make([]any, len(arguments))
	for i, one := range arguments {
		all[i] = one
	}
	p, err := newEvent(name, all)
	if err != nil {
		return err
	}
	s.push(string(rune(engineMessage)) + p.String())
	return nil
}

// end ends the session. It may be called more than once, and while the server is locked: who
// has to be told is told by watch.
func (s *Session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	close(s.gone)
	if s.ws != nil {
		s.ws.Close() //nolint:errcheck // the other side may be gone
	}
}

// watch pings the client until it is gone, or silent.
func (s *Session) watch() {
	interval := s.server.options.PingInterval
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	s.mu.Lock()
	s.heard = time.Now()
	s.mu.Unlock()
	for {
		select {
		case <-s.gone:
			s.server.mu.Lock()
			delete(s.server.sessions, s.id)
			s.server.mu.Unlock()
			s.server.options.Leave(s)
			return
		case <-ticker.C:
			s.mu.Lock()
			silent := time.Since(s.heard) > 2*interval
			s.mu.Unlock()
			if silent {
				s.end()
				continue
			}
			s.push(string(rune(enginePing)))
		}
	}
}

// poll waits for packets; ok is false where another poll waits, or a WebSocket is there.
func (s *Session) poll(ctx context.Context) (packets []string, ok bool) {
	s.mu.Lock()
	if s.polling || s.ws != nil || s.ended {
		s.mu.Unlock()
		return nil, false
	}
	s.polling = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.polling = false
		s.mu.Unlock()
	}()
	for {
		if packets := s.drain(); len(packets) > 0 {
			return packets, true
		}
		s.mu.Lock()
		upgrading := s.upgrading
		s.mu.Unlock()
		if upgrading {
			return []string{string(rune(engineNoop))}, true
		}
		select {
		case <-s.wake:
		case <-s.gone:
			return []string{string(rune(engineClose))}, true
		case <-ctx.Done():
			return nil, false
		}
	}
}

// takeAll takes in packets of Engine.IO; it is false where one is none.
func (s *Session) takeAll(packets []string) bool {
	for _, packet := range packets {
		if !s.take(packet) {
			return false
		}
	}
	return true
}

func (s *Session) take(packet string) bool {
	if packet == "" {
		return false
	}
	s.mu.Lock()
	s.heard = time.Now()
	s.mu.Unlock()
	switch packet[0] {
	case enginePong, engineNoop:
		return true
	case engineMessage:
		return s.takeMessage(packet[1:])
	case engineClose:
		s.end()
		return true
	}
	return false
}

// takeMessage takes in a packet of Socket.IO.
func (s *Session) takeMessage(text string) bool {
	p, err := ParsePacket(text)
	if err != nil {
		return false
	}
	s.handling.Lock()
	defer s.handling.Unlock()
	switch {
	case p.Kind == Connect && p.Namespace != "":
		s.push(string(rune(engineMessage)) + Packet{Kind: ConnectError, Namespace: p.Namespace, Data: json.RawMessage(`{"message":"Invalid namespace"}`)}.String())
		return true
	case p.Kind == Connect:
		s.joined = true
		s.push(string(rune(engineMessage)) + Packet{Kind: Connect, Data: json.RawMessage(`{"sid":"` + s.id[:len(s.id)/2] + `"}`)}.String())
		return true
	case p.Kind == Disconnect:
		s.end()
		return true
	case p.Kind != Event || !s.joined || p.Namespace != "":
		return false
	}
	name, arguments, err := p.Content()
	if err != nil {
		return false
	}
	s.server.options.Handle(s, name, arguments)
	return true
}

// attach makes a WebSocket the one that the session is sent over.
func (s *Session) attach(ws *websocket.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ws, s.upgrading = ws, false
	if s.ended {
		ws.Close() //nolint:errcheck // the other side may be gone
	}
}

// serve reads and writes a WebSocket until it ends, and the session with it.
func (s *Session) serve(ws *websocket.Conn) {
	var writer sync.WaitGroup
	writer.Go(func() { s.writeAll(ws) })
	defer writer.Wait()
	defer s.end()
	ws.SetReadLimit(inspect.MaxBytes)
	for {
		form, raw, err := ws.ReadMessage()
		if err != nil || form != websocket.TextMessage || !s.take(string(raw)) {
			return
		}
	}
}

func (s *Session) writeAll(ws *websocket.Conn) {
	defer s.end()
	for {
		for _, packet := range s.drain() {
			if writeText(ws, packet) != nil {
				return
			}
		}
		select {
		case <-s.wake:
		case <-s.gone:
			return
		}
	}
}

func writeText(ws *websocket.Conn, packet string) error {
	if err := ws.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	return ws.WriteMessage(websocket.TextMessage, []byte(packet))
}

// upgrade takes a client that polls over to a WebSocket: a probe each way, then the client says
// that it goes on there. A poll that waits is let go in between.
func (s *Session) upgrade(ws *websocket.Conn) {
	if !s.probe(ws) {
		s.mu.Lock()
		s.upgrading = false
		s.mu.Unlock()
		ws.Close() //nolint:errcheck // the other side may be gone
		return
	}
	s.attach(ws)
	s.serve(ws)
}

func (s *Session) probe(ws *websocket.Conn) bool {
	s.mu.Lock()
	free := s.ws == nil && !s.upgrading && !s.ended
	s.mu.Unlock()
	ws.SetReadLimit(inspect.MaxBytes)
	if !free || ws.SetReadDeadline(time.Now().Add(dialLimit)) != nil {
		return false
	}
	if _, raw, err := ws.ReadMessage(); err != nil || string(raw) != string(rune(enginePing))+"probe" {
		return false
	}
	s.mu.Lock()
	s.upgrading = true
	s.mu.Unlock()
	s.notify()
	if writeText(ws, string(rune(enginePong))+"probe") != nil {
		return false
	}
	_, raw, err := ws.ReadMessage()
	return err == nil && string(raw) == string(rune(engineUpgrade)) && ws.SetReadDeadline(time.Time{}) == nil
}
