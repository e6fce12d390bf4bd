package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
)

// TestAllMistakesAtOnce makes one graph with every mistake and finds each in the error.
func TestAllMistakesAtOnce(t *testing.T) {
	elsewhere := 0
	g := graph.New("", 2,
		graph.Replace("count", func(s *tally) *int { return &s.Count }).Was("amount"),
		graph.Replace("amount", func(s *tally) *int { return &s.Count }),
		graph.Replace("outside", func(*tally) *int { return &elsewhere }),
		graph.Replace("broken", func(*tally) *int { panic("no") }),
		nil)
	g.Node("a", count, graph.Policy{Retries: -1})
	g.Node("a", count)
	g.Node("b", nil)
	g.Node("x/y", count, graph.Policy{}, graph.Policy{})
	g.Sub(graph.Nested[tally, tally]("sub", nil, nil, nil), graph.Policy{Retries: 1})
	g.Start("a")
	g.Start("b")
	g.Edge("a", "nowhere")
	g.Edge("a", graph.End)
	g.Edge("a", graph.End)
	g.Route("a", nil, "b")
	g.Route("b", func(tally) string { return "" })
	g.RouteMany("b", func(tally) []string { return nil }, "a", "a")
	g.Join("b", "a")
	g.Join("b", "a", "b")
	g.Label("a", "b2", "words")
	g.Alias("b", "a")
	g.Alias("old", "gone")
	g.Retired("count")
	g.Migrate(2, nil)
	_, err := g.Compile()
	if err == nil {
		t.Fatal("the graph was taken")
	}
	for _, want := range []string{
		"no name", `"amount" is empty or used twice`, `share the same place`, `"outside": its address`, `"broken": its address`, "field 4 is nil",
		"tally.Names is in no declared field", "negative time-out", `"a" is declared twice`, `"b" has no function`, `"x/y"`, "2 policies",
		"no compiled graph", "retries: they belong", "several starts", `"nowhere"`, `from "a" to "end" is declared twice`,
		"no choose function", `route from "b" has no targets`, `names "a" twice`, "needs two nodes", `join "b" is declared twice`, "or for itself",
		`label "words": there is no edge`, `alias "b"`, `"gone"`, `retired field "count"`, "migration from version 2",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestConnections(t *testing.T) {
	g := graph.New("loose", 3, tallyCount, tallyNames)
	for _, node := range []string{"a", "b", "island", "trap"} {
		g.Node(node, count)
	}
	g.Edge("a", "b")
	g.Edge("a", "trap")
	g.Edge("trap", "trap")
	g.Edge("b", graph.End)
	g.Edge("island", graph.End)
	g.Start("a")
	g.Migrate(2, func(map[string]json.RawMessage) error { return nil })
	_, err := g.Compile()
	if err == nil || !strings.Contains(err.Error(), `"island" cannot be reached`) || !strings.Contains(err.Error(), `"trap" has no way to End`) {
		t.Errorf("Compile = %v", err)
	}
	g = graph.New("gap", 3, tallyCount, tallyNames)
	g.Migrate(1, func(map[string]json.RawMessage) error { return nil })
	if _, err := g.Compile(); err == nil || !strings.Contains(err.Error(), "migration from version 2 is missing") || !strings.Contains(err.Error(), "no start") {
		t.Errorf("Compile = %v", err)
	}
}

// TestFieldsMakeUpTheState declares a part of a nested struct only.
func TestFieldsMakeUpTheState(t *testing.T) {
	type state struct {
		In struct {
			A int
			B []string
		}
		_ int
	}
	g := graph.New("parts", 1, graph.Replace("a", func(s *state) *int { return &s.In.A }))
	g.Node("only", func(ctx, graph.Step[state]) (graph.Result[state], error) { return graph.Update[state](), nil })
	g.Edge("only", graph.End)
	g.Start("only")
	_, err := g.Compile()
	if err == nil || !strings.Contains(err.Error(), "state.In.B") || strings.Contains(err.Error(), "state.In.A") {
		t.Errorf("Compile = %v, want In.B named and In.A not", err)
	}
}

func TestShape(t *testing.T) {
	g := graph.New("shape", 1, tallyCount, tallyNames)
	g.Node("ask", newCounter().asking, graph.Policy{Asks: true, Description: "Asking"})
	g.Sub(graph.Nested("sub", fanGraph(t, 2), func(s tally) tally { return s }, func(tally) graph.Patch[tally] { return nil }))
	g.Route("ask", func(tally) string { return "sub" }, "sub", graph.End)
	g.Label("ask", "sub", "found")
	g.Edge("sub", graph.End)
	g.Start("ask")
	shape := compiled(t, g).Shape()
	want := []graph.ShapeEdge{
		{From: "ask", To: "sub", Label: "found", Conditional: true},
		{From: "ask", To: graph.End, Conditional: true},
		{From: "sub", To: graph.End},
	}
	if !slices.Equal(shape.Edges, want) || shape.Start != "ask" || shape.Name != "shape" {
		t.Errorf("shape %+v", shape)
	}
	if shape.Nodes[0].Kind != graph.KindQuestion || shape.Nodes[0].Description != "Asking" || shape.Nodes[1].Kind != graph.KindNested {
		t.Errorf("nodes %+v", shape.Nodes)
	}
	if inner := shape.Nodes[1].Nested; inner == nil || !slices.Contains(inner.Edges, graph.ShapeEdge{From: "b1", To: "join", Join: true}) {
		t.Errorf("nested shape %+v", shape.Nodes[1].Nested)
	}
}

func TestReducersLeaveTheOldValueAlone(t *testing.T) {
	type state struct {
		List []int
		Map  map[string]int
	}
	list := graph.Append("list", func(s *state) *[]int { return &s.List })
	entries := graph.Merge("map", func(s *state) *map[string]int { return &s.Map })
	g := graph.New("reduce", 1, list, entries)
	g.Node("only", func(_ ctx, _ graph.Step[state]) (graph.Result[state], error) {
		return graph.Update(list.Set([]int{2}), list.Set(nil), entries.Set(map[string]int{"a": 2, "b": 3})), nil
	})
	g.Edge("only", graph.End)
	g.Start("only")
	backing := []int{1, 9}
	initial := state{List: backing[:1], Map: map[string]int{"a": 1}}
	outcome, err := compiled(t, g).Start(t.Context(), "run", initial, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if backing[1] != 9 || len(initial.Map) != 1 || initial.Map["a"] != 1 {
		t.Errorf("the old values were written to: %v, %v", backing, initial.Map)
	}
	if !slices.Equal(outcome.State.List, []int{1, 2}) || cap(outcome.State.List) != 2 || outcome.State.Map["a"] != 2 || outcome.State.Map["b"] != 3 {
		t.Errorf("state %+v", outcome.State)
	}
}
