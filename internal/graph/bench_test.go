package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"cairn/internal/graph"
	"cairn/internal/graph/graphtest"
)

// tally is the state of the benchmarks.
type tally struct {
	Count int
	Names []string
}

var (
	tallyCount = graph.Replace("count", func(s *tally) *int { return &s.Count })
	tallyNames = graph.Append("names", func(s *tally) *[]string { return &s.Names })
)

func count(_ context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
	return graph.Update(tallyCount.Set(step.State.Count + 1)), nil
}

func name(_ context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
	return graph.Update(tallyNames.Set([]string{step.Node})), nil
}

func lineGraph(b testing.TB, nodes int) *graph.Compiled[tally] {
	g := graph.New("line", 1, tallyCount, tallyNames)
	for i := range nodes {
		g.Node(fmt.Sprint("n", i), count)
		if i > 0 {
			g.Edge(fmt.Sprint("n", i-1), fmt.Sprint("n", i))
		}
	}
	g.Edge(fmt.Sprint("n", nodes-1), graph.End)
	g.Start("n0")
	return compiled(b, g)
}

func fanGraph(b testing.TB, branches int) *graph.Compiled[tally] {
	g := graph.New("fan", 1, tallyCount, tallyNames)
	g.Node("split", count)
	g.Node("join", count)
	var from []string
	for i := range branches {
		branch := fmt.Sprint("b", i)
		g.Node(branch, name)
		g.Edge("split", branch)
		from = append(from, branch)
	}
	g.Join("join", from...)
	g.Edge("join", graph.End)
	g.Start("split")
	return compiled(b, g)
}

func askGraph(b testing.TB) *graph.Compiled[tally] {
	g := graph.New("ask", 1, tallyCount, tallyNames)
	g.Node("before", count)
	g.Node("ask", func(_ context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		answer, ok := step.Answer("which")
		if !ok {
			return graph.Ask[tally](graph.Question{Key: "which", Text: "Which one?", FreeText: true}), nil
		}
		return graph.Update(tallyNames.Set([]string{answer.Text})), nil
	}, graph.Policy{Asks: true})
	g.Node("after", count)
	g.Edge("before", "ask")
	g.Edge("ask", "after")
	g.Edge("after", graph.End)
	g.Start("before")
	return compiled(b, g)
}

func compiled[S any](b testing.TB, g *graph.Graph[S]) *graph.Compiled[S] {
	b.Helper()
	c, err := g.Compile()
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func benchmarkStart(b *testing.B, c *graph.Compiled[tally], options graph.Options) {
	b.ReportAllocs()
	for b.Loop() {
		outcome, err := c.Start(b.Context(), "run", tally{}, options)
		if err != nil || outcome.Status != graph.Done {
			b.Fatal(outcome.Status, err)
		}
	}
}

func BenchmarkLine8(b *testing.B) { benchmarkStart(b, lineGraph(b, 8), graph.Options{}) }

func BenchmarkLine8Saved(b *testing.B) {
	benchmarkStart(b, lineGraph(b, 8), graph.Options{Store: graphtest.NewMemory()})
}

func BenchmarkFanOut5Join(b *testing.B) { benchmarkStart(b, fanGraph(b, 5), graph.Options{}) }

func BenchmarkAskAndResume(b *testing.B) {
	c := askGraph(b)
	options := graph.Options{Store: graphtest.NewMemory()}
	b.ReportAllocs()
	for b.Loop() {
		outcome, err := c.Start(b.Context(), "run", tally{}, options)
		if err != nil {
			b.Fatal(err)
		}
		answers := []graph.Answer{{QuestionID: outcome.Questions[0].ID, Text: "this"}}
		if outcome, err = c.Resume(b.Context(), "run", answers, options); err != nil || outcome.Status != graph.Done {
			b.Fatal(outcome.Status, err)
		}
	}
}

// The floor is what each of these graphs costs when written by hand for it alone: the
// same state and checkpoints, no policies, events, joins of uneven branches or names.

type floorNode func(ctx context.Context, state tally) (change func(*tally), err error)

func floorCount(_ context.Context, s tally) (func(*tally), error) {
	return func(t *tally) { t.Count = s.Count + 1 }, nil
}

func floorName(_ context.Context, _ tally) (func(*tally), error) {
	return func(t *tally) { t.Names = append(t.Names[:len(t.Names):len(t.Names)], "b") }, nil
}

// floorStep runs nodes at once and folds their changes in order.
func floorStep(ctx context.Context, state tally, nodes ...floorNode) (tally, error) {
	changes, errs := make([]func(*tally), len(nodes)), make([]error, len(nodes))
	if len(nodes) == 1 {
		changes[0], errs[0] = nodes[0](ctx, state)
	} else {
		var running sync.WaitGroup
		for i, node := range nodes {
			running.Go(func() { changes[i], errs[i] = node(ctx, state) })
		}
		running.Wait()
	}
	for i, change := range changes {
		if errs[i] != nil {
			return state, errs[i]
		}
		change(&state)
	}
	return state, ctx.Err()
}

type floorCheckpoint struct {
	Step  int
	State tally
}

func floorSave(b *testing.B, store graph.Store, checkpoint floorCheckpoint) {
	raw, err := json.Marshal(checkpoint)
	if err == nil {
		err = store.Save(b.Context(), "run", raw)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func benchmarkFloor(b *testing.B, store graph.Store, steps ...[]floorNode) {
	b.ReportAllocs()
	for b.Loop() {
		var state tally
		var err error
		for i, nodes := range steps {
			if state, err = floorStep(b.Context(), state, nodes...); err != nil {
				b.Fatal(err)
			}
			if store != nil {
				floorSave(b, store, floorCheckpoint{i, state})
			}
		}
	}
}

func floorLine() [][]floorNode {
	var steps [][]floorNode
	for range 8 {
		steps = append(steps, []floorNode{floorCount})
	}
	return steps
}

func BenchmarkFloorLine8(b *testing.B) { benchmarkFloor(b, nil, floorLine()...) }

func BenchmarkFloorLine8Saved(b *testing.B) {
	benchmarkFloor(b, graphtest.NewMemory(), floorLine()...)
}

func BenchmarkFloorFanOut5Join(b *testing.B) {
	fan := []floorNode{floorName, floorName, floorName, floorName, floorName}
	benchmarkFloor(b, nil, []floorNode{floorCount}, fan, []floorNode{floorCount})
}

func BenchmarkFloorAskAndResume(b *testing.B) {
	store := graphtest.NewMemory()
	b.ReportAllocs()
	for b.Loop() {
		state, err := floorStep(b.Context(), tally{}, floorCount)
		if err != nil {
			b.Fatal(err)
		}
		floorSave(b, store, floorCheckpoint{0, state})
		floorSave(b, store, floorCheckpoint{1, state}) // the question
		raw, err := store.Load(b.Context(), "run")
		if err != nil {
			b.Fatal(err)
		}
		var checkpoint floorCheckpoint
		if err := json.Unmarshal(raw, &checkpoint); err != nil {
			b.Fatal(err)
		}
		state = checkpoint.State
		for i, node := range []floorNode{floorName, floorCount} {
			if state, err = floorStep(b.Context(), state, node); err != nil {
				b.Fatal(err)
			}
			floorSave(b, store, floorCheckpoint{2 + i, state})
		}
	}
}
