package slack

import (
	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Slack's limits on the table of a message, which has one at most.
const (
	maxTableRows    = 100
	maxTableColumns = 20
	maxTableText    = 10000 // characters of all cells together
)

// readReply reads an answer or question. Its first table that Slack's own block can hold is one;
// others are text in columns, since a message has one table.
func readReply(markdown string, sources []chat.SourceGroup) []render.Piece {
	pieces := format.Read(markdown, sources)
	found := false
	for i, p := range pieces {
		if found || !fitsTable(p.Table) {
			pieces[i].Table = nil
			continue
		}
		found = true
	}
	return pieces
}

// fitsTable tells whether Slack's own block can hold a table.
func fitsTable(table *render.Table) bool {
	if table == nil || len(table.Rows) > maxTableRows || len(table.Aligns) > maxTableColumns || tableCost(table) > messageBudget {
		return false
	}
	size := 0
	for _, cells := range table.Rows {
		for _, cell := range cells {
			size += render.Length(render.Plain(visibleCell(cell)))
		}
	}
	return size <= maxTableText
}

// tableCost is what a table block is taken to count against Slack's limit on a message.
func tableCost(table *render.Table) int {
	cost := elementCost
	for _, cells := range table.Rows {
		for _, cell := range cells {
			cost += elementCost
			for _, r := range visibleCell(cell) {
				cost += runCost(r)
			}
		}
	}
	return cost
}

// visibleCell is a cell's runs, a space where it has none: Slack takes no empty cell.
func visibleCell(cell []render.Run) []render.Run {
	if len(cell) == 0 {
		return []render.Run{{Text: " "}}
	}
	return cell
}

var columnAlignments = map[render.Alignment]slack.ColumnAlignment{
	render.Left: slack.ColumnAlignmentLeft, render.Center: slack.ColumnAlignmentCenter, render.Right: slack.ColumnAlignmentRight,
}

// tableBlock makes Slack's table block, whose cells wrap: a column that doesn't is cut off. Cells
// are rich text throughout, which has the links of citations; plain ones were refused for months.
func tableBlock(table *render.Table) *slack.TableBlock {
	block := slack.NewTableBlock("")
	for _, alignment := range table.Aligns {
		block.ColumnSettings = append(block.ColumnSettings, slack.ColumnSetting{Align: columnAlignments[alignment], IsWrapped: true})
	}
	for _, cells := range table.Rows {
		row := make([]slack.TableCell, len(cells))
		for i, cell := range cells {
			row[i] = slack.NewTableRichTextCell(slack.NewRichTextSection(sectionElements(visibleCell(cell))...))
		}
		block.AddRow(row...)
	}
	return block
}

// withoutTables is pieces whose table is text in columns.
func withoutTables(pieces []render.Piece) []render.Piece {
	out := make([]render.Piece, len(pieces))
	for i, p := range pieces {
		p.Table = nil
		out[i] = p
	}
	return out
}
