package bot_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
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

var reach = flag.Int("reach", 1, "how many threads BenchmarkReach has a message in")

// BenchmarkReach has one message in each of several new threads, from Handle to its reply. make
// reach compares the coverage of two such runs.
func BenchmarkReach(b *testing.B) {
	o := newOffice(b)
	for i := range *reach {
		message := chat.Message{ID: "m", Thread: chat.ThreadID(fmt.Sprint("test:", i)), Author: "ann", Text: "echo hello there"}
		if err := o.bot.Handle(b.Context(), message, &heard{}); err != nil {
			b.Fatal(err)
		}
	}
}
