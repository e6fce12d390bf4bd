package slack

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/posttest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// team is a workspace with the adapter in it.
type team struct {
	*slacktest.Server
	clock   *slacktest.Manual
	bot     *posttest.Bot
	adapter *Adapter
	log     logged
	store   *settings.SQLite // of settings
	ann     *slacktest.Person
	ben     *slacktest.Person
	general string
}

// newTeam has the adapter hear by HTTP, or by Socket Mode.
func newTeam(t *testing.T, socket bool) *team {
	t.Helper()
	clock := slacktest.NewManual(chattest.Now)
	server := slacktest.New(slacktest.Options{Clock: clock, PingEvery: 50 * time.Millisecond, AckWithin: ackTime(socket)})
	t.Cleanup(server.Close)
	w := &team{Server: server, clock: clock, bot: posttest.New(), store: openSettings(t)}
	w.ann, w.ben, w.general = server.Person("U0ANN", "Ann"), server.Person("U0BEN", "Ben"), server.Channel("C0GENERAL", "general")
	options := w.options(server)
	if socket {
		options.AppToken, options.SigningSecret = slacktest.AppToken, ""
	}
	adapter, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	adapter.clock.wait = func(_ context.Context, d time.Duration) error { clock.Advance(d); return nil }
	adapter.clock.now, adapter.receiver.silence = clock.Now, 500*time.Millisecond
	w.adapter = adapter
	w.bot.Through(adapter)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- adapter.Run(ctx, w.bot) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		if t.Failed() {
			t.Logf("log:\n%s", w.log.String())
		}
	})
	if !socket {
		app := httptest.NewServer(http.StripPrefix("/slack", adapter.Handler()))
		t.Cleanup(app.Close)
		server.Subscribe(app.URL+"/slack/events", app.URL+"/slack/interactive", app.URL+"/slack/commands")
		<-adapter.Ready()
	}
	return w
}

func openSettings(t testing.TB) *settings.SQLite {
	t.Helper()
	return settings.OpenSQLite(sqlitetest.Open(t, t.TempDir()))
}

// options are those of an adapter that hears by HTTP.
func (w *team) options(server *slacktest.Server) Options {
	now := time.Now
	if w.clock != nil {
		now = w.clock.Now
	}
	return Options{
		Turns:      pace.NewLocal(now),
		Workspaces: NewSingle(slacktest.BotToken, server.APIURL(), nil), APIURL: server.APIURL(), SigningSecret: slacktest.SigningSecret,
		Logger:   slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Settings: w.store,
		Prompts: func(_ context.Context, collections []string) ([]interact.Prompt, error) {
			prompts := []interact.Prompt{{Title: "Roll back", Message: "How do I roll back?"}}
			for _, collection := range collections {
				prompts[0].Title += " @" + collection
			}
			for _, more := range []string{"b", "c", "d", "e"} {
				prompts = append(prompts, interact.Prompt{Title: more, Message: more})
			}
			return prompts, nil
		},
	}
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

// ackTime is short for sockets that are made to stall.
func ackTime(socket bool) time.Duration {
	if socket {
		return 2 * time.Second
	}
	return 0
}
