package graph_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

// prompt is how soon a cancelled run must be over.
const prompt = 100 * time.Millisecond

// patient is a node that works for an hour, unless its ctx ends.
func patient(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
	work := time.NewTimer(time.Hour)
	defer work.Stop()
	select {
	case <-ctx.Done():
		return graph.Result[tally]{}, ctx.Err()
	case <-work.C:
		return name(ctx, step)
	}
}

func failing(context.Context, graph.Step[tally]) (graph.Result[tally], error) {
	return graph.Result[tally]{}, errors.New("no")
}

// TestCancellationIsPrompt cancels runs all along their work, wherever they
// are then: the clock is that of the bubble, so what it shows is what the engine waits.
func TestCancellationIsPrompt(t *testing.T) {
	line := graph.New("line", 1, tallyCount, tallyNames)
	for i := range 3 {
		line.Node(fmt.Sprint("n", i), patient)
	}
	line.Edge("n0", "n1")
	line.Edge("n1", "n2")
	line.Edge("n2", graph.End)
	line.Start("n0")
	inner := compiled(t, line)

	nested := graph.New("nested", 1, tallyCount, tallyNames)
	nested.Node("split", count)
	nested.Sub(graph.Nested("inside", inner, tallyIn, tallyOut), graph.Policy{Timeout: 24 * time.Hour})
	nested.Node("beside", patient, graph.Policy{Timeout: 2 * time.Hour})
	nested.Edge("split", "inside")
	nested.Edge("split", "beside")
	nested.Edge("inside", graph.End)
	nested.Edge("beside", graph.End)
	nested.Start("split")

	for name, c := range map[string]*graph.Compiled[tally]{
		"line":    inner,
		"fan-out": branches(t, patient, []string{"a", "b", "c"}, patient, patient, patient),
		"nested":  compiled(t, nested),
		"pauses":  single(t, failing, graph.Policy{Retries: 1000, Backoff: time.Minute}),
	} {
		t.Run(name, func(t *testing.T) {
			for minute := 0; minute < 120; minute += 9 {
				synctest.Test(t, func(t *testing.T) { cancelAfter(t, c, time.Duration(minute)*time.Minute) })
			}
		})
	}
}

func cancelAfter(t *testing.T, c *graph.Compiled[tally], d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(d, cancel)
	defer timer.Stop()
	begun := time.Now()
	_, err := c.Start(ctx, "run", tally{}, graph.Options{Store: graphtest.NewMemory()})
	if took := time.Since(begun); err == nil || took < d || took > d+prompt {
		t.Errorf("cancelled after %s, over after %s: %v", d, took, err)
	}
}

// TestNoNodeBeginsOnceCancelled has a node that takes no notice of its ctx: it is
// waited for, and then nothing else begins.
func TestNoNodeBeginsOnceCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Bool
		deaf := func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			<-time.After(time.Minute)
			return name(ctx, step)
		}
		next := func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			began.Store(true)
			return name(ctx, step)
		}
		c := branches(t, next, []string{"a", "b"}, deaf, deaf)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		options := graph.Options{Store: graphtest.NewMemory()}
		_, err := c.Start(ctx, "run", tally{}, options)
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > time.Minute+prompt || began.Load() {
			t.Errorf("Start = %v after %s, the next node began: %t", err, took, began.Load())
		}
		wantNames(t, resume(t, c, options), "a", "b", "join")
	})
}

// TestOneFailureStopsItsSiblings fails one branch after a second: the others, which
// have an hour's work, are over with it.
func TestOneFailureStopsItsSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			<-time.After(time.Second)
			return failing(ctx, step)
		}
		begun := time.Now()
		var failed *graph.NodeError
		_, err := branches(t, name, []string{"a", "b", "c"}, patient, late, patient).Start(t.Context(), "run", tally{}, graph.Options{})
		if took := time.Since(begun); !errors.As(err, &failed) || failed.Node != "b" || took > time.Second+prompt {
			t.Errorf("Start = %v after %s", err, took)
		}
	})
}

// TestNoAttemptBeginsOnceCancelled fails a node that may be tried again at once.
func TestNoAttemptBeginsOnceCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := single(t, func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		cancel()
		return failing(ctx, step)
	}, graph.Policy{Retries: 1000})
	var failed *graph.NodeError
	if _, err := c.Start(ctx, "run", tally{}, graph.Options{}); !errors.As(err, &failed) || failed.Attempt != 1 {
		t.Errorf("Start = %v, want a failure in attempt 1", err)
	}
}
