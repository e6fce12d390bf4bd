package discord

import (
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Discord's limits on a message, and what an answer uses of them.
const (
	maxContent = 2000
	// bodyBudget is for the answer itself; what is left is for remarks under it and for who
	// is asked.
	bodyBudget = 1600
)

// format is what Discord shows. An answer's marks stay marks: the list of sources under it
// has the links, which would fill a message of 2,000 characters. No link is shown in code,
// and no code has lines in a quote.
var format = render.Format{MaxAddress: 500, MaxTitle: 120, Deepest: 4, EmptyItem: "…", SplitCode: true}

// packer makes messages of an answer, four at most. A longer one is a file. A run is given
// room for what keeps it apart from the one before.
var packer = render.Packer{
	Budget: bodyBudget, Messages: 4,
	Cost:    func(p render.Piece) int { return render.Length(writePiece(p)) + len("\n\n") },
	RunCost: func(r render.Run) int { return render.Length(writeRun(r, true)) + 1 },
}

// writePiece gives a piece as Discord reads it.
func writePiece(p render.Piece) string {
	switch p.Shape {
	case render.Preformatted:
		return "```" + p.Language + "\n" + separateBackticks(disarmCode(render.Plain(p.Runs))) + "\n```"
	case render.Item:
		mark := "-"
		if p.Ordered {
			mark = strconv.Itoa(p.Number) + "."
		}
		indent := strings.Repeat("  ", p.Indent)
		text := strings.TrimRight(writeRuns(p.Runs), "\n ")
		return indent + mark + " " + strings.ReplaceAll(text, "\n", "\n"+indent+"  ")
	case render.Quote:
		return "> " + strings.ReplaceAll(strings.Trim(writeRuns(p.Runs), "\n"), "\n", "\n> ")
	case render.Paragraph:
	}
	return strings.Trim(writeRuns(p.Runs), "\n ")
}

// pieceGap is what stands between two pieces.
func pieceGap(before, after render.Piece) string {
	if before.Shape == render.Item && after.Shape == render.Item || before.Shape == render.Preformatted || after.Shape == render.Preformatted {
		return "\n"
	}
	return "\n\n"
}

// writePieces gives pieces as the text of one message.
func writePieces(pieces []render.Piece) string {
	var out strings.Builder
	for i, p := range pieces {
		if i > 0 {
			out.WriteString(pieceGap(pieces[i-1], p))
		}
		out.WriteString(writePiece(p))
	}
	return out.String()
}
