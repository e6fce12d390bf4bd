package openai_test

import (
	"context"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// BenchmarkFirstToken is the time from the moment at which the server writes the first
// token to that at which onToken is called with it.
func BenchmarkFirstToken(b *testing.B) {
	server := llmtest.New(b)
	var written time.Time
	server.On(llmtest.Any, llmtest.Text("one ", "two").Before(0, func(context.Context) { written = time.Now() }))
	model := mustOpen(b, openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Gate: gate.Options{Retries: -1},
	})
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Count."}}}
	var sum, worst time.Duration
	for b.Loop() {
		var took time.Duration
		if _, err := model.Chat(b.Context(), request, func(string) {
			if took == 0 {
				took = time.Since(written)
			}
		}); err != nil {
			b.Fatal(err)
		}
		sum += took
		worst = max(worst, took)
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(b.N), "µs/first-token")
	b.ReportMetric(float64(worst.Microseconds()), "µs/worst")
}

// BenchmarkStructured is a whole request with a schema, mostly validation and the wire.
func BenchmarkStructured(b *testing.B) {
	server := llmtest.New(b)
	server.On(llmtest.Any, llmtest.JSON(`{"n":1}`))
	model := mustOpen(b, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o"})
	request := markedRequest()
	for b.Loop() {
		if _, err := model.Chat(b.Context(), request, nil); err != nil {
			b.Fatal(err)
		}
	}
}
