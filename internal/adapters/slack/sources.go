package slack

import (
	"time"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
)

// sourcePieces lists sources. What there is no room for is folded into a last line that
// tells how many documents it stands for.
func sourcePieces(groups []chat.SourceGroup, now time.Time, rows, budget int) (pieces []rich.Piece, folded int) {
	pieces, folded = format.Sources(groups, now, rich.Room{Rows: rows, Budget: budget, Cost: pieceCost})
	if folded > 0 {
		pieces = append(pieces, rich.Piece{Runs: []rich.Run{{Text: "and " + markup.MoreDocuments(folded), Style: rich.Style{Italic: true}}}})
	}
	return pieces, folded
}

// sourceBlocks names an answer's sources on one line.
func sourceBlocks(groups []chat.SourceGroup) []slack.Block {
	line, _ := format.SourceLine(groups)
	if len(line.Runs) == 0 {
		return nil
	}
	line.Runs = append([]rich.Run{{Text: "Sources: "}}, line.Runs...)
	return richText([]rich.Piece{line})
}
