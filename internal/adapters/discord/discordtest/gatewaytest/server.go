// Package gatewaytest is a strict stand-in for Discord's gateway, over real WebSockets:
// hello, identify, resume with replay, heartbeats, sharding, the limits on identifies and
// sends, and what goes wrong on demand.
//
// It is stricter than Discord where Discord's documents tell clients to do something and
// Discord is thought to let them go without: a session is resumed at its own address
// alone, and what a heartbeat says was received is not replayed any more.
package gatewaytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options are how a Server differs from Discord. The zero value of each is Discord's own.
type Options struct {
	Token             string        // Token
	HeartbeatInterval time.Duration // 41.25 s
	Grace             time.Duration // how late a heartbeat may be, half of the interval
	MaxConcurrency    int           // identifies at once, 1
	IdentifyWindow    time.Duration // of a bucket of identifies, 5 s
	Identifies        int           // in a Day, 1,000; with one more the token is reset
	Day               time.Duration // 24 h
	Sends             int           // of one connection in a SendWindow, 120
	SendWindow        time.Duration // 60 s
	// Refused are the intents that the app may not use: identifying with one closes with 4014.
	Refused int
	// Greeting is what READY tells of the app and where it is, read at each READY. A nil
	// one is of an app that is nowhere.
	Greeting func() Greeting
}

// Greeting is what an app learns first.
type Greeting struct {
	User        json.RawMessage // the app's own user
	Application json.RawMessage // with id and flags
	Guilds      []Guild         // those of all shards
}

// Guild is a server that the app is in. Create is the data of its GUILD_CREATE.
type Guild struct {
	ID     string
	Create json.RawMessage
}

// Token is the bot token that a Server takes unless told otherwise.
const Token = "MTE5.fake.token"

// maxReplay is how many events of a session are kept for a resume.
const maxReplay = 20_000

// patience is how long Await waits.
const patience = 30 * time.Second

// Server is the gateway.
type Server struct {
	t       testing.TB
	options Options
	first   *httptest.Server // where one identifies
	second  *httptest.Server // where one resumes
	ended   sync.WaitGroup

	mu          sync.Mutex
	changed     chan struct{} // closed at each change of what State tells
	connections map[*connection]bool
	sessions    map[string]*session
	sessionsNo  int
	started     []time.Time       // identifies of the last Day
	buckets     map[int]time.Time // the last identify of each
	muted       int               // how many identifies are yet to get no answer
	tokenReset  bool
	closing     bool
	mangled     map[string]int // how many of a type are yet to be sent broken
	state       State
}

// State is what happened so far.
type State struct {
	Connected []int    // shards with a session on a living connection, sorted
	Identify  []int    // shards in the order in which they identified, refused ones too
	Resume    []int    // shards in the order in which their sessions were resumed
	Refused   []string // what clients did wrong, in words
	Closed    []int    // codes with which clients closed; 1006 where they closed with none
	Pending   int      // events that a resume would replay
	Beats     int      // heartbeats
}

// New returns a gateway with Discord's own limits, up until the test ends.
func New(t testing.TB) *Server { return NewWith(t, Options{}) }

// NewWith returns a gateway with limits of one's own: tests have less time than Discord.
func NewWith(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{
		t: t, options: withDefaults(options), changed: make(chan struct{}),
		connections: make(map[*connection]bool), sessions: make(map[string]*session),
		buckets: make(map[int]time.Time), mangled: make(map[string]int),
	}
	s.first = httptest.NewServer(s.newHandler(false))
	s.second = httptest.NewServer(s.newHandler(true))
	t.Cleanup(s.close)
	return s
}

func withDefaults(o Options) Options {
	if o.Token == "" {
		o.Token = Token
	}
	if o.Greeting == nil {
		o.Greeting = func() Greeting {
			return Greeting{
				User:        json.RawMessage(`{"id":"1190000000000000001","username":"cairn","bot":true}`),
				Application: json.RawMessage(`{"id":"1190000000000000001","flags":0}`),
			}
		}
	}
	o.HeartbeatInterval = valueOr(o.HeartbeatInterval, 41250*time.Millisecond)
	o.Grace = valueOr(o.Grace, o.HeartbeatInterval/2)
	o.MaxConcurrency = valueOr(o.MaxConcurrency, 1)
	o.IdentifyWindow = valueOr(o.IdentifyWindow, 5*time.Second)
	o.Identifies = valueOr(o.Identifies, 1000)
	o.Day = valueOr(o.Day, 24*time.Hour)
	o.Sends = valueOr(o.Sends, 120)
	o.SendWindow = valueOr(o.SendWindow, time.Minute)
	return o
}

func valueOr[N int | time.Duration](value, standard N) N {
	if value == 0 {
		return standard
	}
	return value
}

func (s *Server) newHandler(resumes bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveConnection(w, r, resumes) })
}

func (s *Server) close() {
	s.mu.Lock()
	s.closing = true
	for c := range s.connections {
		c.closeAbruptly()
	}
	s.mu.Unlock()
	s.ended.Wait()
	s.first.Close()
	s.second.Close()
}

// URL returns where the gateway is, as Discord's "get gateway bot" gives it.
func (s *Server) URL() string { return serverAddress(s.first) }

func serverAddress(server *httptest.Server) string {
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

// Limit is the session_start_limit of Discord's "get gateway bot".
type Limit struct {
	Total          int   `json:"total"`
	Remaining      int   `json:"remaining"`
	ResetAfter     int64 `json:"reset_after"` // ms
	MaxConcurrency int   `json:"max_concurrency"`
}

// Limit returns what is left of the identifies.
func (s *Server) Limit() Limit {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetOldIdentifies(time.Now())
	limit := Limit{
		Total: s.options.Identifies, Remaining: max(0, s.options.Identifies-len(s.started)),
		MaxConcurrency: s.options.MaxConcurrency,
	}
	if len(s.started) > 0 {
		limit.ResetAfter = time.Until(s.started[0].Add(s.options.Day)).Milliseconds()
	}
	return limit
}

// Dispatch sends an event to the sessions of a guild's shard that have the intents for
// it, or keeps it for their resume; "" is the guild of direct messages, which go to shard
// 0. It returns how many sessions that were: with none it is lost, as it is at Discord.
func (s *Server) Dispatch(guildID, eventType string, data json.RawMessage) int {
	s.t.Helper()
	if !json.Valid(data) {
		s.t.Fatalf("the data of a %s is not JSON; Mangle sends such", eventType)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, session := range s.sessions {
		if shardOf(guildID, session.shards) != session.shard || !wantsEvent(session.intents, eventType, guildID == "") {
			continue
		}
		session.dispatchEvent(eventType, data, s.mangled[eventType] > 0)
		count++
	}
	if count > 0 && s.mangled[eventType] > 0 {
		s.mangled[eventType]--
	}
	return count
}

// Intents returns those that the shard of a guild identified with, 0 while it has not.
func (s *Server) Intents(guildID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if shardOf(guildID, session.shards) == session.shard {
			return session.intents
		}
	}
	return 0
}

// State returns what happened so far.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentState()
}

func (s *Server) currentState() State {
	state := s.state
	state.Identify, state.Resume = slices.Clone(state.Identify), slices.Clone(state.Resume)
	state.Refused, state.Closed = slices.Clone(state.Refused), slices.Clone(state.Closed)
	for _, session := range s.sessions {
		state.Pending += len(session.events)
		if session.connection != nil {
			state.Connected = append(state.Connected, session.shard)
		}
	}
	slices.Sort(state.Connected)
	return state
}

// signalChange tells those who await that something changed. The caller holds mu.
func (s *Server) signalChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) recordRefusal(format string, arguments ...any) {
	s.state.Refused = append(s.state.Refused, fmt.Sprintf(format, arguments...))
	s.signalChange()
}

// Await waits until reached is true of what happened, and fails the test where that
// takes more than half a minute.
func (s *Server) Await(what string, reached func(State) bool) State {
	s.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		s.mu.Lock()
		state, changed := s.currentState(), s.changed
		s.mu.Unlock()
		if reached(state) {
			return state
		}
		select {
		case <-changed:
		case <-limit.C:
			s.t.Fatalf("waited in vain for %s: %+v", what, state)
		}
	}
}
