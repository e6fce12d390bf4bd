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

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

// TestProbes is what the engine was chosen for: each row is a promise, with the probes
// that would fail if it were broken.
func TestProbes(t *testing.T) {
	for _, row := range []struct {
		promise string
		probes  map[string]func(*testing.T)
	}{
		{"save after every step; a failed save stops the run, which can be taken up again", map[string]func(*testing.T){
			"each step finds the one before saved": saveAfterEveryStep,
			"no node runs after a failed save":     failedSaveStopsTheRun,
		}},
		{"1 of 3 branches asks: the finished siblings are kept and not run again", map[string]func(*testing.T){
			"a question in the middle branch": oneOfThreeBranchesAsks,
		}},
		{"2 branches ask: both questions stand with stable ids, each answer reaches its branch once", map[string]func(*testing.T){
			"answered in any order":             twoBranchesAsk,
			"an unanswered node is not entered": onlyAnsweredNodesAreEntered,
		}},
		{"crash at every save point: finished siblings are not repeated", map[string]func(*testing.T){
			"every test graph": crashAtEverySavePoint,
		}},
		{"merge order of parallel branches: as declared, always", map[string]func(*testing.T){
			"branches finish in the opposite order": mergeOrderIsDeclared,
		}},
		{"step limit hit: an error that names the loop", map[string]func(*testing.T){
			"a loop and a line": stepLimitNamesTheLoop,
		}},
		{"retries, back-off with jitter, time-out: by the node's policy", map[string]func(*testing.T){
			"retries back off":               retriesBackOff,
			"what failed together is parted": jitterPartsRetries,
			"time-out":                       timeout,
			"time-out that is not transient": timeoutIsNotTransient,
		}},
		{"node renamed, field added or retired between crash and resume: migrated, or parked visibly", map[string]func(*testing.T){
			"an old checkpoint is migrated":        oldCheckpointIsMigrated,
			"a mismatch leaves the checkpoint":     mismatchLeavesTheCheckpoint,
			"newer and foreign ones are not taken": newerAndForeignCheckpoints,
		}},
		{"nested graphs: checkpoint inside the parent's, resumed in place", map[string]func(*testing.T){
			"questions in two nested graphs":         nestedGraphIsResumedInPlace,
			"two levels deep with questions in both": deepGraphIsResumedInPlace,
		}},
	} {
		t.Run(row.promise, func(t *testing.T) {
			for name, probe := range row.probes {
				t.Run(name, probe)
			}
		})
	}
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

func saveAfterEveryStep(t *testing.T) {
	store := graphtest.NewMemory()
	g := graph.New("line", 1, tallyCount, tallyNames)
	for i := range 8 {
		g.Node(fmt.Sprint("n", i), func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			if store.Saves() != i {
				t.Errorf("%d saves before step %d", store.Saves(), i+1)
			}
			return count(ctx, step)
		})
		if i > 0 {
			g.Edge(fmt.Sprint("n", i-1), fmt.Sprint("n", i))
		}
	}
	g.Edge("n7", graph.End)
	g.Start("n0")
	c := compiled(t, g)
	start(t, c, graph.Options{Store: store})
	if store.Saves() != 8 {
		t.Errorf("%d saves for 8 steps", store.Saves())
	}
	if outcome := resume(t, c, graph.Options{Store: store}); outcome.State.Count != 8 || outcome.Status != graph.Done {
		t.Errorf("what was saved is %+v", outcome)
	}
	store = graphtest.NewMemory()
	start(t, fanGraph(t, 5), graph.Options{Store: store})
	if store.Saves() > 7 {
		t.Errorf("%d saves for 7 nodes", store.Saves())
	}
}

func failedSaveStopsTheRun(t *testing.T) {
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

func oneOfThreeBranchesAsks(t *testing.T) {
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

func twoBranchesAsk(t *testing.T) {
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

// onlyAnsweredNodesAreEntered answers one of two questions: the node of the other one
// is not entered, not even to ask again.
func onlyAnsweredNodesAreEntered(t *testing.T) {
	entered := newCounter()
	watched := func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		entered.note(step.Node)
		return newCounter().asking(ctx, step)
	}
	c := branches(t, name, []string{"a", "b"}, watched, watched)
	options := graph.Options{Store: graphtest.NewMemory()}
	asked := start(t, c, options).Questions
	for range 3 {
		resume(t, c, options)
	}
	resume(t, c, options, graph.Answer{QuestionID: asked[1].ID, Text: "x"})
	if entered.of("a") != 1 || entered.of("b") != 2 {
		t.Errorf("a was entered %d times and b %d, want 1 and 2", entered.of("a"), entered.of("b"))
	}
	resume(t, c, options, graph.Answer{QuestionID: asked[0].ID, Text: "y"})
	if entered.of("a") != 2 || entered.of("b") != 2 {
		t.Errorf("a was entered %d times and b %d, want 2 and 2", entered.of("a"), entered.of("b"))
	}
}

func crashAtEverySavePoint(t *testing.T) {
	answer := func(q graph.Question) graph.Answer { return graph.Answer{Text: "re " + q.Node} }
	for name, c := range everyGraph(t) {
		t.Run(name, func(t *testing.T) {
			outcome, steps := graphtest.Crashes(t, graphtest.Scenario[tally]{Graph: c, Answer: answer})
			if outcome.Status != graph.Done || len(steps) < 3 {
				t.Errorf("undisturbed: %+v, steps %v", outcome, steps)
			}
		})
	}
}

func nestedGraphIsResumedInPlace(t *testing.T) {
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

// deepGraphIsResumedInPlace answers four questions of two nested graphs, one inside the
// other, with a restart before each answer: nothing is kept but the checkpoint.
func deepGraphIsResumedInPlace(t *testing.T) {
	calls, store := newCounter(), graphtest.NewMemory()
	options := graph.Options{Store: store}
	outcome := start(t, deepGraph(t, calls), options)
	wantQuestions := func(nodes ...string) {
		t.Helper()
		var asking []string
		for _, q := range outcome.Questions {
			asking = append(asking, q.Node+" "+q.Key)
		}
		if !slices.Equal(asking, nodes) {
			t.Fatalf("asking %q, want %q", asking, nodes)
		}
	}
	wantQuestions("nested/inside/ask first", "nested/beside first")
	reply := func(at int, choice, text string) {
		t.Helper()
		answer := graph.Answer{QuestionID: outcome.Questions[at].ID, Choice: choice, Text: text}
		outcome = resume(t, deepGraph(t, calls), options, answer)
	}
	reply(1, "b", "")
	wantQuestions("nested/inside/ask first", "nested/beside second")
	reply(0, "", "deep")
	wantQuestions("nested/inside/ask second", "nested/beside second")
	reply(0, "a", "")
	wantQuestions("nested/beside second")
	reply(0, "", "done")
	wantNames(t, outcome, "short", "long", "split", "before", "ask first deep", "ask second a",
		"beside first b", "beside second done", "join", "join")
	for node, want := range map[string]int{"short": 1, "long": 1, "split": 1, "before": 1, "ask": 1, "beside": 1, "join": 2} {
		if calls.of(node) != want {
			t.Errorf("%s ran to its end %d times, want %d", node, calls.of(node), want)
		}
	}
}

// mergeOrderIsDeclared lets the branches finish in the opposite order.
func mergeOrderIsDeclared(t *testing.T) {
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

func stepLimitNamesTheLoop(t *testing.T) {
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

func retriesBackOff(t *testing.T) {
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
		pauses  []time.Duration // the longest; the shortest are half as long
		attempt int             // that failed last, 0 for success
	}{
		{"busy twice", failing(2, errBusy), []time.Duration{time.Second, 2 * time.Second}, 0},
		{"busy for good", failing(9, errBusy), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, 4},
		{"not transient", failing(9, errWrong), nil, 1},
		{"a panic", func(context.Context, graph.Step[tally]) (graph.Result[tally], error) { panic(errBusy) }, nil, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			for drawn, part := range map[float64]float64{0: 1, 0.5: 0.75, 0.999999999999: 0.5} {
				var pauses, want []time.Duration
				for _, longest := range test.pauses {
					want = append(want, time.Duration(part*float64(longest)))
				}
				sleep := func(_ context.Context, d time.Duration) error {
					pauses = append(pauses, d.Round(time.Millisecond))
					return nil
				}
				options := graph.Options{Sleep: sleep, Random: func() float64 { return drawn }}
				_, err := single(t, test.node, policy).Start(t.Context(), "run", tally{}, options)
				var failed *graph.NodeError
				if test.attempt == 0 && err != nil || test.attempt > 0 && (!errors.As(err, &failed) || failed.Attempt != test.attempt) {
					t.Errorf("Start = %v, want a failure in attempt %d", err, test.attempt)
				}
				if !slices.Equal(pauses, want) {
					t.Errorf("drawing %v: pauses %v, want %v", drawn, pauses, want)
				}
			}
		})
	}
}

// jitterPartsRetries fails many branches at the same moment: they do not come again at
// the same moment.
func jitterPartsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 32
		var (
			mu     sync.Mutex
			pauses = map[time.Duration]bool{}
		)
		begun := time.Now()
		busy := func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			if step.Attempt == 1 {
				return graph.Result[tally]{}, errors.New("busy")
			}
			mu.Lock()
			defer mu.Unlock()
			pauses[time.Since(begun)] = true
			return name(ctx, step)
		}
		g := graph.New("many", 1, tallyCount, tallyNames)
		g.Node("split", count)
		for i := range many {
			branch := fmt.Sprint("b", i)
			g.Node(branch, busy, graph.Policy{Retries: 1, Backoff: time.Second})
			g.Edge("split", branch)
			g.Edge(branch, graph.End)
		}
		g.Start("split")
		start(t, compiled(t, g), graph.Options{})
		for pause := range pauses {
			if pause < time.Second/2 || pause > time.Second {
				t.Errorf("a pause of %s, want one from 500ms to 1s", pause)
			}
		}
		if len(pauses) < many/2 {
			t.Errorf("%d branches came again at %d moments", many, len(pauses))
		}
	})
}

func timeout(t *testing.T) {
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
		none := func() float64 { return 0 }
		start(t, compiled(t, g), graph.Options{Random: none, Observe: func(e graph.Event) {
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

// timeoutIsNotTransient asks the policy about a time-out, as about any other error.
func timeoutIsNotTransient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		c := single(t, func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
			attempts = step.Attempt
			<-ctx.Done()
			return graph.Result[tally]{}, ctx.Err()
		}, graph.Policy{Timeout: time.Minute, Retries: 5, Transient: func(err error) bool { return !errors.Is(err, context.DeadlineExceeded) }})
		_, err := c.Start(t.Context(), "run", tally{}, graph.Options{})
		var failed *graph.NodeError
		if !errors.As(err, &failed) || !errors.Is(err, context.DeadlineExceeded) || attempts != 1 {
			t.Errorf("Start = %v after %d attempts, want the time-out after one", err, attempts)
		}
	})
}
