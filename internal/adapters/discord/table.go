package discord

import (
	"strings"

	"github.com/rivo/uniseg"
	extast "github.com/yuin/goldmark/extension/ast"
)

// column is how a table's column is set.
type column struct {
	width int
	right bool
}

// table sets a table as text with columns: Discord has none of its own.
func (r reader) table(table *extast.Table) string {
	var rows [][]string
	var columns []column
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for node := row.FirstChild(); node != nil; node = node.NextSibling() {
			if cell, ok := node.(*extast.TableCell); ok && row.Kind() == extast.KindTableHeader {
				columns = append(columns, column{right: cell.Alignment == extast.AlignRight})
			}
			cells = append(cells, cellText(r.inlines(node, style{})))
		}
		rows = append(rows, cells)
	}
	for _, row := range rows {
		for i := range min(len(row), len(columns)) {
			columns[i].width = max(columns[i].width, uniseg.StringWidth(row[i]))
		}
	}
	var out strings.Builder
	for at, row := range rows {
		out.WriteString(setRow(row, columns) + "\n")
		if at == 0 {
			out.WriteString(ruleOf(columns) + "\n")
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

// cellText is a cell on one line, with the addresses of its links.
func cellText(cell []run) string {
	var out strings.Builder
	for _, r := range cell {
		out.WriteString(r.text)
		if r.url != "" && r.url != r.text {
			out.WriteString(" (" + r.url + ")")
		}
	}
	return strings.ReplaceAll(out.String(), "\n", " ")
}

func setRow(cells []string, columns []column) string {
	var out strings.Builder
	for i := range min(len(cells), len(columns)) {
		space := strings.Repeat(" ", columns[i].width-uniseg.StringWidth(cells[i]))
		if columns[i].right {
			out.WriteString(space + cells[i])
		} else {
			out.WriteString(cells[i] + space)
		}
		out.WriteString("  ")
	}
	return strings.TrimRight(out.String(), " ")
}

func ruleOf(columns []column) string {
	rules := make([]string, 0, len(columns))
	for _, c := range columns {
		rules = append(rules, strings.Repeat("─", max(c.width, 1)))
	}
	return strings.Join(rules, "  ")
}
