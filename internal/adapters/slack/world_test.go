package slack

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/internal/adapters/slack/slacktest"
	"cairn/internal/chat"
	"cairn/internal/chat/chattest"
)

// talker is a bot that posts: a scripted one whose conversations are the adapter's
// Post and Edit. It answers before Handle returns, so that tests know what comes when.
type talker struct {
	chattest.Bot
	adapter *Adapter

	mu     sync.Mutex
	seen   map[string]bool
	posted int
	open   map[chat.ThreadID]asked1 // the question that waits in a thread
	fail   error                    // of the next Handle
}

type asked1 struct {
	at       chat.MessageID
	question chat.Question
}

func (t *talker) Handle(ctx context.Context, message chat.Message, _ chat.Conversation) error {
	t.mu.Lock()
	key := string(message.Thread) + " " + string(message.ID)
	again, err := t.seen[key], t.fail
	t.fail = nil
	if err == nil {
		t.seen[key] = true
	}
	was, waits := t.open[message.Thread]
	t.mu.Unlock()
	if again || err != nil {
		return err
	}
	if waits && was.question.Asker != "" && was.question.Asker != message.Author {
		return chat.ErrForbidden
	}
	if waits {
		answer := message.Text
		if message.Answers != nil {
			answer = message.Answers.Choice
		}
		t.mu.Lock()
		delete(t.open, message.Thread)
		t.mu.Unlock()
		if err := t.adapter.Edit(ctx, message.Thread, was.at, chat.Post{Question: &was.question, Answer: answer, AnsweredBy: message.Author}); err != nil {
			return err
		}
	}
	return t.Bot.Handle(ctx, message, &voice{t, message})
}

// voice is a conversation of a talker's.
type voice struct {
	*talker
	message chat.Message
}

func (v *voice) key() chat.PostKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.posted++
	return chat.PostKey(fmt.Sprintf("key%021d", v.posted))
}

func (v *voice) Progress(context.Context, chat.Progress) error { return nil }

func (v *voice) Reply(ctx context.Context, reply chat.Reply) error {
	_, err := v.adapter.Post(ctx, v.message.Thread, v.key(), chat.Post{To: v.message.ID, Reply: &reply})
	return err
}

func (v *voice) Ask(ctx context.Context, question chat.Question) error {
	question.Asker = v.message.Author
	id, err := v.adapter.Post(ctx, v.message.Thread, v.key(), chat.Post{To: v.message.ID, Question: &question})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open[v.message.Thread] = asked1{id, question}
	return err
}

// team is a workspace with the adapter in it.
type team struct {
	*slacktest.Server
	clock   *slacktest.Manual
	bot     *talker
	adapter *Adapter
	log     logged
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
	w := &team{Server: server, clock: clock, bot: &talker{seen: map[string]bool{}, open: map[chat.ThreadID]asked1{}}}
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
	adapter.clock.now, adapter.silence = clock.Now, 500*time.Millisecond
	w.adapter, w.bot.adapter = adapter, adapter
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

// options are those of an adapter that hears by HTTP.
func (w *team) options(server *slacktest.Server) Options {
	return Options{
		Workspaces: NewSingle(slacktest.BotToken, server.APIURL(), nil), APIURL: server.APIURL(), SigningSecret: slacktest.SigningSecret,
		Logger: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Prompts: func(context.Context) ([]Prompt, error) {
			return []Prompt{{"Roll back", "How do I roll back?"}, {"b", "b"}, {"c", "c"}, {"d", "d"}, {"e", "e"}}, nil
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
