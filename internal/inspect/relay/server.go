package relay

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/inspect/socketio"
)

// maxMembers is how many may join a channel: the app, Cairn's workers, and who debugs it.
const maxMembers = 20

// ServerOptions is what a Server works with.
type ServerOptions struct {
	// PingInterval is how often those who joined are pinged; 0: 25 s.
	PingInterval time.Duration
}

// Server is Cairn as a relay. It passes the messages of a channel on to all who joined it, the
// sender among them, and keeps none. Channels are those that NewChannelID makes; calls that do
// more than read are dropped, whoever sends them.
type Server struct {
	sockets *socketio.Server

	mu      sync.Mutex
	members map[string]map[*socketio.Session]struct{} // by channel
	joined  map[*socketio.Session]string
}

// NewServer makes a relay.
func NewServer(options ServerOptions) *Server {
	s := &Server{members: make(map[string]map[*socketio.Session]struct{}), joined: make(map[*socketio.Session]string)}
	s.sockets = socketio.NewServer(socketio.ServerOptions{Handle: s.handle, Leave: s.leave, PingInterval: options.PingInterval})
	return s
}

// Close ends all connections and waits for that.
func (s *Server) Close() { s.sockets.Close() }

// ServeHTTP implements http.Handler: the relay is below Path, and there is nothing else.
func (s *Server) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if strings.TrimSuffix(request.URL.Path, "/") != Path {
		http.NotFound(w, request)
		return
	}
	s.sockets.ServeHTTP(w, request)
}

func (s *Server) handle(from *socketio.Session, name string, arguments []json.RawMessage) {
	if len(arguments) != 1 {
		return
	}
	var m message
	if json.Unmarshal(arguments[0], &m) != nil {
		return
	}
	switch name {
	case eventJoin:
		s.join(from, m.Channel)
	case eventMessage:
		if m.Type != typeEvent && (m.Type != typeCall || !isReading(m.Data)) {
			return
		}
		for _, member := range s.membersWith(from, m.Channel) {
			if member.EmitRaw(eventMessage, arguments[0]) != nil {
				return // it can't be encoded, for the others neither
			}
		}
	}
}

// join puts a client into a channel, and out of the one that it was in.
func (s *Server) join(from *socketio.Session, id string) {
	s.leave(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ownChannel.MatchString(id) || len(s.members[id]) >= maxMembers {
		return
	}
	if s.members[id] == nil {
		s.members[id] = make(map[*socketio.Session]struct{})
	}
	s.members[id][from] = struct{}{}
	s.joined[from] = id
}

func (s *Server) leave(from *socketio.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.joined[from]
	if !ok {
		return
	}
	delete(s.joined, from)
	delete(s.members[id], from)
	if len(s.members[id]) == 0 {
		delete(s.members, id)
	}
}

// membersWith are those who joined a channel, where the sender is one of them.
func (s *Server) membersWith(from *socketio.Session, id string) []*socketio.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" || s.joined[from] != id {
		return nil
	}
	var all []*socketio.Session
	for member := range s.members[id] {
		all = append(all, member)
	}
	return all
}
