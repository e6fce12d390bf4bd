package socketio

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// ServerOptions is what a server works with.
type ServerOptions struct {
	// Handle is called with each event of a client, one at a time for each client. Required.
	Handle func(from *Session, name string, arguments []json.RawMessage)
	// Leave is called when a client is gone; nil: nobody is told.
	Leave func(*Session)
	// PingInterval is how often clients are pinged; 0: 25 s. They have as long to answer.
	PingInterval time.Duration
	// MaxSessions is how many clients there may be; 0: 500.
	MaxSessions int
}

// Server takes clients in over polling and WebSocket, with an upgrade from one to the other. It
// is an http.Handler of one path, for clients of any origin: it knows no cookies.
type Server struct {
	options  ServerOptions
	upgrader websocket.Upgrader

	mu       sync.Mutex
	sessions map[string]*Session
	closed   bool
	running  sync.WaitGroup
}

// NewServer makes a server. Close it when nothing more is to be taken in.
func NewServer(options ServerOptions) *Server {
	if options.PingInterval == 0 {
		options.PingInterval = 25 * time.Second
	}
	if options.MaxSessions == 0 {
		options.MaxSessions = 500
	}
	if options.Leave == nil {
		options.Leave = func(*Session) {}
	}
	return &Server{
		options: options, sessions: make(map[string]*Session),
		upgrader: websocket.Upgrader{HandshakeTimeout: dialLimit, CheckOrigin: func(*http.Request) bool { return true }},
	}
}

// Close ends all sessions and waits for them.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for _, one := range s.sessions {
		one.end()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// The faults that clients know by their numbers.
const (
	unknownTransport = 0
	unknownSession   = 1
	badHandshake     = 2
	badRequest       = 3
	forbidden        = 4
	unknownVersion   = 5
)

func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]any{"code": code, "message": message}) //nolint:errcheck // the app may have hung up
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cache-Control", "no-store")
	if request.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	query := request.URL.Query()
	transport, id := query.Get("transport"), query.Get("sid")
	switch {
	case transport != "polling" && transport != "websocket":
		refuse(w, unknownTransport, "Transport unknown")
	case query.Get("EIO") != "4":
		refuse(w, unknownVersion, "Unsupported protocol version")
	case id == "" && request.Method != http.MethodGet:
		refuse(w, badHandshake, "Bad handshake method")
	case id == "":
		s.begin(w, request, transport)
	default:
		session := s.find(id)
		if session == nil {
			refuse(w, unknownSession, "Session ID unknown")
			return
		}
		s.resume(w, request, session, transport)
	}
}

func (s *Server) find(id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// begin takes a new client in.
func (s *Server) begin(w http.ResponseWriter, request *http.Request, transport string) {
	session, err := s.open()
	if err != nil {
		refuse(w, forbidden, err.Error())
		return
	}
	upgrades := []string{"websocket"}
	if transport == "websocket" {
		upgrades = []string{}
	}
	interval := int(s.options.PingInterval.Milliseconds())
	greeting, err := json.Marshal(opening{SessionID: session.id, Upgrades: upgrades, PingInterval: interval, PingTimeout: interval, MaxPayload: inspect.MaxBytes})
	if err != nil {
		session.end()
		refuse(w, badRequest, "Bad request")
		return
	}
	first := string(rune(engineOpen)) + string(greeting)
	if transport == "polling" {
		writePoll(w, []string{first})
		return
	}
	ws, err := s.upgrader.Upgrade(w, request, nil)
	if err != nil {
		session.end()
		return
	}
	session.push(first)
	session.attach(ws)
	session.serve(ws)
}

func (s *Server) open() (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errors.New("the server is ending")
	case len(s.sessions) >= s.options.MaxSessions:
		return nil, fmt.Errorf("there are %d clients already", len(s.sessions))
	}
	session := &Session{server: s, id: rand.Text(), wake: make(chan struct{}, 1), gone: make(chan struct{})}
	s.sessions[session.id] = session
	s.running.Go(session.watch)
	return session, nil
}

func (s *Server) resume(w http.ResponseWriter, request *http.Request, session *Session, transport string) {
	switch {
	case transport == "websocket":
		ws, err := s.upgrader.Upgrade(w, request, nil)
		if err != nil {
			return
		}
		session.upgrade(ws)
	case request.Method == http.MethodGet:
		packets, ok := session.poll(request.Context())
		if !ok {
			refuse(w, badRequest, "Bad request")
			return
		}
		writePoll(w, packets)
	case request.Method == http.MethodPost:
		body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, inspect.MaxBytes))
		if err != nil || !session.takeAll(strings.Split(string(body), separator)) {
			session.end()
			refuse(w, badRequest, "Bad request")
			return
		}
		io.WriteString(w, "ok") //nolint:errcheck // the app may have hung up
	default:
		refuse(w, badRequest, "Bad request")
	}
}

func writePoll(w http.ResponseWriter, packets []string) {
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	io.WriteString(w, strings.Join(packets, separator)) //nolint:errcheck // who went asks again
}
