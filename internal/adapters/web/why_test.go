package web

import (
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

func TestWhyGolden(t *testing.T) {
	bot := &chattest.Bot{}
	w := open(t, bot)
	defer w.listener.Close()
	for name, trace := range map[string]chat.Trace{"why": chattest.Answer().Trace, "why-hostile": chattest.Hostile().Trace} {
		t.Run(name, func(t *testing.T) {
			v := newWhyView(trace)
			v.Thread, v.Place, v.Question = "THREAD", "m-ABC-0", "How do I roll back a release?"
			if svg, known := bot.Graph(trace.Flow); known {
				drawn, err := renderPicture(svg, newWay(trace.Steps, true))
				if err != nil {
					t.Fatal(err)
				}
				v.Picture = drawn
			}
			got, err := w.responder.renderFragment("why", v)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".golden.html", got)
			if err := harmless(got); err != nil {
				t.Error(err)
			}
		})
	}
}

// everyGraph has each kind of node and edge, as package draw draws it.
func everyGraph(t *testing.T) string {
	t.Helper()
	svg, err := os.ReadFile("testdata/every.svg")
	if err != nil {
		t.Fatal(err)
	}
	return string(svg)
}

var (
	takenEdge = regexp.MustCompile(`<path class="edge[a-z ]* taken" data-from="([^"]*)" data-to="([^"]*)"`)
	takenNode = regexp.MustCompile(`<g class="node [a-z]+ taken ([a-z]+)" data-node="([^"]*)"`)
)

func TestPictureMarksTheWayTaken(t *testing.T) {
	passed := func(nodes ...string) (steps []chat.TraceStep) {
		for _, node := range nodes {
			steps = append(steps, chat.TraceStep{Node: node, Status: chat.Completed})
		}
		return steps
	}
	running := append(passed("understand", "clarify"), chat.TraceStep{Node: "search/split", Status: chat.Running})
	failed := append(passed("understand", "clarify"), chat.TraceStep{Node: "search/meaning", Status: chat.Failed})
	for _, test := range []struct {
		name         string
		steps        []chat.TraceStep
		over         bool
		nodes, edges string
	}{
		{
			"straight", passed("understand", "clarify", "search/split", "search/words", "search/meaning", "search/fuse", "search", "answer"), true,
			"understand completed, clarify completed, search completed, search/words completed, search/meaning completed, search/fuse completed, search/split completed, answer completed",
			" → understand, understand → clarify, clarify → search, search → answer, answer → end,  → search/split, search/words → search/fuse, search/meaning → search/fuse, search/fuse → search/end, search/split → search/words, search/split → search/meaning",
		},
		{
			"with a loop", passed("understand", "clarify", "search", "more", "search", "fail"), true,
			"understand completed, clarify completed, search completed, more completed, fail completed",
			" → understand, understand → clarify, clarify → search, search → more, search → fail, more → search, fail → end",
		},
		{
			"while it works", running, false,
			"understand completed, clarify completed, search running, search/split running",
			" → understand, understand → clarify, clarify → search,  → search/split",
		},
		{
			"broken off", failed, true,
			"understand completed, clarify completed, search failed, search/meaning failed",
			" → understand, understand → clarify, clarify → search",
		},
		{"unknown nodes", passed("elsewhere", "understand"), false, "understand completed", " → understand"},
		{"nothing", nil, false, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			drawn, err := renderPicture(everyGraph(t), newWay(test.steps, test.over))
			if err != nil {
				t.Fatal(err)
			}
			var nodes, edges []string
			for _, found := range takenNode.FindAllStringSubmatch(string(drawn), -1) {
				nodes = append(nodes, found[2]+" "+found[1])
			}
			for _, found := range takenEdge.FindAllStringSubmatch(string(drawn), -1) {
				edges = append(edges, found[1]+" → "+found[2])
			}
			if got := strings.Join(nodes, ", "); got != test.nodes {
				t.Errorf("nodes:\n got %s\nwant %s", got, test.nodes)
			}
			if got := strings.Join(edges, ", "); !sameSet(edges, strings.Split(test.edges, ", ")) {
				t.Errorf("edges:\n got %s\nwant %s", got, test.edges)
			}
			if err := harmless("<body>" + string(drawn)); err != nil {
				t.Error(err)
			}
		})
	}
}

func sameSet(a, b []string) bool {
	count := make(map[string]int)
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		if s != "" {
			count[s]--
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestPictureLeavesOutWhatActs(t *testing.T) {
	const svg = `<svg viewBox="0 0 1 1" onload="alert(1)" style="x"><script>alert(1)</script><style>*{}</style>` +
		`<foreignObject><b>x</b></foreignObject><g data-node="a" onclick="alert(1)" id="text"><a href="javascript:alert(1)"><text class="name" x="url(#x)">in</text></a>` +
		`<text x="1" y="2">&lt;b&gt;</text></g><image href="https://evil.example"/></svg>`
	drawn, err := renderPicture(svg, newWay([]chat.TraceStep{{Node: "a", Status: `x" onload="`}}, true))
	if err != nil {
		t.Fatal(err)
	}
	want := `<svg aria-hidden="true" focusable="false" viewBox="0 0 1 1"><g data-node="a"><text x="1" y="2">&lt;b&gt;</text></g></svg>`
	if string(drawn) != want {
		t.Errorf(" got %s\nwant %s", drawn, want)
	}
	if _, err := renderPicture("<svg><g></svg>", newWay(nil, true)); err == nil {
		t.Error("a broken picture is shown")
	}
}

func FuzzPicture(f *testing.F) {
	svg, err := os.ReadFile("testdata/every.svg")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(svg), "search/words")
	f.Add(`<svg onload="a"><g data-node="n" class="x"><path data-from="" data-to="/end"/></g></svg>`, "n")
	f.Add(`<svg xmlns:x="y" x:class="a" class="a&quot;b"><title>&lt;script></title></svg>`, "end")
	f.Fuzz(func(t *testing.T, svg, node string) {
		steps := []chat.TraceStep{{Node: node, Status: chat.Completed, Took: time.Millisecond}, {Node: "end", Status: chat.Running}}
		drawn, err := renderPicture(svg, newWay(steps, true))
		if err != nil {
			return
		}
		if err := harmless("<body>" + string(drawn)); err != nil && strings.HasPrefix(string(drawn), "<svg") {
			t.Fatalf("%v in %s", err, drawn)
		}
		if err := xml.Unmarshal([]byte("<x>"+string(drawn)+"</x>"), new(struct{})); err != nil {
			t.Fatalf("%v in %s", err, drawn)
		}
	})
}

func TestSettled(t *testing.T) {
	for draft, want := range map[string]string{
		"":                         "",
		"It is [1":                 "It is ",
		"It is [":                  "It is ",
		"It is [12] and":           "It is [12] and",
		"It is **one com":          "It is **one com**",
		"It is **":                 "It is ",
		"It is `code":              "It is `code`",
		"Done.\n\n-":               "Done.\n",
		"Done.\n\n1. ":             "Done.\n",
		"Done.\n\n- one":           "Done.\n\n- one",
		"```sh\ncode **x":          "```sh\ncode **x",
		"A ** b.\n\nThen **c** `d": "A ** b.\n\nThen **c** `d`",
	} {
		if got := closeMarkdown(draft); got != want {
			t.Errorf("settled(%q) = %q, want %q", draft, got, want)
		}
	}
}
