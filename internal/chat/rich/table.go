package rich

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

// readTable sets a table as text with columns, for platforms that have none, or none that can
// stand anywhere in a message.
func (r reader) readTable(table *extast.Table) []Run {
	var rows [][][]Run
	var columns []column
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]Run
		for node := row.FirstChild(); node != nil; node = node.NextSibling() {
			if cell, ok := node.(*extast.TableCell); ok && row.Kind() == extast.KindTableHeader {
				columns = append(columns, column{right: cell.Alignment == extast.AlignRight})
			}
			cells = append(cells, r.format.plainCell(r.readInlines(node, Style{})))
		}
		rows = append(rows, cells)
	}
	for _, row := range rows {
		for i := range min(len(row), len(columns)) {
			columns[i].width = max(columns[i].width, uniseg.StringWidth(Plain(row[i])))
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

// plainCell takes styles, which are not shown in preformatted text, and line breaks out of a
// cell, and links where they are not shown there.
func (f Format) plainCell(cell []Run) []Run {
	for i, r := range cell {
		cell[i].Style = Style{}
		if r.URL != "" && !f.LinkTables {
			cell[i].URL = ""
			if r.URL != r.Text {
				cell[i].Text += " (" + r.URL + ")"
			}
		}
		cell[i].Text = strings.ReplaceAll(cell[i].Text, "\n", " ")
	}
	return cell
}

// setRow fills cells up to their columns' widths, and ends the line where the last text
// does.
func setRow(cells [][]Run, columns []column) []Run {
	var out []Run
	for i := range min(len(cells), len(columns)) {
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
