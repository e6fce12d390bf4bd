package discord

import (
	"strconv"
	"strings"

	"cairn/internal/chat/rich"
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
var format = rich.Format{MaxAddress: 500, MaxTitle: 120, Deepest: 4, EmptyItem: "…", SplitCode: true}

// packer makes messages of an answer, four at most. A longer one is a file. A run is given
// room for what keeps it apart from the one before.
var packer = rich.Packer{
	Budget: bodyBudget, Messages: 4,
	Cost:    func(p rich.Piece) int { return rich.Length(writePiece(p)) + len("\n\n") },
	RunCost: func(r rich.Run) int { return rich.Length(writeRun(r, true)) + 1 },
}

// writePiece gives a piece as Discord reads it.
func writePiece(p rich.Piece) string {
	switch p.Shape {
	case rich.Preformatted:
		return "```" + p.Language + "\n" + separateBackticks(disarmCode(rich.Plain(p.Runs))) + "\n```"
	case rich.Item:
		mark := "-"
		if p.Ordered {
			mark = strconv.Itoa(p.Number) + "."
		}
		indent := strings.Repeat("  ", p.Indent)
		text := strings.TrimRight(writeRuns(p.Runs), "\n ")
		return indent + mark + " " + strings.ReplaceAll(text, "\n", "\n"+indent+"  ")
	case rich.Quote:
		return "> " + strings.ReplaceAll(strings.Trim(writeRuns(p.Runs), "\n"), "\n", "\n> ")
	case rich.Paragraph:
	}
	return strings.Trim(writeRuns(p.Runs), "\n ")
}

// pieceGap is what stands between two pieces.
func pieceGap(before, after rich.Piece) string {
	if before.Shape == rich.Item && after.Shape == rich.Item || before.Shape == rich.Preformatted || after.Shape == rich.Preformatted {
		return "\n"
	}
	return "\n\n"
}

// writePieces gives pieces as the text of one message.
func writePieces(pieces []rich.Piece) string {
	var out strings.Builder
	for i, p := range pieces {
		if i > 0 {
			out.WriteString(pieceGap(pieces[i-1], p))
		}
		out.WriteString(writePiece(p))
	}
	return out.String()
}
