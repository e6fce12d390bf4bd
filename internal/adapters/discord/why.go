package discord

import (
	"context"
	"log/slog"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/chat/explain"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

// traceRoom is what is shown of each part of a trace.
var traceRoom = explain.Room{Lines: 8, Length: 90}

// maxTrace is the most that is shown of a trace; Discord takes 4,096 in an embed's
// description.
const maxTrace = 3800

// why shows how a run came about: in words, and with a picture of its way.
func (a *Adapter) why(ctx context.Context, bot *running.Handler, of signal) (note, []upload, error) {
	run := chat.RunID(of.interaction.does.about)
	trace, err := bot.Explain(ctx, run)
	if err != nil {
		return note{}, nil, err
	}
	told := embed{Title: explain.Title, Description: traceText(trace), Color: accent, Footer: &embedFooter{
		Text: rich.Cut(markup.CleanLine(explain.Footer(run, trace)), 300),
	}}
	shown := note{Embeds: []embed{told}, Mentions: nobody()}
	drawn, err := explain.Picture(bot.Graphs, trace)
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

// traceText tells a trace as plain lines under headings.
func traceText(trace chat.Trace) string {
	var out strings.Builder
	for _, section := range explain.Sections(trace, traceRoom) {
		var block strings.Builder
		for _, line := range section.Lines {
			block.WriteString("\n- " + escape(line, false))
		}
		if rich.Length(out.String()+block.String()) < maxTrace {
			out.WriteString("**" + section.Heading + "**" + block.String() + "\n")
		}
	}
	if out.Len() == 0 {
		return "Nothing was noted of this run."
	}
	return out.String()
}
