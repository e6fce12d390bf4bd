package render_test

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

func trace() chat.Trace {
	return chat.Trace{
		Flow: "answer", Took: 2345 * time.Millisecond,
		Steps: []chat.TraceStep{
			{Node: "search_index", Status: chat.Completed, Took: 1234 * time.Microsecond}, {Node: "write", Status: chat.Failed, Took: time.Microsecond},
		},
		Evidence: []chat.TraceEvidence{{Title: "A", Section: "B", Score: 0.934, Kept: true}, {Title: "C\nD", Section: "E"}},
		Models: []chat.TraceModel{
			{Role: "answer", Model: "large", Prompt: 10, Completion: 2, Took: time.Second}, {Role: "verify", Model: "small", Failure: "timeout"},
		},
		Queries: []chat.TraceQuery{{Text: "rollback", Lexical: 3, Dense: 4, Took: 20 * time.Millisecond}},
		Notes:   []string{"one", "two", "three", "four"},
	}
}

func TestSections(t *testing.T) {
	var told []string
	for _, section := range render.TraceSections(trace(), render.TraceRoom{Lines: 2, Length: 40}) {
		told = append(told, section.Heading)
		for _, line := range section.Lines {
			told = append(told, "  "+line)
		}
	}
	want := `How it was written
  With the language model large, from the…
  small gave nothing: timeout.
Searched for
  “rollback”
Pages used
  A: B
Read and left out
  C D: E`
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if sections := render.TraceSections(chat.Trace{}, render.TraceRoom{Lines: 2, Length: 40}); sections != nil {
		t.Errorf("of nothing: %+v", sections)
	}
	if got := render.TraceFooter("run-1", trace()); got != "Run run-1, flow answer, worked 2.3s" {
		t.Error(got)
	}
}

// graphs knows one graph.
type graphs string

func (g graphs) Graph(flow string) (string, bool) { return string(g), flow == "answer" }

func TestPicture(t *testing.T) {
	const svg = `<svg width="60" height="40"><g class="node" data-node="%s"><rect class="box" x="5.0" y="5.0" width="50.0" height="30.0" rx="6"/></g></svg>`
	took, err := render.DrawTrace(graphs(fmt.Sprintf(svg, "write")), trace())
	if err != nil {
		t.Fatal(err)
	}
	other, err := render.DrawTrace(graphs(fmt.Sprintf(svg, "other")), trace())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(took)); err != nil || bytes.Equal(took, other) {
		t.Errorf("%v, or the way that the run took is not marked", err)
	}
	if none, err := render.DrawTrace(nil, trace()); none != nil || err != nil {
		t.Errorf("without graphs: %d bytes, %v", len(none), err)
	}
	if none, err := render.DrawTrace(graphs(svg), chat.Trace{Flow: "unknown"}); none != nil || err != nil {
		t.Errorf("of an unknown flow: %d bytes, %v", len(none), err)
	}
	if _, err := render.DrawTrace(graphs("no SVG"), trace()); err == nil {
		t.Error("what is no SVG was drawn")
	}
}
