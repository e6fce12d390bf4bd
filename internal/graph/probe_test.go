package graph_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cairn/internal/graph"
	"cairn/internal/graph/graphtest"
)

// counter counts how often each node was entered.
type counter struct {
	mu    sync.Mutex
	calls map[string]int
}

func newCounter() *counter { return &counter{calls: map[string]int{}} }

func (c *counter) of(node string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[node]
}

// counted is a node that writes its name.
func (c *counter) counted(_ context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
	c.note(step.Node)
	return graph.Update(tallyNames.Set([]string{step.Node})), nil
}

func (c *counter) note(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[node]++
}

// asking is a node that writes the answer to its one question.
func (c *counter) asking(_ context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
	answer, ok := step.Answer("which")
	if !ok {
		return graph.Ask[tally](graph.Question{Key: "which", Text: step.Node + "?", FreeText: true,
			Choices: []graph.Choice{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}}), nil
	}
	c.note(step.Node)
	return graph.Update(tallyNames.Set([]string{step.Node + " " + answer.Choice + answer.Text})), nil
}

// branches is split → branches → join → end.
func branches(t testing.TB, join graph.Node[tally], names []string, nodes ...graph.Node[tally]) *graph.Compiled[tally] {
	g := graph.New("branches", 1, tallyCount, tallyNames)
	g.Node("split", count)
	for i, node := range nodes {
		g.Node(names[i], node)
		g.Edge("split", names[i])
	}
	g.Node("join", join)
	g.Join("join", names...)
	g.Edge("join", graph.End)
	g.Start("split")
	return compiled(t, g)
}

func start(t testing.TB, c *graph.Compiled[tally], options graph.Options) graph.Outcome[tally] {
	t.Helper()
	outcome, err := c.Start(t.Context(), "run", tally{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func resume(t testing.TB, c *graph.Compiled[tally], options graph.Options, answers ...graph.Answer) graph.Outcome[tally] {
	t.Helper()
	outcome, err := c.Resume(t.Context(), "run", answers, options)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func wantNames(t testing.TB, outcome graph.Outcome[tally], want ...string) {
	t.Helper()
	if !slices.Equal(outcome.State.Names, want) {
		t.Errorf("names %q, want %q", outcome.State.Names, want)
	}
}

func TestSaveAfterEveryStep(t *testing.T) {
	store := graphtest.NewMemory()
	start(t, lineGraph(t, 8), graph.Options{Store: store})
	if store.Saves() != 8 {
		t.Errorf("%d saves for 8 steps", store.Saves())
	}
	store = graphtest.NewMemory()
	start(t, fanGraph(t, 5), graph.Options{Store: store})
	if store.Saves() > 7 {
		t.Errorf("%d saves for 7 nodes", store.Saves())
	}
}

func TestFailedSaveStopsTheRun(t *testing.T) {
	calls := newCounter()
	g := graph.New("two", 1, tallyCount, tallyNames)
	g.Node("first", calls.counted)
	g.Node("second", calls.counted)
	g.Edge("first", "second")
	g.Edge("second", graph.End)
	g.Start("first")
	c := compiled(t, g)
	store := graphtest.NewMemory()
	crashing := graphtest.NewCrashing(store, graphtest.CrashPoint{Save: 1, Written: true})
	_, err := c.Start(t.Context(), "run", tally{}, graph.Options{Store: crashing})
	var unsaved *graph.SaveError
	if !errors.As(err, &unsaved) || !errors.Is(err, graphtest.ErrCrash) {
		t.Fatalf("Start = %v, want a SaveError", err)
	}
	if calls.of("second") != 0 {
		t.Error("the run went on after the save failed")
	}
	wantNames(t, resume(t, c, graph.Options{Store: store}), "first", "second")
	if calls.of("first") != 1 {
		t.Errorf("first ran %d times", calls.of("first"))
	}
}

func TestOneOfThreeBranchesAsks(t *testing.T) {
	calls := newCounter()
	c := branches(t, calls.counted, []string{"a", "b", "c"}, calls.counted, calls.asking, calls.counted)
	options := graph.Options{Store: graphtest.NewMemory()}
	outcome := start(t, c, options)
	if outcome.Status != graph.Waiting || len(outcome.Questions) != 1 {
		t.Fatalf("outcome %+v, want one question", outcome)
	}
	outcome = resume(t, c, options, graph.Answer{QuestionID: outcome.Questions[0].ID, Choice: "b"})
	wantNames(t, outcome, "a", "b b", "c", "join")
	for _, node := range []string{"a", "b", "c", "join"} {
		if calls.of(node) != 1 {
			t.Errorf("%s ran %d times", node, calls.of(node))
		}
	}
}

func TestTwoBranchesAsk(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}, {-1}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			calls := newCounter()
			c := branches(t, calls.counted, []string{"a", "b", "c"}, calls.asking, calls.counted, calls.asking)
			options := graph.Options{Store: graphtest.NewMemory()}
			asked := start(t, c, options).Questions
			if len(asked) != 2 || asked[0].ID == asked[1].ID || asked[0].Node != "a" || asked[1].Node != "c" {
				t.Fatalf("questions %+v", asked)
			}
			if again := resume(t, c, options).Questions; !reflect.DeepEqual(again, asked) {
				t.Errorf("after a restart the questions are %+v, before %+v", again, asked)
			}
			answers := []graph.Answer{{QuestionID: asked[0].ID, Text: "x"}, {QuestionID: asked[1].ID, Text: "y"}}
			var outcome graph.Outcome[tally]
			for i, at := range order {
				if at < 0 {
					outcome = resume(t, c, options, answers...)
					continue
				}
				outcome = resume(t, c, options, answers[at])
				if i == 0 && (len(outcome.Questions) != 1 || outcome.Questions[0].ID != asked[1-at].ID) {
					t.Errorf("after one answer the questions are %+v", outcome.Questions)
				}
			}
			wantNames(t, outcome, "a x", "b", "c y", "join")
			for _, node := range []string{"a", "b", "c"} {
				if calls.of(node) != 1 {
					t.Errorf("%s ran to its end %d times", node, calls.of(node))
				}
			}
		})
	}
}

func TestCrashAtEverySavePoint(t *testing.T) {
	calls := newCounter()
	answer := func(q graph.Question) graph.Answer { return graph.Answer{Text: "re " + q.Node} }
	for name, c := range map[string]*graph.Compiled[tally]{
		"line":    lineGraph(t, 4),
		"fan-out": fanGraph(t, 4),
		"ask":     askGraph(t),
		"asks in branches": branches(t, calls.counted, []string{"a", "b", "c"},
			calls.asking, calls.counted, calls.asking),
		"nested asks in branches": nestedGraph(t, calls),
	} {
		t.Run(name, func(t *testing.T) {
			outcome, steps := graphtest.Crashes(t, graphtest.Scenario[tally]{Graph: c, Answer: answer})
			if outcome.Status != graph.Done || len(steps) < 3 {
				t.Errorf("undisturbed: %+v, steps %v", outcome, steps)
			}
		})
	}
}

// nestedGraph has two branches, each of which asks inside a nested graph.
func nestedGraph(t testing.TB, calls *counter) *graph.Compiled[tally] {
	inner := graph.New("inner", 1, tallyCount, tallyNames)
	inner.Node("before", calls.counted)
	inner.Node("ask", calls.asking, graph.Policy{Asks: true})
	inner.Edge("before", "ask")
	inner.Edge("ask", graph.End)
	inner.Start("before")
	sub := compiled(t, inner)
	in := func(s tally) tally { return tally{Count: s.Count} }
	out := func(s tally) graph.Patch[tally] { return graph.Patch[tally]{tallyNames.Set(s.Names)} }

	g := graph.New("outer", 1, tallyCount, tallyNames)
	g.Node("split", count)
	g.Sub(graph.Nested("left", sub, in, out))
	g.Sub(graph.Nested("right", sub, in, out))
	g.Node("join", calls.counted)
	g.Edge("split", "left")
	g.Edge("split", "right")
	g.Join("join", "left", "right")
	g.Edge("join", graph.End)
	g.Start("split")
	return compiled(t, g)
}

func TestNestedGraphIsResumedInPlace(t *testing.T) {
	calls := newCounter()
	c := nestedGraph(t, calls)
	options := graph.Options{Store: graphtest.NewMemory()}
	asked := start(t, c, options).Questions
	if len(asked) != 2 || asked[0].Node != "left/ask" || asked[1].Node != "right/ask" || asked[0].ID == asked[1].ID {
		t.Fatalf("questions %+v", asked)
	}
	outcome := resume(t, c, options, graph.Answer{QuestionID: asked[1].ID, Choice: "a"})
	if !reflect.DeepEqual(outcome.Questions, asked[:1]) {
		t.Errorf("questions %+v", outcome.Questions)
	}
	outcome = resume(t, c, options, graph.Answer{QuestionID: asked[0].ID, Choice: "b"})
	wantNames(t, outcome, "before", "ask b", "before", "ask a", "join")
	if calls.of("before") != 2 || calls.of("ask") != 2 {
		t.Errorf("inner nodes ran %d and %d times, want 2 and 2", calls.of("before"), calls.of("ask"))
	}
}

// TestMergeOrderIsDeclared lets the branches finish in the opposite order.
func TestMergeOrderIsDeclared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := func(d time.Duration) graph.Node[tally] {
			return func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
				time.Sleep(d) //nolint:forbidigo // the clock of synctest
				return name(ctx, step)
			}
		}
		c := branches(t, name, []string{"a", "b", "c"}, after(3*time.Second), after(2*time.Second), after(time.Second))
		wantNames(t, start(t, c, graph.Options{Store: graphtest.NewMemory()}), "a", "b", "c", "join")
	})
}

func TestStepLimitNamesTheLoop(t *testing.T) {
	g := graph.New("loop", 1, tallyCount, tallyNames)
	for _, node := range []string{"before", "search", "judge", "after"} {
		g.Node(node, count)
	}
	g.Edge("before", "search")
	g.Edge("search", "judge")
	g.Route("judge", func(tally) string { return "search" }, "search", "after")
	g.Edge("after", graph.End)
	g.Start("before")
	c := compiled(t, g)
	options := graph.Options{Store: graphtest.NewMemory(), MaxSteps: 9}
	_, err := c.Start(t.Context(), "run", tally{}, options)
	var limit *graph.StepLimitError
	if !errors.As(err, &limit) || !slices.Equal(limit.Loop, []string{"search", "judge"}) {
		t.Fatalf("Start = %v, want a StepLimitError with search and judge", err)
	}
	_, err = c.Resume(t.Context(), "run", nil, options)
	if !errors.As(err, &limit) {
		t.Errorf("Resume = %v, want the same limit to hold", err)
	}
	_, err = lineGraph(t, 8).Start(t.Context(), "line", tally{}, graph.Options{MaxSteps: 3})
	if !errors.As(err, &limit) || limit.Loop != nil || !strings.Contains(err.Error(), "MaxSteps") {
		t.Errorf("a line over the limit = %v", err)
	}
}

func TestRetriesBackOff(t *testing.T) {
	errBusy, errWrong := errors.New("busy"), errors.New("wrong")
	failing := func(times int, err error) graph.Node[tally] {
		return func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			if step.Attempt <= times {
				return graph.Result[tally]{}, err
			}
			return count(ctx, step)
		}
	}
	policy := graph.Policy{Retries: 3, Backoff: time.Second, Transient: func(err error) bool { return errors.Is(err, errBusy) }}
	for _, test := range []struct {
		name    string
		node    graph.Node[tally]
		pauses  []time.Duration
		attempt int // that failed last, 0 for success
	}{
		{"busy twice", failing(2, errBusy), []time.Duration{time.Second, 2 * time.Second}, 0},
		{"busy for good", failing(9, errBusy), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, 4},
		{"not transient", failing(9, errWrong), nil, 1},
		{"a panic", func(context.Context, graph.Step[tally]) (graph.Result[tally], error) { panic(errBusy) }, nil, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pauses []time.Duration
			sleep := func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
			g := graph.New("retry", 1, tallyCount, tallyNames)
			g.Node("only", test.node, policy)
			g.Edge("only", graph.End)
			g.Start("only")
			_, err := compiled(t, g).Start(t.Context(), "run", tally{}, graph.Options{Sleep: sleep})
			var failed *graph.NodeError
			if test.attempt == 0 && err != nil || test.attempt > 0 && (!errors.As(err, &failed) || failed.Attempt != test.attempt) {
				t.Errorf("Start = %v, want a failure in attempt %d", err, test.attempt)
			}
			if !slices.Equal(pauses, test.pauses) {
				t.Errorf("pauses %v, want %v", pauses, test.pauses)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph.New("slow", 1, tallyCount, tallyNames)
		g.Node("only", func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			if step.Attempt == 3 {
				return count(ctx, step)
			}
			<-ctx.Done()
			return graph.Result[tally]{}, ctx.Err()
		}, graph.Policy{Timeout: time.Minute, Retries: 2, Backoff: time.Second})
		g.Edge("only", graph.End)
		g.Start("only")
		begun := time.Now()
		var failures []error
		start(t, compiled(t, g), graph.Options{Observe: func(e graph.Event) {
			if e.Kind == graph.StepRetried {
				failures = append(failures, e.Err)
			}
		}})
		if took := time.Since(begun); took != 2*time.Minute+3*time.Second {
			t.Errorf("took %s", took)
		}
		if len(failures) != 2 || !errors.Is(failures[0], context.DeadlineExceeded) || !strings.Contains(failures[0].Error(), "1m0s") {
			t.Errorf("failures %v", failures)
		}
	})
}
