package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
)

const intents = 1<<0 | 1<<9 | 1<<12

// guild gives the id of a server on a shard, of so many.
func guild(shard int) string { return fmt.Sprint(int64(shard+8*125) << 22) }

// desk deals with events and remembers them.
type desk struct {
	mu      sync.Mutex
	changed chan struct{}
	got     []gateway.Dispatch
	ids     []string
	fault   func(d gateway.Dispatch) error
}

func newDesk() *desk { return &desk{changed: make(chan struct{})} }

func (d *desk) handle(_ context.Context, event gateway.Dispatch) error {
	d.mu.Lock()
	fault := d.fault
	d.mu.Unlock()
	if fault != nil {
		if err := fault(event); err != nil {
			return err
		}
	}
	var data struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(event.Data, &data) != nil {
		data.ID = "odd"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.got = append(d.got, event)
	if event.Type == "MESSAGE_CREATE" {
		d.ids = append(d.ids, data.ID)
	}
	close(d.changed)
	d.changed = make(chan struct{})
	return nil
}

// await waits until so many messages were dealt with, and gives their ids.
func (d *desk) await(t *testing.T, count int) []string {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		d.mu.Lock()
		ids, changed := slices.Clone(d.ids), d.changed
		d.mu.Unlock()
		if len(ids) >= count {
			return ids
		}
		select {
		case <-changed:
		case <-limit.C:
			t.Fatalf("waited in vain for %d messages, there are %q", count, ids)
		}
	}
}

func message(id, channel string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id":%q,"channel_id":%q,"content":"hello"}`, id, channel))
}

func discover(server *gatewaytest.Server, shards int) func(context.Context) (gateway.Bot, error) {
	return func(context.Context) (gateway.Bot, error) {
		limit := server.Limit()
		return gateway.Bot{URL: server.URL(), Shards: shards, Starts: gateway.StartLimit{
			MaxConcurrency: limit.MaxConcurrency, Remaining: limit.Remaining,
			ResetAfter: time.Duration(limit.ResetAfter) * time.Millisecond,
		}}, nil
	}
}

func optionsFor(t *testing.T, server *gatewaytest.Server, store *fleet.Memory) gateway.Options {
	return gateway.Options{
		Token: gatewaytest.Token, Intents: intents, Discover: discover(server, 1), Shards: store, Starts: store,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), LeaseTTL: 2 * time.Second,
		Pause: 10 * time.Millisecond, IdentifyWindow: 30 * time.Millisecond,
	}
}

// fast is a gateway whose clocks are fast.
func fast(t *testing.T) *gatewaytest.Server {
	return gatewaytest.NewWith(t, gatewaytest.Options{
		HeartbeatInterval: 200 * time.Millisecond, Grace: 5 * time.Second, IdentifyWindow: 5 * time.Millisecond, Sends: 10_000,
	})
}

// start runs a client until the test or stop ends it.
func start(t *testing.T, options gateway.Options, handle gateway.Handler) (stop func() error) {
	t.Helper()
	client, err := gateway.New(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- client.Run(ctx, handle) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-result
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return stop
}

func connected(shards ...int) func(gatewaytest.State) bool {
	return func(s gatewaytest.State) bool { return slices.Equal(s.Connected, shards) }
}

// proper fails where the gateway had to refuse something.
func proper(t *testing.T, server *gatewaytest.Server) {
	t.Helper()
	if refused := server.State().Refused; len(refused) > 0 {
		t.Errorf("the client did wrong: %q", refused)
	}
}

// TestSessionSurvives does to a connection all after which Discord lets it be resumed.
func TestSessionSurvives(t *testing.T) {
	for name, hurt := range map[string]func(*gatewaytest.Server){
		"op 7":        func(s *gatewaytest.Server) { s.Reconnect(0) },
		"op 9 true":   func(s *gatewaytest.Server) { s.Invalidate(0, true) },
		"cut":         func(s *gatewaytest.Server) { s.Cut(0) },
		"zombie":      func(s *gatewaytest.Server) { s.Zombie(0) },
		"close 4000":  func(s *gatewaytest.Server) { s.Close(0, 4000, "unknown error") },
		"close 4008":  func(s *gatewaytest.Server) { s.Close(0, 4008, "rate limited") },
		"close 1012":  func(s *gatewaytest.Server) { s.Close(0, 1012, "restart") },
		"close 1001":  func(s *gatewaytest.Server) { s.Close(0, 1001, "going away") },
		"asked twice": func(s *gatewaytest.Server) { s.AskHeartbeat(0); s.Reconnect(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, at := fast(t), newDesk()
			start(t, optionsFor(t, server, fleet.NewMemory()), at.handle)
			server.Await("the shard", connected(0))
			server.Dispatch(guild(0), "MESSAGE_CREATE", message("1", "c"))
			at.await(t, 1)
			hurt(server)
			server.Dispatch(guild(0), "MESSAGE_CREATE", message("2", "c"))
			server.Await("a resume", func(s gatewaytest.State) bool { return len(s.Resume) >= 1 })
			server.Dispatch(guild(0), "MESSAGE_CREATE", message("3", "c"))
			if got := at.await(t, 3); !slices.Equal(got, []string{"1", "2", "3"}) {
				t.Errorf("got %q", got)
			}
			if state := server.State(); len(state.Identify) != 1 {
				t.Errorf("identified %d times", len(state.Identify))
			}
			proper(t, server)
		})
	}
}

// TestSessionEnds does what ends a session: the client identifies anew.
func TestSessionEnds(t *testing.T) {
	for name, hurt := range map[string]func(*gatewaytest.Server){
		"op 9 false": func(s *gatewaytest.Server) { s.Invalidate(0, false) },
		"close 4007": func(s *gatewaytest.Server) { s.Close(0, 4007, "invalid seq") },
		"close 4009": func(s *gatewaytest.Server) { s.Close(0, 4009, "timed out") },
		"outage":     func(s *gatewaytest.Server) { s.Forget() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, at := fast(t), newDesk()
			start(t, optionsFor(t, server, fleet.NewMemory()), at.handle)
			server.Await("the shard", connected(0))
			hurt(server)
			server.Await("another session", func(s gatewaytest.State) bool {
				return len(s.Identify) == 2 && slices.Equal(s.Connected, []int{0})
			})
			server.Dispatch("", "MESSAGE_CREATE", message("1", "dm"))
			at.await(t, 1)
			proper(t, server)
		})
	}
}

func TestNoAnswerToIdentify(t *testing.T) {
	server := fast(t)
	server.Mute()
	start(t, optionsFor(t, server, fleet.NewMemory()), newDesk().handle)
	server.Await("the second try", func(s gatewaytest.State) bool {
		return len(s.Identify) == 2 && slices.Equal(s.Connected, []int{0})
	})
	proper(t, server)
}

func TestWhatIsForGoodEndsRun(t *testing.T) {
	for _, test := range []struct {
		name, says string
		code       int
		change     func(*gateway.Options)
	}{
		{"bad token", "take the one of", 0, func(o *gateway.Options) { o.Token = "wrong" }},
		{"unknown intents", "fault of Cairn's", 0, func(o *gateway.Options) { o.Intents = 1 << 30 }},
		{"disallowed intents", "switch on MESSAGE CONTENT", 0, func(o *gateway.Options) { o.Intents |= 1 << 15 }},
		{"too few shards", "restart all replicas", 4011, nil},
		{"old version", "upgrade Cairn", 4012, nil},
		{"bad shard", "fault of Cairn's", 4010, nil},
		{"said by the caller", "no such bot", 0, func(o *gateway.Options) {
			o.Discover = func(context.Context) (gateway.Bot, error) {
				return gateway.Bot{}, &gateway.PermanentError{Reason: "no such bot"}
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := gatewaytest.NewWith(t, gatewaytest.Options{Refused: 1 << 15})
			options := optionsFor(t, server, fleet.NewMemory())
			if test.change != nil {
				test.change(&options)
			}
			client, err := gateway.New(options)
			if err != nil {
				t.Fatal(err)
			}
			result := make(chan error, 1)
			go func() { result <- client.Run(t.Context(), newDesk().handle) }()
			if test.code != 0 {
				server.Await("the shard", connected(0))
				server.Close(0, test.code, "for good")
			}
			err = <-result
			if _, ok := errors.AsType[*gateway.PermanentError](err); !ok || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want one that says %q", err, test.says)
			}
		})
	}
}

// TestNothingIsConfirmedBeforeItIsDealtWith has an event fail: it is given again, and what
// came after it in other channels is dealt with but replayed to a successor.
func TestNothingIsConfirmedBeforeItIsDealtWith(t *testing.T) {
	server, at, store := fast(t), newDesk(), fleet.NewMemory()
	tried := make(chan struct{})
	var tell sync.Once
	at.fault = func(d gateway.Dispatch) error {
		if strings.Contains(string(d.Data), `"id":"2"`) {
			tell.Do(func() { close(tried) })
			return errors.New("the store is away")
		}
		return nil
	}
	stop := start(t, optionsFor(t, server, store), at.handle)
	server.Await("the shard", connected(0))
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("1", "a"))
	at.await(t, 1)
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("2", "a"))
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("3", "a"))
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("4", "b"))
	if got := at.await(t, 2); !slices.Equal(got, []string{"1", "4"}) {
		t.Errorf("got %q: 3 has to wait for 2, 4 has not", got)
	}
	<-tried
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	next := newDesk()
	start(t, optionsFor(t, server, store), next.handle)
	got := next.await(t, 3)
	if slices.Sort(got); !slices.Equal(got, []string{"2", "3", "4"}) {
		t.Errorf("the successor got %q", got)
	}
	if state := server.State(); len(state.Identify) != 1 || len(state.Resume) != 1 {
		t.Errorf("it did not resume: %+v", state)
	}
	proper(t, server)
}

// fadingShards is a store that keeps a session once it has an id, and then nothing more:
// a replica that dies now leaves behind what was kept first.
type fadingShards struct {
	*fleet.Memory
	kept chan struct{} // closed once it is kept
}

func (f *fadingShards) Save(ctx context.Context, lease gateway.Lease, session gateway.Session) error {
	select {
	case <-f.kept:
		return errors.New("the store is away")
	default:
	}
	err := f.Memory.Save(ctx, lease, session)
	if err == nil && session.ID != "" {
		close(f.kept)
	}
	return err
}

func (f *fadingShards) Release(context.Context, gateway.Lease, gateway.Session) error {
	return errors.New("the store is away")
}

// TestHeartbeatsTellOnlyWhatIsKept kills a replica after heartbeats that followed events
// that the store never heard of: its successor gets them again.
func TestHeartbeatsTellOnlyWhatIsKept(t *testing.T) {
	server, at, store := fast(t), newDesk(), fleet.NewMemory()
	options := optionsFor(t, server, store)
	shards := &fadingShards{Memory: store, kept: make(chan struct{})}
	options.Shards = shards
	stop := start(t, options, at.handle)
	<-shards.kept // before any event: its number is not in what was kept
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("1", "a"))
	at.await(t, 1)
	beats := server.State().Beats
	server.Await("heartbeats", func(s gatewaytest.State) bool { return s.Beats >= beats+2 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	next := newDesk()
	start(t, optionsFor(t, server, store), next.handle)
	next.await(t, 1)
	if state := server.State(); len(state.Identify) != 1 || len(state.Resume) != 1 {
		t.Errorf("it did not resume: %+v", state)
	}
	proper(t, server)
}

// TestReplayIsHandedOverOnce resumes while an event is being dealt with.
func TestReplayIsHandedOverOnce(t *testing.T) {
	server, at := fast(t), newDesk()
	entered, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	leave := sync.OnceFunc(func() { close(free) })
	at.fault = func(d gateway.Dispatch) error {
		if strings.Contains(string(d.Data), `"id":"1"`) {
			once.Do(func() { close(entered) })
			<-free
		}
		return nil
	}
	start(t, optionsFor(t, server, fleet.NewMemory()), at.handle)
	t.Cleanup(leave)
	server.Await("the shard", connected(0))
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("1", "a"))
	<-entered
	server.Reconnect(0)
	server.Await("a resume", func(s gatewaytest.State) bool { return len(s.Resume) >= 1 })
	leave()
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("2", "a"))
	if got := at.await(t, 2); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("got %q", got)
	}
}

// TestAReplayedREADY ends a connection before anything was dealt with: READY is replayed
// with the rest, and nothing is handed over twice.
func TestAReplayedREADY(t *testing.T) {
	server, at := fast(t), newDesk()
	free := make(chan struct{})
	leave := sync.OnceFunc(func() { close(free) })
	at.fault = func(d gateway.Dispatch) error {
		if d.Type == "READY" {
			<-free
		}
		return nil
	}
	start(t, optionsFor(t, server, fleet.NewMemory()), at.handle)
	t.Cleanup(leave)
	server.Await("the shard", connected(0))
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("1", "a"))
	at.await(t, 1)
	server.Reconnect(0)
	server.Await("a resume", func(s gatewaytest.State) bool { return len(s.Resume) >= 1 })
	leave()
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("2", "a"))
	if got := at.await(t, 2); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("got %q", got)
	}
	proper(t, server)
}

// TestBrokenEvents are told of and passed over; odd ones are handed over as they are.
func TestBrokenEvents(t *testing.T) {
	server, at := fast(t), newDesk()
	at.fault = func(d gateway.Dispatch) error {
		if strings.Contains(string(d.Data), "panic") {
			panic("a handler's mistake")
		}
		return nil
	}
	start(t, optionsFor(t, server, fleet.NewMemory()), at.handle)
	server.Await("the shard", connected(0))
	server.Mangle("MESSAGE_CREATE")
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("lost", "a"))
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("panic", "a"))
	odd := []string{`null`, `[]`, `"x"`, `{"id":7,"channel_id":[]}`, `{"channel_id":{}}`, `0`}
	for _, data := range odd {
		server.Dispatch(guild(0), "MESSAGE_CREATE", json.RawMessage(data))
	}
	server.Dispatch(guild(0), "MESSAGE_CREATE", message("last", "a"))
	got := at.await(t, len(odd)+1)
	if slices.Contains(got, "lost") || slices.Contains(got, "panic") || !slices.Contains(got, "last") {
		t.Errorf("got %q", got)
	}
	server.Await("all to be confirmed", func(s gatewaytest.State) bool { return s.Pending == 0 })
	proper(t, server)
}

// TestFullDeskIsNoZombie keeps so much waiting that nothing is read for many heartbeats.
func TestFullDeskIsNoZombie(t *testing.T) {
	server := gatewaytest.NewWith(t, gatewaytest.Options{
		HeartbeatInterval: 500 * time.Millisecond, Grace: 5 * time.Second, IdentifyWindow: 5 * time.Millisecond, Sends: 10_000,
	})
	at, free := newDesk(), make(chan struct{})
	leave := sync.OnceFunc(func() { close(free) })
	at.fault = func(d gateway.Dispatch) error {
		if d.Type == "MESSAGE_CREATE" {
			<-free
		}
		return nil
	}
	options := optionsFor(t, server, fleet.NewMemory())
	options.InFlight = 2
	start(t, options, at.handle)
	t.Cleanup(leave)
	server.Await("the shard", connected(0))
	before := server.State().Beats
	for i := range 20 {
		server.Dispatch(guild(0), "MESSAGE_CREATE", message(fmt.Sprint(i), "a"))
	}
	server.Await("three heartbeats", func(s gatewaytest.State) bool { return s.Beats >= before+3 })
	leave()
	at.await(t, 20)
	if state := server.State(); len(state.Resume) != 0 || len(state.Closed) != 0 {
		t.Errorf("the connection did not last: %+v", state)
	}
	proper(t, server)
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	_, err := gateway.New(gateway.Options{LeaseTTL: -1})
	for _, want := range []string{"token is missing", "Starts and Logger is missing", "below zero"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err = gateway.New(gateway.Options{LeaseTTL: 1}); err == nil || !strings.Contains(err.Error(), "give 100ms or more") {
		t.Errorf("got %v", err)
	}
}
