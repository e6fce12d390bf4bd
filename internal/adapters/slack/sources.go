package slack

import (
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// sourcePieces lists sources. What there is no room for is folded into a last line that
// tells how many documents it stands for.
func sourcePieces(groups []chat.SourceGroup, now time.Time, rows, budget int) (pieces []render.Piece, folded int) {
	pieces, folded = format.Sources(groups, now, render.Room{Rows: rows, Budget: budget, Cost: pieceCost})
	if folded > 0 {
		pieces = append(pieces, render.Piece{Runs: []render.Run{{Text: "and " + markup.MoreDocuments(folded), Style: render.Style{Italic: true}}}})
	}
	return pieces, folded
}

// sourceBlocks names an answer's sources on one line.
func sourceBlocks(groups []chat.SourceGroup) []slack.Block {
	line, _ := format.SourceLine(groups)
	if len(line.Runs) == 0 {
		return nil
	}
	line.Runs = append([]render.Run{{Text: "Sources: "}}, line.Runs...)
	return richText([]render.Piece{line})
}
