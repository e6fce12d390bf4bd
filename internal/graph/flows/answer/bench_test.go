package answer_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
)

// BenchmarkFirstToken measures how long the first token of an answer is under way, from
// when the model's server has it to send until a run's observer has it.
func BenchmarkFirstToken(b *testing.B) {
	f := open(b)
	server := llmtest.New(b)
	var sent atomic.Int64
	server.On(isAnswer, llmtest.Text("You ", "have ", "28 ", "days ", "of leave a year [1].").Before(0, func(context.Context) {
		sent.Store(time.Now().UnixNano())
	}))
	flow := f.with(b, answer.Options{Models: answer.Models{Answer: modelOf(b, server, nil)}})
	var took []time.Duration
	for b.Loop() {
		first := true
		_, err := flow.Start(b.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{Observe: func(event graph.Event) {
			if first && event.Kind == graph.Token {
				first = false
				took = append(took, time.Duration(time.Now().UnixNano()-sent.Load()))
			}
		}})
		if err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkFirstWord measures what Cairn itself adds to the time until the first word of an
// answer: from the question until a run's observer has it, with models that reply at once.
func BenchmarkFirstWord(b *testing.B) {
	f := open(b)
	server := llmtest.New(b)
	server.On(llmtest.Schema("understand"), llmtest.Value(plain("When do I return a laptop?")))
	server.On(isAnswer, llmtest.Text("You ", "have ", "28 ", "days ", "of leave a year [1]. ", "That is all."))
	model := modelOf(b, server, nil)
	flow := f.with(b, answer.Options{Models: answer.Models{Understand: model, Answer: model}})
	for name, request := range map[string]flows.Request{
		"first": {Run: "r", Text: "how many days of leave do I get?"},
		"follow-up": {Run: "r", Text: "and when must it go back?", History: []flows.Turn{
			{Role: flows.User, Text: "where do I get a laptop?"}, {Role: flows.Assistant, Text: "From the help desk in room 12 [1]."},
		}},
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begun, first := time.Now(), true
				_, err := flow.Start(b.Context(), request, flows.Runtime{Observe: func(event graph.Event) {
					if first && event.Kind == graph.Token {
						first = false
						took = append(took, time.Since(begun))
					}
				}})
				if err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkAnswer is a whole answer over a small handbook, with no model.
func BenchmarkAnswer(b *testing.B) {
	f := open(b)
	for b.Loop() {
		if _, err := f.flow.Start(b.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{}); err != nil {
			b.Fatal(err)
		}
	}
}
