package discord

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/picture"
)

// Bounds of what is shown of a trace.
const (
	maxTraceLines = 8
	maxTraceLine  = 90
	maxTrace      = 3800
)

// why shows how a run came about: in words, and with a picture of its way.
func (a *Adapter) why(ctx context.Context, bot *hearing, of signal) (note, []upload, error) {
	run := chat.RunID(of.interaction.does.about)
	trace, err := bot.Explain(ctx, run)
	if err != nil {
		return note{}, nil, err
	}
	told := embed{Title: "Why this answer", Description: traceText(trace), Color: accent, Footer: &embedFooter{
		Text: cut(markup.CleanLine(fmt.Sprintf("Run %s, flow %s, worked %s", run, trace.Flow, brief(trace.Took))), 300),
	}}
	shown := note{Embeds: []embed{told}, Mentions: nobody()}
	drawn, err := drawTrace(bot.graphs, trace)
	if err != nil { // the words are there
		a.options.Logger.WarnContext(ctx, "discord picture of a run was not drawn", slog.Any("error", err))
		drawn = nil
	}
	if drawn == nil {
		return shown, nil, nil
	}
	shown.Attached = []attachment{{ID: "0", Filename: "run.png"}}
	shown.Embeds[0].Image = &embedImage{"attachment://run.png"}
	return shown, []upload{{"run.png", "image/png", drawn}}, nil
}

// drawTrace draws the graph of a run with the way that it took; nil where there is none.
func drawTrace(graphs chat.Graphs, trace chat.Trace) ([]byte, error) {
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

// traceText tells a trace as plain lines under headings.
func traceText(trace chat.Trace) string {
	var out strings.Builder
	add := func(heading string, lines []string) {
		var block strings.Builder
		for i, line := range lines {
			if i == maxTraceLines {
				line = fmt.Sprintf("and %d more", len(lines)-i)
			}
			block.WriteString("\n- " + escape(cut(markup.CleanLine(line), maxTraceLine), false))
			if i == maxTraceLines {
				break
			}
		}
		if len(lines) > 0 && length(out.String()+block.String()) < maxTrace {
			out.WriteString("**" + heading + "**" + block.String() + "\n")
		}
	}
	var steps, searches, passages, models []string
	for _, step := range trace.Steps {
		steps = append(steps, fmt.Sprintf("%s: %s, %s", strings.ReplaceAll(step.Node, "_", " "), step.Status, brief(step.Took)))
	}
	for _, query := range trace.Queries {
		searches = append(searches, fmt.Sprintf("“%s”: %d by words, %d by meaning, %s", query.Text, query.Lexical, query.Dense, brief(query.Took)))
	}
	for _, found := range trace.Evidence {
		used := ""
		if found.Kept {
			used = ", used"
		}
		passages = append(passages, fmt.Sprintf("%.2f%s: %s: %s", found.Score, used, found.Title, found.Section))
	}
	for _, model := range trace.Models {
		line := fmt.Sprintf("%s: %s, %d + %d tokens, %s", model.Role, model.Model, model.Prompt, model.Completion, brief(model.Took))
		if model.Failure != "" {
			line = fmt.Sprintf("%s: %s failed: %s", model.Role, model.Model, model.Failure)
		}
		models = append(models, line)
	}
	add("Steps", steps)
	add("Searches", searches)
	add("Passages, best first", passages)
	add("Models", models)
	add("Decisions", trace.Notes)
	if out.Len() == 0 {
		return "Nothing was noted of this run."
	}
	return out.String()
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
