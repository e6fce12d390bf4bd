package discord

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// traceRoom is what is shown of each part of a trace.
var traceRoom = render.TraceRoom{Lines: 8, Length: 90}

// maxTrace is the most that is shown of a trace; Discord takes 4,096 in an embed's
// description.
const maxTrace = 3800

// traceText tells a trace as plain lines under headings.
func traceText(trace chat.Trace) string {
	var out strings.Builder
	for _, section := range render.TraceSections(trace, traceRoom) {
		var block strings.Builder
		for _, line := range section.Lines {
			block.WriteString("\n- " + escapeText(line, false))
		}
		if render.Length(out.String()+block.String()) < maxTrace {
			out.WriteString("**" + section.Heading + "**" + block.String() + "\n")
		}
	}
	if out.Len() == 0 {
		return "Nothing was noted of this run."
	}
	return out.String()
}
