package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// TraceTitle is what the explanation is called.
const TraceTitle = "Why this answer"

// TraceSection is a part of an explanation: lines of text under a heading.
type TraceSection struct {
	Heading string
	Lines   []string
}

// TraceRoom is what a section may take.
type TraceRoom struct {
	Lines  int // a further one counts those that are left out
	Length int // of a line, as Length counts
}

// TraceSections tell a trace in the words of those who asked: how the answer was written, what
// was searched for, and which pages were used or left out. What the trace has nothing of
// is not among them. Scores, steps and decisions are for operators, who have the trace.
func TraceSections(trace chat.Trace, room TraceRoom) []TraceSection {
	used, left := evidencePages(trace)
	var sections []TraceSection
	for _, s := range []TraceSection{
		{"How it was written", writingLines(trace)}, {"Searched for", searchLines(trace)},
		{"Pages used", used}, {"Read and left out", left}, {"Steps", stepLines(trace)},
	} {
		if len(s.Lines) == 0 {
			continue
		}
		sections = append(sections, TraceSection{s.Heading, room.fitLines(s.Lines)})
	}
	return sections
}

func (r TraceRoom) fitLines(lines []string) []string {
	var out []string
	for i, line := range lines {
		if i == r.Lines {
			return append(out, fmt.Sprintf("and %d more", len(lines)-i))
		}
		out = append(out, Cut(markup.CleanLine(line), r.Length))
	}
	return out
}

// stepLines returns those of a run that searched nothing: what it did is all there is to tell.
func stepLines(trace chat.Trace) (lines []string) {
	if len(trace.Queries) > 0 || len(trace.Evidence) > 0 {
		return nil
	}
	for _, step := range trace.Steps {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", strings.ReplaceAll(step.Node, "_", " "), step.Status, roundDuration(step.Took)))
	}
	return lines
}

// writingLines reports whether a language model wrote the answer.
func writingLines(trace chat.Trace) (lines []string) {
	if len(trace.Models) == 0 && len(trace.Evidence) > 0 {
		return []string{"The answer quotes the pages word for word; no language model wrote it."}
	}
	var wrote []string
	for _, model := range trace.Models {
		switch {
		case model.Failure != "":
			lines = append(lines, fmt.Sprintf("%s gave nothing: %s.", model.Model, model.Failure))
		case !slices.Contains(wrote, model.Model):
			wrote = append(wrote, model.Model)
		}
	}
	if len(wrote) > 0 {
		said := "With the language model " + strings.Join(wrote, " and ") + "."
		if len(trace.Evidence) > 0 {
			said = "With the language model " + strings.Join(wrote, " and ") + ", from the pages below; each sentence was checked against the page that it cites."
		}
		lines = append([]string{said}, lines...)
	}
	return lines
}

func searchLines(trace chat.Trace) (lines []string) {
	for _, query := range trace.Queries {
		if line := "“" + query.Text + "”"; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// evidencePages returns the sections that the answer was made from, and those that were read beside
// them, best first.
func evidencePages(trace chat.Trace) (used, left []string) {
	for _, found := range trace.Evidence {
		line := found.Title
		if found.Section != "" && found.Section != found.Title {
			line += ": " + found.Section
		}
		switch {
		case slices.Contains(used, line):
		case found.Kept:
			used = append(used, line)
		case !slices.Contains(left, line):
			left = append(left, line)
		}
	}
	return used, slices.DeleteFunc(left, func(line string) bool { return slices.Contains(used, line) })
}

// TraceFooter names a run, its flow, and how long it worked.
func TraceFooter(run chat.RunID, trace chat.Trace) string {
	return fmt.Sprintf("Run %s, flow %s, worked %s", run, trace.Flow, roundDuration(trace.Took))
}

// roundDuration rounds a time to what people read.
func roundDuration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return "under 1 ms"
}

// DrawTrace draws the graph of a run with the way that it took, as a PNG; nil where graphs
// is nil or knows none.
func DrawTrace(graphs chat.Graphs, trace chat.Trace) ([]byte, error) {
	if graphs == nil {
		return nil, nil
	}
	svg, known := graphs.Graph(trace.Flow)
	if !known {
		return nil, nil
	}
	took := map[string]bool{}
	for _, step := range trace.Steps {
		took[step.Node] = true
	}
	return PNG(svg, func(node string) bool { return took[node] })
}
