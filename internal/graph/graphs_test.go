package graph_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
)

// tally is the state of the test graphs.
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

// nestedGraph has two branches, each of which asks inside a nested graph.
func nestedGraph(t testing.TB, calls *counter) *graph.Compiled[tally] {
	inner := graph.New("inner", 1, tallyCount, tallyNames)
	inner.Node("before", calls.counted)
	inner.Node("ask", calls.asking, graph.Policy{Asks: true})
	inner.Edge("before", "ask")
	inner.Edge("ask", graph.End)
	inner.Start("before")
	sub := compiled(t, inner)
	g := graph.New("outer", 1, tallyCount, tallyNames)
	g.Node("split", count)
	g.Sub(graph.Nested("left", sub, tallyIn, tallyOut))
	g.Sub(graph.Nested("right", sub, tallyIn, tallyOut))
	g.Node("join", calls.counted)
	g.Edge("split", "left")
	g.Edge("split", "right")
	g.Join("join", "left", "right")
	g.Edge("join", graph.End)
	g.Start("split")
	return compiled(t, g)
}

// askingTwice is a node that asks two questions, one after the other.
func (c *counter) askingTwice(_ context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
	var said []string
	for _, key := range []string{"first", "second"} {
		answer, ok := step.Answer(key)
		if !ok {
			return graph.Ask[tally](graph.Question{Key: key, Text: step.Node + ", " + key + "?", FreeText: true,
				Choices: []graph.Choice{{ID: "a", Label: "A", Detail: "<the \"first\">"}, {ID: "b", Label: "B"}}}), nil
		}
		said = append(said, step.Node+" "+key+" "+answer.Choice+answer.Text)
	}
	c.note(step.Node)
	return graph.Update(tallyNames.Set(said)), nil
}

func tallyIn(s tally) tally { return tally{Count: s.Count} }

func tallyOut(s tally) graph.Patch[tally] { return graph.Patch[tally]{tallyNames.Set(s.Names)} }

// deepGraph nests a graph in a graph in a graph, with questions in both inner ones and
// a branch beside that waits at the outermost join.
func deepGraph(t testing.TB, calls *counter) *graph.Compiled[tally] {
	inner := graph.New("inner", 1, tallyCount, tallyNames)
	inner.Node("before", calls.counted)
	inner.Node("ask", calls.askingTwice, graph.Policy{Asks: true})
	inner.Edge("before", "ask")
	inner.Edge("ask", graph.End)
	inner.Start("before")

	middle := graph.New("middle", 1, tallyCount, tallyNames)
	middle.Node("split", calls.counted)
	middle.Sub(graph.Nested("inside", compiled(t, inner), tallyIn, tallyOut))
	middle.Node("beside", calls.askingTwice, graph.Policy{Asks: true})
	middle.Node("join", calls.counted)
	middle.Edge("split", "inside")
	middle.Edge("split", "beside")
	middle.Join("join", "inside", "beside")
	middle.Edge("join", graph.End)
	middle.Start("split")

	g := graph.New("deep", 1, tallyCount, tallyNames)
	g.Node("split", count)
	g.Node("short", calls.counted)
	g.Node("long", calls.counted)
	g.Sub(graph.Nested("nested", compiled(t, middle), tallyIn, tallyOut))
	g.Node("join", calls.counted)
	g.Edge("split", "short")
	g.Edge("split", "long")
	g.Edge("long", "nested")
	g.Join("join", "short", "nested")
	g.Edge("join", graph.End)
	g.Start("split")
	return compiled(t, g)
}

// loopGraph asks three times in a loop.
func loopGraph(t testing.TB, calls *counter) *graph.Compiled[tally] {
	g := graph.New("loop", 1, tallyCount, tallyNames)
	g.Node("ask", calls.asking)
	g.Route("ask", func(s tally) string {
		if len(s.Names) < 3 {
			return "ask"
		}
		return graph.End
	}, "ask", graph.End)
	g.Start("ask")
	return compiled(t, g)
}

// routesGraph chooses two of three ways that meet again by plain edges, after a node
// that fails at its first attempt.
func routesGraph(t testing.TB) *graph.Compiled[tally] {
	g := graph.New("routes", 1, tallyCount, tallyNames)
	g.Node("flaky", func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		if step.Attempt == 1 {
			return graph.Result[tally]{}, errors.New("busy")
		}
		return name(ctx, step)
	}, graph.Policy{Retries: 1})
	g.RouteMany("flaky", func(tally) []string { return []string{"c", "a"} }, "a", "b", "c")
	for _, node := range []string{"a", "b", "c"} {
		g.Node(node, name)
		g.Edge(node, "after")
	}
	g.Node("after", name)
	g.Edge("after", graph.End)
	g.Start("flaky")
	return compiled(t, g)
}

// everyGraph gives all of the above; any answer to their questions may be in words.
func everyGraph(t testing.TB) map[string]*graph.Compiled[tally] {
	calls := newCounter()
	return map[string]*graph.Compiled[tally]{
		"line":                    lineGraph(t, 8),
		"fan-out":                 fanGraph(t, 5),
		"ask":                     askGraph(t),
		"asks in branches":        branches(t, calls.counted, []string{"a", "b", "c"}, calls.asking, calls.counted, calls.asking),
		"asks in nested branches": nestedGraph(t, calls),
		"asks two levels deep":    deepGraph(t, calls),
		"asks in a loop":          loopGraph(t, calls),
		"routes":                  routesGraph(t),
	}
}
