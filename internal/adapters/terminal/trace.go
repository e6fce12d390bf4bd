package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// Trace writes how an answer came about: the steps with their times, the searches with
// the terms looked up and left out, the candidates, what agents and language models
// did, the numbers that decisions were taken from, and the decisions.
func (r Renderer) Trace(trace chat.Trace) error {
	width := r.width()
	lines := []line{{{"Why this answer", style{bold: true}}, {formatTook(trace.Took), style{faint: true}}}}
	for _, step := range trace.Steps {
		lines = append(lines, traceStep(step, width)...)
	}
	for _, query := range trace.Queries {
		lines = append(lines, line{})
		lines = append(lines, traceQuery(query, width)...)
	}
	for _, table := range [][]line{
		traceEvidence(trace.Evidence, width), traceAgents(trace.Agents, width),
		traceModels(trace.Models, width), traceInputs(trace.Inputs, width),
	} {
		if len(table) > 0 {
			lines = append(append(lines, line{}), table...)
		}
	}
	if len(trace.Notes) > 0 {
		lines = append(lines, line{})
	}
	for _, note := range trace.Notes {
		lines = append(lines, hangingIndent(faintLine("• "), plainLine(markup.CleanLine(note)), width)...)
	}
	return r.writeLines(lines)
}

func traceStep(step chat.TraceStep, width int) []line {
	row := append(plainLine(markup.CleanLine(step.Node)), faintLine(formatTook(step.Took))...)
	switch step.Status {
	case chat.Completed:
	case chat.Pending:
		row = append(row, span{" waits for an answer", style{mark: true}})
	default:
		row = append(row, span{" " + markup.CleanLine(string(step.Status)), style{bad: true}})
	}
	return hangingIndent(plainLine("  "), row, width)
}

func traceQuery(query chat.TraceQuery, width int) []line {
	searched := append(plainLine(markup.CleanLine(query.Text)), faintLine(formatTook(query.Took))...)
	lines := hangingIndent(line{{"Searched  ", style{bold: true}}}, searched, width)
	for _, row := range []struct{ name, value string }{
		{"looked up ", joinTerms(query.Used)},
		{"left out  ", joinTerms(query.Pruned)},
		{"found     ", fmt.Sprintf("%d by words, %d by meaning", query.Lexical, query.Dense)},
	} {
		if row.value != "" {
			lines = append(lines, hangingIndent(faintLine(row.name), plainLine(row.value), width)...)
		}
	}
	return lines
}

func joinTerms(terms []string) string { return markup.CleanLine(strings.Join(terms, ", ")) }

// traceEvidence returns the candidates as a table; those the answer was made from are
// marked and bold.
func traceEvidence(evidence []chat.TraceEvidence, width int) []line {
	if len(evidence) == 0 {
		return nil
	}
	columns := []column{
		{heading: plainLine(" ")},
		{heading: faintLine("score"), right: true},
		{heading: faintLine("words"), right: true},
		{heading: faintLine("meaning"), right: true},
		{heading: faintLine("passage")},
	}
	rows := make([][]line, len(evidence))
	for i, candidate := range evidence {
		kept, look := plainLine(" "), style{faint: true}
		if candidate.Kept {
			kept, look = line{{"✓", style{good: true}}}, style{}
		}
		passage := markup.CleanLine(candidate.Title)
		if candidate.Section != "" {
			passage += " — " + markup.CleanLine(candidate.Section)
		}
		if candidate.Access != "" {
			passage += " (may be shown: " + markup.CleanLine(candidate.Access) + ")"
		}
		rows[i] = []line{
			kept,
			plainLine(fmt.Sprintf("%.2f", candidate.Score)),
			plainLine(fmt.Sprintf("%.1f", candidate.Lexical)),
			plainLine(fmt.Sprintf("%.2f", candidate.Dense)),
			{{passage, look}},
		}
	}
	return renderGrid(columns, rows, width)
}

func traceAgents(agents []chat.TraceAgent, width int) []line {
	if len(agents) == 0 {
		return nil
	}
	columns := []column{
		{heading: faintLine("agent")},
		{heading: faintLine("requests"), right: true},
		{heading: faintLine("failed"), right: true},
		{heading: faintLine("time"), right: true},
	}
	rows := make([][]line, len(agents))
	for i, agent := range agents {
		failed := plainLine(strconv.Itoa(agent.Failures))
		if agent.Failures > 0 {
			failed = line{{strconv.Itoa(agent.Failures), style{bad: true}}}
		}
		rows[i] = []line{plainLine(markup.CleanLine(agent.Name)), plainLine(strconv.Itoa(agent.Requests)), failed, plainLine(formatDuration(agent.Took))}
	}
	return renderGrid(columns, rows, width)
}

// traceModels returns the requests to language models as a table; costs are left out where
// none has a price. Why a request gave nothing stands below the table.
func traceModels(models []chat.TraceModel, width int) []line {
	if len(models) == 0 {
		return nil
	}
	priced := slices.ContainsFunc(models, func(model chat.TraceModel) bool { return model.Cost > 0 })
	columns := []column{
		{heading: faintLine("for")}, {heading: faintLine("model")},
		{heading: faintLine("tokens in"), right: true}, {heading: faintLine("out"), right: true},
	}
	if priced {
		columns = append(columns, column{heading: faintLine("cost"), right: true})
	}
	columns = append(columns, column{heading: faintLine("first"), right: true}, column{heading: faintLine("time"), right: true})
	rows := make([][]line, len(models))
	var failures []line
	for i, model := range models {
		role := markup.CleanLine(model.Role)
		rows[i] = []line{plainLine(role), plainLine(markup.CleanLine(model.Model)), plainLine(strconv.Itoa(model.Prompt)), plainLine(strconv.Itoa(model.Completion))}
		if priced {
			rows[i] = append(rows[i], plainLine(strconv.FormatFloat(model.Cost, 'f', 4, 64)))
		}
		first := ""
		if model.FirstToken > 0 {
			first = formatDuration(model.FirstToken)
		}
		rows[i] = append(rows[i], plainLine(first), plainLine(formatDuration(model.Took)))
		if model.Failure != "" {
			failures = append(failures, hangingIndent(line{{"✗ ", style{bad: true}}}, plainLine(role+": "+markup.CleanLine(model.Failure)), width)...)
		}
	}
	return append(renderGrid(columns, rows, width), failures...)
}

// traceInputs returns the numbers that the decisions to ask and to abstain were taken from;
// those that tipped the scale are marked.
func traceInputs(inputs []chat.TraceInput, width int) []line {
	if len(inputs) == 0 {
		return nil
	}
	columns := []column{
		{heading: plainLine(" ")},
		{heading: faintLine("decided from")},
		{heading: faintLine("value"), right: true},
		{heading: faintLine("limit"), right: true},
	}
	number := func(f float64) line { return plainLine(strconv.FormatFloat(f, 'g', 3, 64)) }
	rows := make([][]line, len(inputs))
	for i, input := range inputs {
		decided := plainLine(" ")
		if input.Decided {
			decided = line{{"✓", style{good: true}}}
		}
		rows[i] = []line{decided, plainLine(markup.CleanLine(input.Name)), number(input.Value), number(input.Limit)}
	}
	return renderGrid(columns, rows, width)
}
