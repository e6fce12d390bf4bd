package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// Trace writes how an answer came about: the steps with their times, the searches with
// the terms looked up and left out, the candidates, what agents and language models
// did, the numbers that decisions were taken from, and the decisions.
func (r Renderer) Trace(trace chat.Trace) error {
	width := r.width()
	lines := []line{{{"Why this answer", style{bold: true}}, {took(trace.Took), style{faint: true}}}}
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
		lines = append(lines, hanging(faint("• "), plain(markup.CleanLine(note)), width)...)
	}
	return r.write(lines)
}

func traceStep(step chat.TraceStep, width int) []line {
	row := append(plain(markup.CleanLine(step.Node)), faint(took(step.Took))...)
	switch step.Status {
	case chat.Completed:
	case chat.Pending:
		row = append(row, span{" waits for an answer", style{mark: true}})
	default:
		row = append(row, span{" " + markup.CleanLine(string(step.Status)), style{bad: true}})
	}
	return hanging(plain("  "), row, width)
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
	if len(evidence) == 0 {
		return nil
	}
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
		if candidate.Access != "" {
			passage += " (may be shown: " + markup.CleanLine(candidate.Access) + ")"
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

func traceAgents(agents []chat.TraceAgent, width int) []line {
	if len(agents) == 0 {
		return nil
	}
	columns := []column{
		{heading: faint("agent")},
		{heading: faint("requests"), right: true},
		{heading: faint("failed"), right: true},
		{heading: faint("time"), right: true},
	}
	rows := make([][]line, len(agents))
	for i, agent := range agents {
		failed := plain(strconv.Itoa(agent.Failures))
		if agent.Failures > 0 {
			failed = line{{strconv.Itoa(agent.Failures), style{bad: true}}}
		}
		rows[i] = []line{plain(markup.CleanLine(agent.Name)), plain(strconv.Itoa(agent.Requests)), failed, plain(duration(agent.Took))}
	}
	return grid(columns, rows, width)
}

// traceModels is the requests to language models as a table; costs are left out where
// none has a price. Why a request gave nothing stands below the table.
func traceModels(models []chat.TraceModel, width int) []line {
	if len(models) == 0 {
		return nil
	}
	priced := slices.ContainsFunc(models, func(model chat.TraceModel) bool { return model.Cost > 0 })
	columns := []column{
		{heading: faint("for")}, {heading: faint("model")},
		{heading: faint("tokens in"), right: true}, {heading: faint("out"), right: true},
	}
	if priced {
		columns = append(columns, column{heading: faint("cost"), right: true})
	}
	columns = append(columns, column{heading: faint("first"), right: true}, column{heading: faint("time"), right: true})
	rows := make([][]line, len(models))
	var failures []line
	for i, model := range models {
		role := markup.CleanLine(model.Role)
		rows[i] = []line{plain(role), plain(markup.CleanLine(model.Model)), plain(strconv.Itoa(model.Prompt)), plain(strconv.Itoa(model.Completion))}
		if priced {
			rows[i] = append(rows[i], plain(strconv.FormatFloat(model.Cost, 'f', 4, 64)))
		}
		first := ""
		if model.FirstToken > 0 {
			first = duration(model.FirstToken)
		}
		rows[i] = append(rows[i], plain(first), plain(duration(model.Took)))
		if model.Failure != "" {
			failures = append(failures, hanging(line{{"✗ ", style{bad: true}}}, plain(role+": "+markup.CleanLine(model.Failure)), width)...)
		}
	}
	return append(grid(columns, rows, width), failures...)
}

// traceInputs is the numbers that the decisions to ask and to abstain were taken from;
// those that tipped the scale are marked.
func traceInputs(inputs []chat.TraceInput, width int) []line {
	if len(inputs) == 0 {
		return nil
	}
	columns := []column{
		{heading: plain(" ")},
		{heading: faint("decided from")},
		{heading: faint("value"), right: true},
		{heading: faint("limit"), right: true},
	}
	number := func(f float64) line { return plain(strconv.FormatFloat(f, 'g', 3, 64)) }
	rows := make([][]line, len(inputs))
	for i, input := range inputs {
		decided := plain(" ")
		if input.Decided {
			decided = line{{"✓", style{good: true}}}
		}
		rows[i] = []line{decided, plain(markup.CleanLine(input.Name)), number(input.Value), number(input.Limit)}
	}
	return grid(columns, rows, width)
}
