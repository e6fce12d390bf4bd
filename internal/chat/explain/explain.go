// Package explain tells how an answer came about, for people who want to know why.
package explain

import (
	"fmt"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/picture"
	"cairn/internal/chat/rich"
)

// Title is what the explanation is called.
const Title = "Why this answer"

// Section is a part of an explanation: lines of text under a heading.
type Section struct {
	Heading string
	Lines   []string
}

// Room is what a section may take.
type Room struct {
	Lines  int // a further one counts those that are left out
	Length int // of a line, as rich.Length counts
}

// Sections tell a trace; what it has nothing of is not among them.
func Sections(trace chat.Trace, room Room) []Section {
	var sections []Section
	for _, s := range []Section{
		{"Steps", steps(trace)}, {"Searches", searches(trace)}, {"Passages, best first", passages(trace)},
		{"Models", models(trace)}, {"Decisions", trace.Notes},
	} {
		if len(s.Lines) == 0 {
			continue
		}
		sections = append(sections, Section{s.Heading, room.fit(s.Lines)})
	}
	return sections
}

func (r Room) fit(lines []string) []string {
	var out []string
	for i, line := range lines {
		if i == r.Lines {
			return append(out, fmt.Sprintf("and %d more", len(lines)-i))
		}
		out = append(out, rich.Cut(markup.CleanLine(line), r.Length))
	}
	return out
}

func steps(trace chat.Trace) (lines []string) {
	for _, step := range trace.Steps {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", strings.ReplaceAll(step.Node, "_", " "), step.Status, brief(step.Took)))
	}
	return lines
}

func searches(trace chat.Trace) (lines []string) {
	for _, query := range trace.Queries {
		lines = append(lines, fmt.Sprintf("“%s”: %d by words, %d by meaning, %s", query.Text, query.Lexical, query.Dense, brief(query.Took)))
	}
	return lines
}

// passages begin with their scores: the end of a line may be cut.
func passages(trace chat.Trace) (lines []string) {
	for _, found := range trace.Evidence {
		used := ""
		if found.Kept {
			used = ", used"
		}
		line := fmt.Sprintf("%.2f%s: %s: %s", found.Score, used, found.Title, found.Section)
		if found.Access != "" {
			line += " (may be shown: " + found.Access + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func models(trace chat.Trace) (lines []string) {
	for _, model := range trace.Models {
		line := fmt.Sprintf("%s: %s, %d + %d tokens, %s", model.Role, model.Model, model.Prompt, model.Completion, brief(model.Took))
		if model.Failure != "" {
			line = fmt.Sprintf("%s: %s failed: %s", model.Role, model.Model, model.Failure)
		}
		lines = append(lines, line)
	}
	return lines
}

// Footer names a run, its flow, and how long it worked.
func Footer(run chat.RunID, trace chat.Trace) string {
	return fmt.Sprintf("Run %s, flow %s, worked %s", run, trace.Flow, brief(trace.Took))
}

// brief rounds a time to what people read.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return "under 1 ms"
}

// Picture draws the graph of a run with the way that it took, as a PNG; nil where graphs
// is nil or knows none.
func Picture(graphs chat.Graphs, trace chat.Trace) ([]byte, error) {
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
	return picture.PNG(svg, func(node string) bool { return took[node] })
}
