package slacktest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Options says what a Server is like. The zero value is a workspace with Slack's limits
// on the machine's clock.
type Options struct {
	Clock Clock // nil: System
	// Unlimited turns the rate limits off, for tests of how fast the app is by itself.
	Unlimited bool
	// AckWithin is how long an app may take to acknowledge, in real time; 0 is Slack's 3 s.
	AckWithin time.Duration
	// PingEvery is the time between pings on a Socket Mode connection, in real time;
	// 0 is 10 s.
	PingEvery time.Duration
	// Scopes are what the app may do, as Slack tells it with each answer; nil is AllScopes.
	Scopes []string
	// Quiet are event types that the app is not subscribed to. By default it hears all
	// that this server can say.
	Quiet []string
}

// What the default workspace and its app are called.
const (
	Team          = "T0CAIRN"
	AppID         = "A0CAIRN"
	Bot           = "U0CAIRN"
	BotToken      = "xoxb-cairn-test"
	AppToken      = "xapp-cairn-test"
	SigningSecret = "8f742231b10e8888abcd99yyyzzz85a5"
	ClientID      = "10001.20002"
	ClientSecret  = "client-secret-test"
	botID         = "B0CAIRN"
)

// AllScopes are those of an app that may do all that this server can be asked for.
var AllScopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands", "files:read", "files:write",
	"groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read", "reactions:read", "reactions:write",
	"usergroups:read", "users:read", "users:read.email",
}

// Server is a Slack.
type Server struct {
	http    *httptest.Server
	options Options
	clock   Clock
	methods map[string]method
	working sync.WaitGroup // deliveries in the background

	mu         sync.Mutex
	tokens     map[string]*install
	people     map[string]*Person
	groups     map[string][]string // members of user groups
	channels   map[string]*channel
	messages   []*Message
	order      int // breaks ties of timestamps
	serial     int
	limits     map[string]*window
	faults     map[string][]Fault
	disturb    func(method string) (Fault, bool)
	calls      []Call
	called     chan struct{} // closed and replaced by each call
	deliveries []*Delivery
	endpoints  endpoints
	triggers   map[string]*trigger
	responses  map[string]*responseURL
	views      map[string]*View
	homes      map[string]json.RawMessage
	files      map[string]*File
	statuses   []Status
	prompts    map[string][]Prompt
	sessions   map[string]string
	titles     map[string]string // of sessions
	// unstoppable sessions come with a warning.
	unstoppable bool
	oauth       oauthState
	socket      socketState
}

// install is the app in one workspace, known by its token.
type install struct {
	team, enterprise, bot string
	expires               time.Time // zero: never
}

// New returns a running Slack with one workspace, in which the app is installed.
func New(options Options) *Server {
	if options.Clock == nil {
		options.Clock = System{}
	}
	if options.AckWithin == 0 {
		options.AckWithin = 3 * time.Second
	}
	if options.PingEvery == 0 {
		options.PingEvery = 10 * time.Second
	}
	if options.Scopes == nil {
		options.Scopes = AllScopes
	}
	s := &Server{
		options: options, clock: options.Clock, methods: allMethods(),
		tokens:   map[string]*install{BotToken: {team: Team, bot: Bot}},
		people:   map[string]*Person{},
		groups:   map[string][]string{},
		channels: map[string]*channel{},
		limits:   map[string]*window{}, faults: map[string][]Fault{},
		triggers: map[string]*trigger{}, responses: map[string]*responseURL{},
		views: map[string]*View{}, homes: map[string]json.RawMessage{}, files: map[string]*File{},
		prompts: map[string][]Prompt{}, sessions: map[string]string{}, titles: map[string]string{}, called: make(chan struct{}),
	}
	s.socket.open = map[*connection]bool{}
	s.socket.tickets = map[string]bool{}
	s.socket.waiting = map[string]chan json.RawMessage{}
	s.people[Bot] = &Person{server: s, ID: Bot, Name: "Cairn"}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", s.serveCall)
	mux.HandleFunc("POST /upload/{id}", s.serveUpload)
	mux.HandleFunc("GET /files/{id}/{name}", s.serveDownload)
	mux.HandleFunc("POST /respond/{id}", s.serveResponse)
	mux.HandleFunc("GET /socket/{ticket}", s.serveSocket)
	s.http = httptest.NewServer(mux)
	return s
}

// Close ends all connections and waits for deliveries that are under way.
func (s *Server) Close() {
	s.closeSockets()
	s.working.Wait()
	s.http.Close()
}

// Settle waits until nothing is being delivered.
func (s *Server) Settle() { s.working.Wait() }

// Await waits until something holds, asking it again after each call of the app's. It may use all
// exported methods.
func (s *Server) Await(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		called := s.called
		s.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-called:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// APIURL returns what the app uses in place of https://slack.com/api/.
func (s *Server) APIURL() string { return s.http.URL + "/api/" }

// BotUser returns the app's own user in the default workspace.
func (s *Server) BotUser() string { return Bot }

// Now returns the server's time.
func (s *Server) Now() time.Time { return s.clock.Now() }

// AddWorkspace installs the app in a further workspace.
func (s *Server) AddWorkspace(team, enterprise, token, bot string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = &install{team: team, enterprise: enterprise, bot: bot}
	s.people[bot] = &Person{server: s, ID: bot, Name: "Cairn", team: team}
}

// newTimestamp makes the ts of a new message; each is later than the one before.
func (s *Server) newTimestamp() string {
	s.order++
	return fmt.Sprintf("%d.%06d", s.clock.Now().Unix(), s.order)
}

func (s *Server) nextID(prefix string) string {
	s.serial++
	return fmt.Sprintf("%s%08d", prefix, s.serial)
}

// Call is one request of the app to the Web API.
type Call struct {
	Method string
	Error  string // "" where it was granted
	At     time.Time
	Args   map[string]string
}

// Calls returns the requests to a method, or to all for "", in their order.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, call := range s.calls {
		if method == "" || call.Method == method {
			found = append(found, call)
		}
	}
	return found
}

// Refused returns the calls that were answered by an error, those of faults and rate
// limits left out: what remains is the app's own doing.
func (s *Server) Refused() []Call {
	var found []Call
	for _, call := range s.Calls("") {
		if call.Error != "" && call.Error != errRateLimited && !strings.HasPrefix(call.Error, "fault:") {
			found = append(found, call)
		}
	}
	return found
}

// Fault is something that goes wrong with one request.
type Fault struct {
	Status     int           // HTTP status, such as 500; 0: 200 with Error
	RetryAfter time.Duration // sent with 429
	Error      string        // Slack's name of an error
	// Done has the request carried out first, so that only its answer is lost.
	Done bool
	// Hang has the request wait until the app gives up.
	Hang bool
	// Late has the request carried out this much later, in real time, whether or not the app
	// still waits: a busy API does so. With Hang it is that long after the app gave up, with
	// Done or alone that long after it asked; alone the answer is the request's own.
	Late time.Duration
}

// Fail has the next requests to a method go wrong, each by one of the faults.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// Disturb has requests go wrong as disturb says of each, but for those that Fail is for; nil
// ends that. It may be called concurrently.
func (s *Server) Disturb(disturb func(method string) (Fault, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disturb = disturb
}
