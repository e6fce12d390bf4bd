package bot_test

import (
	"fmt"
	"testing"

	"cairn/internal/chat"
)

// BenchmarkHandle is what the bot adds to a run: echo itself does nothing. The stores
// are the embedded ones, and the thread's memory is full.
func BenchmarkHandle(b *testing.B) {
	o := newOffice(b)
	for i := 0; b.Loop(); i++ {
		message := chat.Message{ID: chat.MessageID(fmt.Sprint("m", i)), Thread: "test:bench", Author: "ann", Text: "echo hello there"}
		if err := o.bot.Handle(b.Context(), message, &heard{}); err != nil {
			b.Fatal(err)
		}
	}
}
