package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/telemetry"
	"github.com/cairn-bot/cairn/internal/telemetry/telemetrytest"
)

// reader is a conversation in which nobody reads.
type reader struct{}

func (reader) Progress(context.Context, chat.Progress) error { return nil }
func (reader) Reply(context.Context, chat.Reply) error       { return nil }
func (reader) Ask(context.Context, chat.Question) error      { return nil }

// BenchmarkHandle is the echo flow from the message to its reply, over embedded stores: not
// measured, with metrics, and with traces as well.
func BenchmarkHandle(b *testing.B) {
	logger := slog.New(slog.DiscardHandler)
	measure := func(b *testing.B, traces *telemetry.Traces) *telemetry.Telemetry {
		made, err := telemetry.New(b.Context(), telemetry.Options{Adapters: []string{"test"}, Traces: traces, Logger: logger})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { made.Close(context.Background()) })
		return made
	}
	for _, test := range []struct {
		name string
		by   func(b *testing.B) *telemetry.Telemetry
	}{
		{"off", func(*testing.B) *telemetry.Telemetry { return nil }},
		{"metrics", func(b *testing.B) *telemetry.Telemetry { return measure(b, nil) }},
		{"traces", func(b *testing.B) *telemetry.Telemetry {
			return measure(b, &telemetry.Traces{URL: telemetrytest.New(b, nil).URL + "/v1/traces"})
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			by := test.by(b)
			worker := openStores(b).bot(b, by, nil, logger)
			leave := openWork(worker)
			defer leave()
			handler := by.Intake(worker)
			for i := 0; b.Loop(); i++ {
				message := chat.Message{ID: chat.MessageID(fmt.Sprint("m", i)), Thread: "test:bench", Author: "ann", Text: "echo hello there"}
				if err := handler.Handle(b.Context(), message, reader{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
