package agent_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

// BenchmarkCall is one round trip at a time.
func BenchmarkCall(b *testing.B) {
	bus := open(b, echo, nil)
	r := ask("x")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agent.Call[found](b.Context(), bus, r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloor is what BenchmarkCall can't go below: a goroutine for a task, a time
// limit on either side, and a channel for the reply.
func BenchmarkFloor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		outer, cancel := context.WithTimeout(b.Context(), time.Minute)
		reply := make(chan agent.Payload, 1)
		go func() {
			inner, stop := context.WithTimeout(context.WithoutCancel(outer), time.Minute)
			defer stop()
			got, err := echo(inner, nil, question{Text: "x"})
			if err != nil {
				b.Error(err)
			}
			reply <- got
		}()
		select {
		case <-reply:
		case <-outer.Done():
		}
		cancel()
	}
}

// BenchmarkProgress is one update of a streamed answer.
func BenchmarkProgress(b *testing.B) {
	bus := open(b, func(_ context.Context, task *agent.Task, _ question) (found, error) {
		for range b.N {
			task.Progress(word("x"))
		}
		return found{}, nil
	}, nil)
	r := ask("x")
	taken := 0
	r.OnProgress = func(agent.Payload) { taken++ }
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := agent.Call[found](b.Context(), bus, r); err != nil || taken != b.N {
		b.Fatal(err, taken)
	}
}

// BenchmarkCrowd is a thousand calls at a time, of an agent with ten slots.
func BenchmarkCrowd(b *testing.B) {
	bus := open(b, echo, func(a *agent.Agent) { a.Mailbox = 1000 })
	r := ask("x")
	b.ReportAllocs()
	for b.Loop() {
		var calls sync.WaitGroup
		for range 1000 {
			calls.Go(func() {
				if _, err := agent.Call[found](b.Context(), bus, r); err != nil {
					b.Error(err)
				}
			})
		}
		calls.Wait()
	}
}
