package discord

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/posttest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// feed is a gateway that hands over a server's events, one by one, without a connection.
type feed struct {
	server *discordtest.Server
	more   chan struct{} // holds one, whenever one was dealt with

	mu     sync.Mutex
	passed int
	failed []error
}

func (f *feed) Run(ctx context.Context, handle gateway.Handler) error {
	for {
		events := f.server.Events("")
		f.mu.Lock()
		at := f.passed
		f.mu.Unlock()
		if at == len(events) {
			err := f.server.Await(ctx, func() bool { return len(f.server.Events("")) > at })
			if ctx.Err() != nil {
				return nil //nolint:nilerr // it was asked to end
			}
			if err != nil {
				return err
			}
			continue
		}
		err := handle(ctx, gateway.Dispatch{Type: events[at].Type, Data: events[at].Data})
		f.mu.Lock()
		f.passed = at + 1
		if err != nil {
			f.failed = append(f.failed, err)
		}
		f.mu.Unlock()
		select {
		case f.more <- struct{}{}:
		default:
		}
	}
}

func (f *feed) done() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.passed == len(f.server.Events(""))
}

// kept are settings in a file, and tickets in memory.
type kept struct {
	settings.Store
	mu      sync.Mutex
	tickets map[string]Ticket
}

func newKept(t testing.TB) *kept {
	t.Helper()
	return &kept{Store: settings.OpenSQLite(sqlitetest.Open(t, t.TempDir())), tickets: map[string]Ticket{}}
}

func (k *kept) Keep(_ context.Context, interaction string, ticket Ticket) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tickets[interaction] = ticket
	return nil
}

func (k *kept) Ticket(_ context.Context, interaction string) (Ticket, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tickets[interaction], nil
}

// team is a server with the adapter in it.
type team struct {
	*discordtest.Server
	clock    *discordtest.Clock
	guild    *discordtest.Guild
	bot      *posttest.Bot
	adapter  *Adapter
	store    *kept
	feed     *feed
	log      logged
	ann, ben string
	general  string
}

// newTeam has the adapter hear by the gateway; change adjusts its options.
func newTeam(t *testing.T, change func(*Options)) *team {
	t.Helper()
	clock := discordtest.NewClock(chattest.Now)
	server := discordtest.New(t, discordtest.Options{Now: clock.Now, MessageContent: true, Limits: discordtest.NoLimits()})
	w := &team{
		Server: server, clock: clock, guild: server.Guild("Team"), feed: &feed{server: server, more: make(chan struct{}, 1)},
		bot:   posttest.New(),
		store: newKept(t),
	}
	w.ann, w.ben, w.general = w.guild.Member("Ann"), w.guild.Member("Ben"), w.guild.Channel("general")
	options := Options{
		Token: discordtest.Token, Settings: w.store, Tickets: w.store, Gateway: w.feed, HearsAll: true, Client: server.Client(), Now: clock.Now,
		Logger: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Humans: func(string, string) []string { return []string{w.ben} },
	}
	if change != nil {
		change(&options)
	}
	if changed, err := Register(t.Context(), server.Client(), discordtest.Token); !changed || err != nil {
		t.Fatalf("Register = %v, %v", changed, err)
	}
	w.adapter = w.process(t, options)
	w.bot.Through(w.adapter)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.adapter.Run(ctx, w.bot) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		if t.Failed() {
			t.Logf("log:\n%s", w.log.String())
		}
	})
	select {
	case <-w.adapter.Ready():
	case err := <-ended:
		ended <- err
		t.Fatalf("run: %v", err)
	}
	return w
}

// process is an adapter with these options, as another process has it.
func (w *team) process(t *testing.T, options Options) *Adapter {
	t.Helper()
	made, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// settle waits until the adapter has dealt with all that happened.
func (w *team) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !w.feed.done() {
		select {
		case <-w.feed.more:
		case <-ctx.Done():
			t.Fatal("the events are not dealt with")
		}
	}
}

// clean fails the test where the app did what Discord refuses, or logged what it must not.
func (w *team) clean(t *testing.T) {
	t.Helper()
	w.settle(t)
	for _, refused := range w.Refused() {
		t.Errorf("refused: %+v", refused)
	}
	for _, err := range w.feed.failed {
		t.Errorf("an event was not dealt with: %v", err)
	}
	for _, secret := range []string{discordtest.Token, "interaction-", "roll back", "hello"} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

// byBot gives the messages of the bot's in a channel that all see.
func (w *team) byBot(channel string) []discordtest.Message {
	return slices.DeleteFunc(w.Messages(channel), func(m discordtest.Message) bool {
		return m.Author != discordtest.Bot || m.Only != "" || m.Deleted
	})
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var update = flag.Bool("update", false, "write golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what %s says; if it should be: go test . -update\n%s", name, path, got)
	}
}
