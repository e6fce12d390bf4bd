package render

import (
	"strings"

	"github.com/rivo/uniseg"
	extast "github.com/yuin/goldmark/extension/ast"
)

// column is how a table's column is set.
type column struct {
	width int // in cells of a monospaced font
	right bool
}

// readTable reads a table: its cells, and its text set in columns for platforms that have no
// tables, or none that can stand anywhere in a message.
func (r reader) readTable(node *extast.Table) []Piece {
	table := &Table{}
	for _, alignment := range node.Alignments {
		table.Aligns = append(table.Aligns, alignments[alignment])
	}
	for row := node.FirstChild(); row != nil; row = row.NextSibling() {
		style := Style{Bold: row.Kind() == extast.KindTableHeader}
		cells := make([][]Run, 0, len(table.Aligns))
		for cell := row.FirstChild(); cell != nil && len(cells) < len(table.Aligns); cell = cell.NextSibling() {
			cells = append(cells, Join(r.readInlines(cell, style)))
		}
		table.Rows = append(table.Rows, append(cells, make([][]Run, len(table.Aligns)-len(cells))...))
	}
	return nonEmpty(Piece{Shape: Preformatted, Runs: r.format.setTable(table), Table: table})
}

// alignments are Markdown's; a column that tells none stands on the left.
var alignments = map[extast.Alignment]Alignment{extast.AlignCenter: Center, extast.AlignRight: Right}

// setTable sets a table as text, a line for each row and a rule under the header.
func (f Format) setTable(table *Table) []Run {
	columns := make([]column, len(table.Aligns))
	rows := make([][][]Run, len(table.Rows))
	for i, cells := range table.Rows {
		for at, cell := range cells {
			plain := f.plainCell(cell)
			rows[i] = append(rows[i], plain)
			columns[at].width = max(columns[at].width, uniseg.StringWidth(Plain(plain)))
			columns[at].right = table.Aligns[at] == Right
		}
	}
	var out []Run
	for at, row := range rows {
		if at > 0 {
			out = append(out, Run{Text: "\n"})
		}
		out = append(out, setRow(row, columns)...)
		if at == 0 {
			out = append(out, Run{Text: "\n" + ruleOf(columns)})
		}
	}
	return out
}

// plainCell is a cell without styles, which are not shown in preformatted text, line breaks, and
// links where they are not shown there.
func (f Format) plainCell(cell []Run) []Run {
	out := make([]Run, len(cell))
	for i, r := range cell {
		r.Style = Style{}
		if r.URL != "" && !f.LinkTables {
			if r.URL != r.Text {
				r.Text += " (" + r.URL + ")"
			}
			r.URL = ""
		}
		r.Text = strings.ReplaceAll(r.Text, "\n", " ")
		out[i] = r
	}
	return out
}

// setRow fills cells up to their columns' widths, and ends the line where the last text
// does.
func setRow(cells [][]Run, columns []column) []Run {
	var out []Run
	for i := range cells {
		if i > 0 {
			out = append(out, Run{Text: "  "})
		}
		space := Run{Text: strings.Repeat(" ", columns[i].width-uniseg.StringWidth(Plain(cells[i])))}
		if columns[i].right {
			out = append(append(out, space), cells[i]...)
		} else {
			out = append(append(out, cells[i]...), space)
		}
	}
	for last := len(out) - 1; last >= 0 && out[last].URL == ""; last-- {
		if out[last].Text = strings.TrimRight(out[last].Text, " "); out[last].Text != "" {
			break
		}
	}
	return out
}

func ruleOf(columns []column) string {
	rules := make([]string, 0, len(columns))
	for _, c := range columns {
		rules = append(rules, strings.Repeat("─", max(c.width, 1)))
	}
	return strings.Join(rules, "  ")
}
