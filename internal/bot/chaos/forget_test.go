package chaos

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
	redisruns "github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// TestWhatRedisForgetsIsNotPostedAgain kills a Redis that forgets what was done about a
// message, as one does that does not write through: the message is worked at again, and
// people see one answer.
func TestWhatRedisForgetsIsNotPostedAgain(t *testing.T) {
	server := servertest.OwnRedis(t)
	platform := &chattest.Platform{}
	remote := httptest.NewServer(platform)
	defer remote.Close()
	t.Setenv(envStore, server.URL)
	t.Setenv(envPlatform, remote.URL)
	t.Setenv(envSkew, "0s")
	logger := slog.New(slog.DiscardHandler)
	made, closers, err := newBot(t.Context(), logger)
	if err != nil {
		t.Fatal(err)
	}
	message := chat.Message{ID: "m1", Thread: "platform:1", Author: "ann", Text: "dig 1", At: time.Now()}
	if err := made.Handle(t.Context(), message, nil); err != nil {
		t.Fatal(err)
	}
	client, err := conn.Open(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	closers = append(closers, client.Close)
	if err := client.ConfigSet(t.Context(), "appendonly", "no").Err(); err != nil { // what comes is forgotten
		t.Fatal(err)
	}
	queues, err := redisruns.Open(t.Context(), client, redisruns.Options{Options: times(), Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	closers = append(closers, queues.Close)
	working, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { made.Work(working) })

	drained(t, queues, message.Thread)
	first := platform.Posted(message.Thread)
	server.Kill()
	server.Start()
	if state, err := queues.State(t.Context(), message.Thread); err != nil || state.Queued != 1 {
		t.Fatalf("Redis forgot nothing: %+v, %v", state, err)
	}
	drained(t, queues, message.Thread)
	stop()
	work.Wait()
	second := platform.Posted(message.Thread)
	if len(first) != 1 || len(second) != 1 || second[0].ID != first[0].ID || second[0].Edits != 1 {
		t.Errorf("people saw %+v, and then %+v", first, second)
	}
	for i := len(closers) - 1; i >= 0; i-- {
		if err := closers[i](); err != nil {
			t.Error(err)
		}
	}
}

// drained waits until a thread has no more work.
func drained(t *testing.T, queues runs.Operator, thread chat.ThreadID) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), *limit)
	defer cancel()
	for {
		state, err := queues.State(ctx, thread)
		if err == nil && state.Queued == 0 {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the thread still stands at %+v, %v", state, err)
		}
		wait(ctx, 20*time.Millisecond)
	}
}
