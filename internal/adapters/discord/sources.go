package discord

import (
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// sourcesBudget is for the list; Discord takes 4,096 in an embed's description and 6,000
// in all embeds of a message.
const sourcesBudget = 3600

// accent is the colour of embeds.
const accent = 0x4F7CAC

// sourceLine names an answer's sources on one line, as an embed: links in it open without
// an address being shown.
func sourceLine(groups []chat.SourceGroup) []embed {
	line, _ := format.SourceLine(groups)
	if len(line.Runs) == 0 {
		return []embed{}
	}
	return []embed{{Description: writePiece(line), Color: accent}}
}

// sourcesEmbed lists all sources.
func sourcesEmbed(groups []chat.SourceGroup, now time.Time, rows int) (shown []embed, folded int) {
	pieces, folded := format.Sources(groups, now, render.Room{
		Rows: rows, Budget: sourcesBudget, Cost: func(p render.Piece) int { return render.Length(writePiece(p) + "\n") },
	})
	if len(pieces) == 0 {
		return []embed{}, 0
	}
	lines := make([]string, len(pieces))
	for i, p := range pieces {
		lines[i] = writePiece(p)
	}
	made := embed{Title: "Sources", Description: strings.Join(lines, "\n"), Color: accent}
	if folded > 0 {
		made.Footer = &embedFooter{Text: "and " + markup.MoreDocuments(folded)}
	}
	return []embed{made}, folded
}
