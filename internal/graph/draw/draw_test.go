package draw

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
)

var update = flag.Bool("update", false, "write the golden files anew")

type state struct{ Step string }

func newGraph(name string) *graph.Graph[state] {
	return graph.New(name, 1, graph.Replace("step", func(s *state) *string { return &s.Step }))
}

func pass(context.Context, graph.Step[state]) (graph.Result[state], error) {
	return graph.Update[state](), nil
}

func compile(t *testing.T, g *graph.Graph[state]) *graph.Compiled[state] {
	t.Helper()
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// everything has each kind of node and edge.
func everything(t *testing.T) graph.Shape {
	search := newGraph("search")
	search.Node("words", pass)
	search.Node("meaning", pass)
	search.Node("fuse", pass, graph.Policy{Description: "Fusing both lists"})
	search.Node("split", pass)
	search.Edge("split", "words")
	search.Edge("split", "meaning")
	search.Join("fuse", "words", "meaning")
	search.Edge("fuse", graph.End)
	search.Start("split")

	g := newGraph("every kind")
	g.Node("understand", pass, graph.Policy{Description: "Understanding the question"})
	g.Node("clarify", pass, graph.Policy{Description: "Asking which product is meant, if that matters for the answer", Asks: true})
	g.Sub(graph.Nested("search", compile(t, search), func(s state) state { return s }, func(state) graph.Patch[state] { return nil }))
	g.Node("more", pass)
	g.Node("answer", pass, graph.Policy{Description: `Writing "the answer" <with sources> & links`})
	g.Node("fail", pass)
	g.Edge("understand", "clarify")
	g.Edge("clarify", "search")
	g.Route("search", func(state) string { return "answer" }, "answer", "more", "fail")
	g.Label("search", "more", "too little")
	g.Edge("more", "search")
	g.Route("answer", func(state) string { return graph.End }, "answer", graph.End)
	g.Edge("fail", graph.End)
	g.Start("understand")
	return compile(t, g).Shape()
}

func TestGolden(t *testing.T) {
	shape := everything(t)
	for file, got := range map[string]string{"every.mmd": Mermaid(shape), "every.dot": DOT(shape), "every.svg": SVG(shape)} {
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs: look at it with -update and git diff", path)
		}
	}
}

// TestSVGIsWellFormed reads the picture as XML and finds every node in it once.
func TestSVGIsWellFormed(t *testing.T) {
	found := map[string]int{}
	decoder := xml.NewDecoder(strings.NewReader(SVG(everything(t))))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			for _, attribute := range start.Attr {
				if attribute.Name.Local == "data-node" {
					found[attribute.Value]++
				}
			}
		}
	}
	want := []string{"understand", "clarify", "search", "search/words", "search/meaning", "search/fuse", "search/split", "more", "answer", "fail"}
	for _, node := range want {
		if found[node] != 1 {
			t.Errorf("node %q is drawn %d times", node, found[node])
		}
	}
	if len(found) != len(want) {
		t.Errorf("drawn nodes: %v", found)
	}
}

// TestBoxesDoNotOverlap looks at every pair of boxes, bends among them.
func TestBoxesDoNotOverlap(t *testing.T) {
	l := arrangeLayout(everything(t))
	for _, layer := range l.layers {
		for i, b := range layer {
			if b.x-b.width/2 < margin-.01 || b.x+b.width/2 > l.width-margin+.01 || b.y+b.height/2 > l.height-margin+.01 {
				t.Errorf("box %q sticks out of the picture", b.name)
			}
			if i > 0 && layer[i-1].x+layer[i-1].width/2+minDistance(layer[i-1], b) > b.x-b.width/2+.01 {
				t.Errorf("boxes %q and %q are too close", layer[i-1].name, b.name)
			}
		}
	}
	for i := 1; i < len(l.layers); i++ {
		for _, upper := range l.layers[i-1] {
			for _, lower := range l.layers[i] {
				if upper.y+upper.height/2 > lower.y-lower.height/2-gapY+.01 {
					t.Errorf("boxes %q and %q of layers %d and %d are too close", upper.name, lower.name, i-1, i)
				}
			}
		}
	}
}

func TestUncrossFindsTheOrderWithoutCrossings(t *testing.T) {
	g := newGraph("crossed")
	for _, name := range []string{"split", "a", "b", "c", "c2", "b2", "a2"} {
		g.Node(name, pass)
	}
	for _, branch := range []string{"a", "b", "c"} {
		g.Edge("split", branch)
		g.Edge(branch, branch+"2")
		g.Edge(branch+"2", graph.End)
	}
	g.Start("split")
	if crossings := arrangeLayout(compile(t, g).Shape()).countCrossings(); crossings != 0 {
		t.Errorf("%d crossings are left", crossings)
	}
}
