package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

type ctx = context.Context

func single(t testing.TB, node graph.Node[tally], policy ...graph.Policy) *graph.Compiled[tally] {
	g := graph.New("single", 1, tallyCount, tallyNames)
	g.Node("only", node, policy...)
	g.Edge("only", graph.End)
	g.Start("only")
	return compiled(t, g)
}

func TestPanicsAreNodeErrors(t *testing.T) {
	boom := func(ctx, graph.Step[tally]) (graph.Result[tally], error) { panic("boom") }
	badRoute := graph.New("route", 1, tallyCount, tallyNames)
	badRoute.Node("b", count)
	badRoute.Route("b", func(tally) string { panic("boom") }, graph.End)
	badRoute.Start("b")
	for name, c := range map[string]*graph.Compiled[tally]{
		"alone":       branches(t, boom, []string{"a", "b"}, name, name),
		"in a branch": branches(t, name, []string{"a", "b"}, name, boom),
		"in a route":  compiled(t, badRoute),
		// A panic is a mistake in the program, which another attempt does not mend.
		"with retries": single(t, boom, graph.Policy{Retries: 2}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Start(t.Context(), "run", tally{}, graph.Options{Store: graphtest.NewMemory()})
			var failed *graph.NodeError
			var panicked *graph.PanicError
			if !errors.As(err, &failed) || !errors.As(err, &panicked) || failed.Attempt != 1 {
				t.Fatalf("Start = %v, want a NodeError with a PanicError in attempt 1", err)
			}
			if len(panicked.Stack) == 0 || strings.Contains(err.Error(), "goroutine") {
				t.Errorf("the stack is lost or public: %v", err)
			}
		})
	}
}

// TestExitIsANodeError ends the goroutine of a branch, as t.FailNow does.
func TestExitIsANodeError(t *testing.T) {
	goexit := func(ctx, graph.Step[tally]) (graph.Result[tally], error) {
		runtime.Goexit()
		return graph.Result[tally]{}, nil
	}
	_, err := branches(t, name, []string{"a", "b"}, goexit, name).Start(t.Context(), "run", tally{}, graph.Options{})
	var failed *graph.NodeError
	if !errors.As(err, &failed) || failed.Node != "a" {
		t.Errorf("Start = %v, want a NodeError for a", err)
	}
}

// TestFailureKeepsSiblings fails one of three branches: what the others finished is
// kept, even what they finished after they were told to stop.
func TestFailureKeepsSiblings(t *testing.T) {
	calls := newCounter()
	broken := true
	stubborn := func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		if broken {
			<-ctx.Done()
		}
		return calls.counted(ctx, step)
	}
	failing := func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		if broken {
			return graph.Result[tally]{}, errors.New("no")
		}
		return calls.counted(ctx, step)
	}
	c := branches(t, calls.counted, []string{"a", "b", "c"}, stubborn, failing, stubborn)
	options := graph.Options{Store: graphtest.NewMemory()}
	_, err := c.Start(t.Context(), "run", tally{}, options)
	var failed *graph.NodeError
	if !errors.As(err, &failed) || failed.Node != "b" {
		t.Fatalf("Start = %v, want the failure of b", err)
	}
	broken = false
	wantNames(t, resume(t, c, options), "a", "b", "c", "join")
	if calls.of("a") != 1 || calls.of("c") != 1 {
		t.Errorf("finished siblings ran again: a %d, c %d", calls.of("a"), calls.of("c"))
	}
}

func TestCancellation(t *testing.T) {
	calls := newCounter()
	ctx, cancel := context.WithCancel(t.Context())
	g := graph.New("two", 1, tallyCount, tallyNames)
	g.Node("first", func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		cancel()
		return calls.counted(ctx, step)
	})
	g.Node("second", calls.counted)
	g.Edge("first", "second")
	g.Edge("second", graph.End)
	g.Start("first")
	c := compiled(t, g)
	options := graph.Options{Store: graphtest.NewMemory()}
	if _, err := c.Start(ctx, "run", tally{}, options); !errors.Is(err, context.Canceled) {
		t.Fatalf("Start = %v, want context.Canceled", err)
	}
	if calls.of("second") != 0 {
		t.Error("a node began after the run was cancelled")
	}
	wantNames(t, resume(t, c, options), "first", "second")
	if calls.of("first") != 1 {
		t.Error("what was finished at the cancellation was not kept")
	}
}

func TestCancellationEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := single(t, func(context.Context, graph.Step[tally]) (graph.Result[tally], error) {
			return graph.Result[tally]{}, errors.New("no")
		}, graph.Policy{Retries: 1, Backoff: time.Minute})
		begun := time.Now()
		var failed *graph.NodeError
		if _, err := c.Start(ctx, "run", tally{}, graph.Options{}); !errors.As(err, &failed) || time.Since(begun) != time.Second {
			t.Errorf("Start = %v after %s", err, time.Since(begun))
		}
	})
}

func TestAnswersAreChecked(t *testing.T) {
	choices := []graph.Choice{{ID: "a", Label: "A"}}
	closed := single(t, func(_ ctx, step graph.Step[tally]) (graph.Result[tally], error) {
		if answer, ok := step.Answer("k"); ok {
			return graph.Update(tallyNames.Set([]string{answer.Choice})), nil
		}
		return graph.Ask[tally](graph.Question{Key: "k", Text: "?", Choices: choices}), nil
	})
	options := graph.Options{Store: graphtest.NewMemory()}
	id := start(t, closed, options).Questions[0].ID
	for _, test := range []struct {
		answers []graph.Answer
		want    error
	}{
		{[]graph.Answer{{QuestionID: "other", Choice: "a"}}, graph.ErrNoQuestion},
		{[]graph.Answer{{QuestionID: id, Choice: "z"}}, graph.ErrNotOffered},
		{[]graph.Answer{{QuestionID: id, Text: "free"}}, graph.ErrNoFreeText},
		{[]graph.Answer{{QuestionID: id, Text: " \n"}}, graph.ErrEmptyAnswer},
		{[]graph.Answer{{QuestionID: id, Choice: "a"}, {QuestionID: "other", Choice: "a"}}, graph.ErrNoQuestion},
		{[]graph.Answer{{QuestionID: id, Choice: "a"}, {QuestionID: id, Choice: "a", By: "other"}}, graph.ErrAnswered},
	} {
		_, err := closed.Resume(t.Context(), "run", test.answers, options)
		var refused *graph.AnswerError
		if !errors.As(err, &refused) || !errors.Is(err, test.want) {
			t.Errorf("Resume(%+v) = %v, want %v", test.answers, err, test.want)
		}
	}
	answer := graph.Answer{QuestionID: id, Choice: "a", By: "u"}
	for range 2 { // the second time is a redelivery
		wantNames(t, resume(t, closed, options, answer, answer), "a")
	}
	answer.By = "other"
	if _, err := closed.Resume(t.Context(), "run", []graph.Answer{answer}, options); !errors.Is(err, graph.ErrAnswered) {
		t.Errorf("a second, different answer = %v, want ErrAnswered", err)
	}
}

func TestBadResultsAreNodeErrors(t *testing.T) {
	stray := graph.Replace("stray", func(s *tally) *int { return &s.Count })
	many := make([]graph.Choice, graph.MaxChoices+1)
	for i := range many {
		many[i] = graph.Choice{ID: fmt.Sprint(i), Label: "x"}
	}
	ask := func(q graph.Question) graph.Result[tally] { return graph.Ask[tally](q) }
	for want, result := range map[string]graph.Result[tally]{
		"does not declare": graph.Update(stray.Set(1)),
		"is nil":           graph.Update[tally](nil),
		"no key":           ask(graph.Question{Text: "?", FreeText: true}),
		"no text":          ask(graph.Question{Key: "k", FreeText: true}),
		"be answered":      ask(graph.Question{Key: "k", Text: "?"}),
		"11 choices":       ask(graph.Question{Key: "k", Text: "?", Choices: many}),
		"use Asker":        ask(graph.Question{Key: "k", Text: "?", FreeText: true, Who: "everybody"}),
		"a deadline":       ask(graph.Question{Key: "k", Text: "?", FreeText: true, Deadline: -1}),
		"no label":         ask(graph.Question{Key: "k", Text: "?", Choices: []graph.Choice{{ID: "a"}}}),
		"two choices":      ask(graph.Question{Key: "k", Text: "?", Choices: []graph.Choice{{ID: "a", Label: "x"}, {ID: "a", Label: "y"}}}),
	} {
		c := single(t, func(ctx, graph.Step[tally]) (graph.Result[tally], error) { return result, nil })
		_, err := c.Start(t.Context(), "run", tally{}, graph.Options{})
		var failed *graph.NodeError
		if !errors.As(err, &failed) || failed.Node != "only" || !strings.Contains(err.Error(), want) {
			t.Errorf("Start = %v, want a NodeError with %q", err, want)
		}
	}
}

func TestKeyIsAskedOncePerVisit(t *testing.T) {
	c := single(t, func(ctx, graph.Step[tally]) (graph.Result[tally], error) {
		return graph.Ask[tally](graph.Question{Key: "k", Text: "?", FreeText: true}), nil
	})
	options := graph.Options{Store: graphtest.NewMemory()}
	id := start(t, c, options).Questions[0].ID
	_, err := c.Resume(t.Context(), "run", []graph.Answer{{QuestionID: id, Text: "x"}}, options)
	if err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("Resume = %v, want an error that names the remedy", err)
	}
}

// TestLoopAsksAnew goes round a loop: each visit of a node has a question of its own.
func TestLoopAsksAnew(t *testing.T) {
	calls := newCounter()
	c := loopGraph(t, calls)
	options := graph.Options{Store: graphtest.NewMemory()}
	outcome := start(t, c, options)
	var asked []string
	for outcome.Status == graph.Waiting && len(asked) < 10 {
		id := outcome.Questions[0].ID
		asked = append(asked, id)
		outcome = resume(t, c, options, graph.Answer{QuestionID: id, Text: fmt.Sprint(len(asked))})
	}
	wantNames(t, outcome, "ask 1", "ask 2", "ask 3")
	if slices.Sort(asked); len(slices.Compact(asked)) != 3 {
		t.Errorf("question ids repeat: %v", asked)
	}
}

func TestRouteMustChooseATarget(t *testing.T) {
	for _, chosen := range [][]string{{"elsewhere"}, {}} {
		g := graph.New("route", 1, tallyCount, tallyNames)
		g.Node("only", count)
		g.RouteMany("only", func(tally) []string { return chosen }, graph.End)
		g.Start("only")
		_, err := compiled(t, g).Start(t.Context(), "run", tally{}, graph.Options{})
		var failed *graph.NodeError
		if !errors.As(err, &failed) || failed.Node != "only" {
			t.Errorf("choosing %q = %v, want a NodeError", chosen, err)
		}
	}
}

func TestStalledJoinIsAnError(t *testing.T) {
	g := graph.New("stalled", 1, tallyCount, tallyNames)
	for _, node := range []string{"split", "a", "b", "join"} {
		g.Node(node, count)
	}
	g.RouteMany("split", func(tally) []string { return []string{"a"} }, "a", "b")
	g.Join("join", "a", "b")
	g.Edge("join", graph.End)
	g.Start("split")
	_, err := compiled(t, g).Start(t.Context(), "run", tally{}, graph.Options{})
	var stalled *graph.StalledError
	if !errors.As(err, &stalled) || stalled.Node != "join" || !slices.Equal(stalled.Missing, []string{"b"}) {
		t.Errorf("Start = %v, want a StalledError for b", err)
	}
}

func TestEvents(t *testing.T) {
	calls := newCounter()
	g := graph.New("events", 1, tallyCount, tallyNames)
	g.Node("talk", func(_ ctx, step graph.Step[tally]) (graph.Result[tally], error) {
		step.Detail("Searching 3 collections…")
		step.Emit("Hel")
		step.Emit("lo")
		return graph.Update(tallyCount.Set(1), tallyNames.Set([]string{"x"}), tallyCount.Set(2)), nil
	}, graph.Policy{Description: "Talking"})
	g.Node("ask", calls.asking)
	g.Edge("talk", "ask")
	g.Edge("ask", graph.End)
	g.Start("talk")
	c := compiled(t, g)
	var seen []string
	var last int64
	options := graph.Options{Store: graphtest.NewMemory(), Now: func() time.Time { return time.Unix(7, 0) }}
	options.Observe = func(e graph.Event) {
		if e.Seq != last+1 || e.Run != "run" || !e.At.Equal(time.Unix(7, 0)) || e.Node == "talk" && e.Description != "Talking" {
			t.Errorf("event %+v after number %d", e, last)
		}
		last = e.Seq
		seen = append(seen, strings.TrimSpace(fmt.Sprint(e.Kind, " ", e.Node, " ", e.Text, strings.Join(e.Fields, ","), e.Status)))
	}
	id := start(t, c, options).Questions[0].ID
	last-- // the end of the first call was after the last checkpoint
	resume(t, c, options, graph.Answer{QuestionID: id, Choice: "a"})
	want := []string{
		"run_started", "step_started talk", "detail talk Searching 3 collections…", "token talk Hel", "token talk lo",
		"step_finished talk count,names", "step_started ask", "question_asked ask", "run_finished  waiting",
		"run_started", "step_started ask", "step_finished ask names", "run_finished  done",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("events\n%q, want\n%q", seen, want)
	}
}

// TestStepByHand calls a node outside of a run, as the tests of a flow do.
func TestStepByHand(t *testing.T) {
	step := graph.Step[tally]{State: tally{Count: 4}}
	step.Emit("nobody")
	step.Detail("listens")
	if _, ok := step.Answer("key"); ok {
		t.Error("an answer came from nowhere")
	}
}

func TestDoneRunGivesItsOutcomeAgain(t *testing.T) {
	options := graph.Options{Store: graphtest.NewMemory()}
	c := lineGraph(t, 3)
	first := start(t, c, options)
	saves := options.Store.(*graphtest.Memory).Saves()
	if again := resume(t, c, options); asJSON(t, again) != asJSON(t, first) {
		t.Errorf("outcome %+v, first %+v", again, first)
	}
	if got := options.Store.(*graphtest.Memory).Saves(); got != saves {
		t.Error("a finished run was saved again")
	}
}

func TestUsageErrors(t *testing.T) {
	c := lineGraph(t, 2)
	if _, err := c.Start(t.Context(), "", tally{}, graph.Options{}); err == nil {
		t.Error("a run without an id was started")
	}
	if _, err := c.Start(t.Context(), "run", tally{}, graph.Options{MaxSteps: -1}); err == nil {
		t.Error("a negative limit was taken")
	}
	if _, err := c.Resume(t.Context(), "run", nil, graph.Options{}); err == nil {
		t.Error("a run was resumed without a store")
	}
	if _, err := c.Resume(t.Context(), "run", nil, graph.Options{Store: graphtest.NewMemory()}); !errors.Is(err, graph.ErrNoCheckpoint) {
		t.Errorf("Resume of an unknown run = %v, want ErrNoCheckpoint", err)
	}
}

func TestUnencodableStateIsASaveError(t *testing.T) {
	type state struct{ Out chan int }
	out := graph.Replace("out", func(s *state) *chan int { return &s.Out })
	g := graph.New("chan", 1, out)
	g.Node("only", func(ctx, graph.Step[state]) (graph.Result[state], error) {
		return graph.Update(out.Set(make(chan int))), nil
	})
	g.Edge("only", graph.End)
	g.Start("only")
	_, err := compiled(t, g).Start(t.Context(), "run", state{}, graph.Options{Store: graphtest.NewMemory()})
	var unsaved *graph.SaveError
	if !errors.As(err, &unsaved) || !strings.Contains(err.Error(), `"out"`) {
		t.Errorf("Start = %v, want a SaveError that names the field", err)
	}
}

// TestAnswerIsKeptWhenItsNodeFails gives the answer once; the node needs two attempts.
func TestAnswerIsKeptWhenItsNodeFails(t *testing.T) {
	broken := true
	c := single(t, func(_ ctx, step graph.Step[tally]) (graph.Result[tally], error) {
		answer, ok := step.Answer("k")
		switch {
		case !ok:
			return graph.Ask[tally](graph.Question{Key: "k", Text: "?", FreeText: true}), nil
		case broken:
			return graph.Result[tally]{}, errors.New("no")
		}
		return graph.Update(tallyNames.Set([]string{answer.Text})), nil
	})
	options := graph.Options{Store: graphtest.NewMemory()}
	id := start(t, c, options).Questions[0].ID
	var failed *graph.NodeError
	if _, err := c.Resume(t.Context(), "run", []graph.Answer{{QuestionID: id, Text: "yes"}}, options); !errors.As(err, &failed) {
		t.Fatalf("Resume = %v, want the node's failure", err)
	}
	broken = false
	wantNames(t, resume(t, c, options), "yes")
}

// TestSaveErrorComesFirst fails a branch, and then the save of its sibling.
func TestSaveErrorComesFirst(t *testing.T) {
	failing := func(ctx, graph.Step[tally]) (graph.Result[tally], error) {
		return graph.Result[tally]{}, errors.New("no")
	}
	stubborn := func(ctx ctx, step graph.Step[tally]) (graph.Result[tally], error) {
		<-ctx.Done()
		return name(ctx, step)
	}
	c := branches(t, name, []string{"a", "b"}, failing, stubborn)
	store := graphtest.NewCrashing(graphtest.NewMemory(), graphtest.CrashPoint{Save: 2})
	_, err := c.Start(t.Context(), "run", tally{}, graph.Options{Store: store})
	var unsaved *graph.SaveError
	if !errors.As(err, &unsaved) {
		t.Errorf("Start = %v, want a SaveError", err)
	}
}

// gatedStore holds up its second save until it is released.
type gatedStore struct {
	*graphtest.Memory
	release chan struct{}
}

func (s gatedStore) Save(ctx context.Context, run string, checkpoint []byte) error {
	if s.Saves() == 1 {
		<-s.release
	}
	return s.Memory.Save(ctx, run, checkpoint)
}

// TestSavesAreShared finishes five branches while the first of them is being saved.
func TestSavesAreShared(t *testing.T) {
	store := gatedStore{graphtest.NewMemory(), make(chan struct{})}
	finished := 0
	start(t, fanGraph(t, 5), graph.Options{Store: store, Observe: func(e graph.Event) {
		if e.Kind == graph.StepFinished && strings.HasPrefix(e.Node, "b") {
			if finished++; finished == 5 {
				close(store.release)
			}
		}
	}})
	if saves := store.Saves(); saves > 5 {
		t.Errorf("%d saves: split, the first branch, the others, the end of the step, join make 5", saves)
	}
}

// TestLastCheckpointIsSkipped drives graphs to their end without keeping the checkpoint of it: they
// come to the same once more from the checkpoint before.
func TestLastCheckpointIsSkipped(t *testing.T) {
	for name, c := range everyGraph(t) {
		t.Run(name, func(t *testing.T) {
			all, skipping := graphtest.NewMemory(), graphtest.NewMemory()
			drive := func(options graph.Options) string {
				outcome := start(t, c, options)
				for outcome.Status == graph.Waiting {
					outcome = resume(t, c, options, graph.Answer{QuestionID: outcome.Questions[0].ID, Text: "x"})
				}
				return asJSON(t, outcome)
			}
			options := graph.Options{Store: skipping, SkipLast: true}
			want := drive(options)
			if kept := drive(graph.Options{Store: all}); kept != want {
				t.Errorf("with its last checkpoint it comes to %s, without to %s", kept, want)
			}
			last, err := all.Load(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			before, err := skipping.Load(t.Context(), "run")
			if err != nil || bytes.Equal(before, last) {
				t.Errorf("the last checkpoint was kept: %s, %v", before, err)
			}
			if got := asJSON(t, resume(t, c, options)); got != want {
				t.Errorf("from the checkpoint before the last it comes to %s, at first to %s", got, want)
			}
		})
	}
}
