package terminal

import (
	"fmt"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// Trace writes how an answer came about: the steps with their times, the searches
// with the terms looked up and left out, the candidates, and the decisions.
func (r Renderer) Trace(trace chat.Trace) error {
	width := r.width()
	lines := []line{{{"Why this answer", style{bold: true}}, {took(trace.Took), style{faint: true}}}}
	for _, step := range trace.Steps {
		lines = append(lines, hanging(plain("  "), append(plain(markup.CleanLine(step.Node)), faint(took(step.Took))...), width)...)
	}
	for _, query := range trace.Queries {
		lines = append(lines, line{})
		lines = append(lines, traceQuery(query, width)...)
	}
	if len(trace.Evidence) > 0 {
		lines = append(lines, line{})
		lines = append(lines, traceEvidence(trace.Evidence, width)...)
	}
	if len(trace.Notes) > 0 {
		lines = append(lines, line{})
	}
	for _, note := range trace.Notes {
		lines = append(lines, hanging(faint("• "), plain(markup.CleanLine(note)), width)...)
	}
	return r.write(lines)
}

func traceQuery(query chat.TraceQuery, width int) []line {
	searched := append(plain(markup.CleanLine(query.Text)), faint(took(query.Took))...)
	lines := hanging(line{{"Searched  ", style{bold: true}}}, searched, width)
	for _, row := range []struct{ name, value string }{
		{"looked up ", terms(query.Used)},
		{"left out  ", terms(query.Pruned)},
		{"found     ", fmt.Sprintf("%d by words, %d by meaning", query.Lexical, query.Dense)},
	} {
		if row.value != "" {
			lines = append(lines, hanging(faint(row.name), plain(row.value), width)...)
		}
	}
	return lines
}

func terms(terms []string) string { return markup.CleanLine(strings.Join(terms, ", ")) }

// traceEvidence is the candidates as a table; those the answer was made from are
// marked and bold.
func traceEvidence(evidence []chat.TraceEvidence, width int) []line {
	columns := []column{
		{heading: plain(" ")},
		{heading: faint("score"), right: true},
		{heading: faint("words"), right: true},
		{heading: faint("meaning"), right: true},
		{heading: faint("passage")},
	}
	rows := make([][]line, len(evidence))
	for i, candidate := range evidence {
		kept, look := plain(" "), style{faint: true}
		if candidate.Kept {
			kept, look = line{{"✓", style{good: true}}}, style{}
		}
		passage := markup.CleanLine(candidate.Title)
		if candidate.Section != "" {
			passage += " — " + markup.CleanLine(candidate.Section)
		}
		rows[i] = []line{
			kept,
			plain(fmt.Sprintf("%.2f", candidate.Score)),
			plain(fmt.Sprintf("%.1f", candidate.Lexical)),
			plain(fmt.Sprintf("%.2f", candidate.Dense)),
			{{passage, look}},
		}
	}
	return grid(columns, rows, width)
}
