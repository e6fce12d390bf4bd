package bot_test

import (
	"log/slog"
	"testing"

	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/echo"
	runs "cairn/internal/runs/embedded"
	sessions "cairn/internal/session/embedded"
)

// BenchmarkHandle is what the bot adds to a run: echo itself does nothing. The stores
// are the embedded ones, and the thread's memory is full.
func BenchmarkHandle(b *testing.B) {
	dir := b.TempDir()
	store, err := sessions.Open(b.Context(), dir, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	checkpoints, err := runs.Open(b.Context(), dir, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer checkpoints.Close()
	recorded, err := runs.OpenRecords(b.Context(), dir, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer recorded.Close()
	echoes, err := echo.New()
	if err != nil {
		b.Fatal(err)
	}
	made := bot.New(bot.Options{
		Sessions: store, Checkpoints: checkpoints, Records: recorded, Flows: []flows.Flow{echoes},
		Logger: slog.New(slog.DiscardHandler),
	})
	for b.Loop() {
		message := chat.Message{ID: "m", Thread: "bench:1", Author: "ann", Text: "hello there"}
		if err := made.Handle(b.Context(), message, &heard{}); err != nil {
			b.Fatal(err)
		}
	}
}
