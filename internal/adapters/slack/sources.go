package slack

import (
	"time"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/rich"
)

// maxRows is how many sources stand under an answer. The rest is folded.
const maxRows = 8

// sourcePieces lists sources. What there is no room for is folded into a last line that
// tells how many documents it stands for.
func sourcePieces(groups []chat.SourceGroup, now time.Time, rows, budget int) (pieces []rich.Piece, folded int) {
	pieces, folded = format.Sources(groups, now, rich.Room{Rows: rows, Budget: budget, Cost: cost})
	if folded > 0 {
		pieces = append(pieces, rich.Piece{Runs: []rich.Run{{Text: "and " + rich.MoreDocuments(folded), Style: rich.Style{Italic: true}}}})
	}
	return pieces, folded
}

// sourceBlocks shows an answer's sources under a line.
func sourceBlocks(groups []chat.SourceGroup, now time.Time) (blocks []slack.Block, folded int) {
	pieces, folded := sourcePieces(groups, now, maxRows, sourcesBudget)
	if len(pieces) == 0 {
		return nil, 0
	}
	return append([]slack.Block{slack.NewDividerBlock()}, richText(pieces)...), folded
}
