package discordtest

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
)

// Options says what a Server is like. The zero value is a Discord with Discord's limits on
// the machine's clock.
type Options struct {
	Now func() time.Time // nil: time.Now
	// Gateway says what the gateway is like. Its Token and Greeting are set by the server.
	Gateway gatewaytest.Options
	// Shards is how many the app is told to have; 0: 1.
	Shards int
	// MessageContent grants the privileged intent of that name.
	MessageContent bool
	// Public lets everybody add the app to a server; CodeGrant has that need a code grant.
	Public, CodeGrant bool
	// Limits are the rate limits; nil: Discord's.
	Limits *Limits
	// AnswerWithin is how long an interactions endpoint may take, in real time, besides
	// the 3 s of the server's clock; 0: 3 s.
	AnswerWithin time.Duration
}

// The app.
const (
	// Bot is the app's user, AppID the app: Discord gives new apps one id for both.
	Bot   = "1000000000000000001"
	AppID = Bot
	// Token is the bot's, without the word "Bot" before it; it begins with its id, as Discord's do.
	Token = "MTAwMDAwMDAwMDAwMDAwMDAwMQ.fake.token"
	// AppName is what people see the bot called.
	AppName = "Cairn"
)

// Server is a Discord.
type Server struct {
	http    *httptest.Server
	gateway *gatewaytest.Server
	options Options
	now     func() time.Time
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	feeding sync.Mutex // held while events are handed over, so that they keep their order

	performing sync.WaitGroup // requests that are carried out late
	closing    chan struct{}  // closed when the server ends

	mu           sync.Mutex
	people       map[string]*user
	guilds       []*guild
	channels     map[string]*channel
	messages     map[string]*message
	nonces       map[string]*message // the app's last message with each
	files        map[string]*file
	interactions map[string]*Interaction
	commands     map[string][]command // by guild, "" for global
	created      []time.Time          // when commands were created
	serial       uint64
	limits       limiter
	faults       map[string][]Fault
	choose       func(route string) *Fault // nil: nothing goes wrong but for faults
	requests     []Request
	events       []Event
	pending      []Event // not handed over yet
	typing       []Typing
	endpoint     string
	changed      chan struct{} // closed and replaced by whatever changes
}

// New returns a running Discord in which there are the app and nobody else. It ends with the
// test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Limits == nil {
		options.Limits = DiscordLimits()
	}
	if options.Shards == 0 {
		options.Shards = 1
	}
	if options.AnswerWithin == 0 {
		options.AnswerWithin = answerWithin
	}
	// A fixed seed: the key is a real one, and the same in every test.
	private := ed25519.NewKeyFromSeed([]byte("cairn discordtest interactions!!"))
	s := &Server{
		options: options, now: options.Now, private: private, public: private.Public().(ed25519.PublicKey),
		people: map[string]*user{}, channels: map[string]*channel{}, messages: map[string]*message{}, nonces: map[string]*message{}, files: map[string]*file{},
		interactions: map[string]*Interaction{}, commands: map[string][]command{}, faults: map[string][]Fault{},
		changed: make(chan struct{}), closing: make(chan struct{}),
	}
	s.limits = newLimiter(*options.Limits)
	s.people[Bot] = &user{ID: Bot, Name: AppName, bot: true}
	s.gateway = gatewaytest.NewWith(t, s.gatewayOptions())
	mux := http.NewServeMux()
	for _, is := range allRoutes() {
		mux.Handle(is.method+" /api"+is.path, s.serveRoute(is))
	}
	mux.HandleFunc("GET /attachments/{channel}/{id}/{name}", s.serveDownload)
	s.http = httptest.NewServer(s.versionHandler(mux))
	t.Cleanup(func() {
		close(s.closing)
		s.performing.Wait()
		s.http.Close()
	})
	return s
}

// URL returns where the server listens, without a slash at the end. The API is at /api/v10,
// attachments are at /attachments.
func (s *Server) URL() string { return s.http.URL }

// Client returns a client whose requests to Discord's hosts come to this server, and to
// no other host at all. Its connections end with the server.
func (s *Server) Client() *http.Client {
	address, err := url.Parse(s.http.URL)
	if err != nil {
		panic("discordtest: the server's own address: " + err.Error())
	}
	return &http.Client{Transport: rewriting{address, s.http.Client().Transport}, Timeout: time.Minute}
}

// rewriting sends what is for Discord's hosts to the server.
type rewriting struct {
	to   *url.URL
	with http.RoundTripper
}

var discordHosts = []string{"discord.com", "discordapp.com", "cdn.discordapp.com", "media.discordapp.net"}

func (r rewriting) RoundTrip(request *http.Request) (*http.Response, error) {
	host := request.URL.Hostname()
	if !slices.Contains(discordHosts, host) && request.URL.Host != r.to.Host {
		return nil, &url.Error{Op: request.Method, URL: request.URL.String(), Err: errForeignHost}
	}
	sent := request.Clone(request.Context())
	sent.URL.Scheme, sent.URL.Host, sent.Host = r.to.Scheme, r.to.Host, r.to.Host
	return r.with.RoundTrip(sent)
}

// Now returns the server's time.
func (s *Server) Now() time.Time { return s.now() }

// firstSecond is when Discord's ids begin, in ms since 1970.
const firstSecond = 1420070400000

// newSnowflake makes an id of now; each is later than the one before.
func (s *Server) newSnowflake() string {
	s.serial++
	return strconv.FormatUint(uint64(s.now().UnixMilli()-firstSecond)<<22|s.serial&(1<<22-1), 10)
}

// withLock calls do with the server locked. A mistake of the test's, which panics, leaves it
// unlocked: what the test has to clean up could wait for ever otherwise.
func (s *Server) withLock(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// withEvents calls do with the server locked, and hands over what happened.
func (s *Server) withEvents(do func()) {
	s.withLock(do)
	s.handOver()
}

// signalChange tells those who wait that something changed.
func (s *Server) signalChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await waits until holds gives true, asking it again whenever something changed. It
// may use all of the server's exported methods.
func (s *Server) Await(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Typing is somebody seen typing.
type Typing struct {
	Channel, User string
	At            time.Time
}

// Typed returns all typing of the app in a channel, in its order.
func (s *Server) Typed(channelID string) []Typing {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Typing
	for _, typing := range s.typing {
		if typing.Channel == channelID {
			found = append(found, typing)
		}
	}
	return found
}
