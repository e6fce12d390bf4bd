package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
)

// watching is a chat.Conversation that is streamed to, and calls shown at the first text.
type watching struct {
	collected
	streamed strings.Builder
	shown    func()
}

var _ chat.Streamer = (*watching)(nil)

func (w *watching) Stream(_ context.Context, token chat.Token) error {
	w.streamed.WriteString(token.Text)
	if w.shown != nil && w.streamed.Len() > 0 {
		w.shown()
		w.shown = nil
	}
	return nil
}

// TestAnswersAreStreamed has the server hold the rest of its reply back until the person
// sees its first sentence.
func TestAnswersAreStreamed(t *testing.T) {
	seen := make(chan struct{})
	server := llmtest.New(t)
	server.On(llmtest.Any, llmtest.Text("You have 28 days of leave a year [1]. ", "They expire in March [1].").WaitFor(1, seen))
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "leave.md"), []byte("# Leave\n\nYou have 28 days of leave a year. They expire in March.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host := config.Host{OS: "linux", Home: t.TempDir(), WorkDir: t.TempDir(), Getenv: func(string) string { return "" }}
	configured := config.Defaults(host)
	configured.Models = []config.Model{{
		Roles: []config.Role{config.RoleAnswer}, BaseURL: server.URL, Name: "gpt-test", Key: config.Key{Secret: llm.NewSecret(llmtest.Key)},
	}}
	a, err := app.Open(t.Context(), app.NewSetup(configured, os.Stderr), app.Options{Index: app.WriteIndex})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := a.Ingester(nil).Sync(t.Context(), app.NewConnector("", config.Source{Name: "docs", Path: folder})); err != nil {
		t.Fatal(err)
	}
	a.StartWork(t.Context())
	conversation := &watching{shown: func() { close(seen) }}
	message := chat.Message{ID: "1", Thread: chat.NewThreadID("web", "1"), Author: "ann", Text: "how many days of leave do I have?", At: time.Now()}
	if err := a.Bot.Handle(t.Context(), message, conversation); err != nil {
		t.Fatal(err)
	}
	const want = "You have 28 days of leave a year [1]. They expire in March [1]."
	if conversation.reply == nil || conversation.reply.Text != want || conversation.streamed.String() != want {
		t.Errorf("streamed %q, replied %+v, want %q", conversation.streamed.String(), conversation.reply, want)
	}
}
