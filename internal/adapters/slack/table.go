package slack

import (
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	extast "github.com/yuin/goldmark/extension/ast"
)

func number(n int) string { return strconv.Itoa(n) }

// table sets a table as text with columns, in which links still lead somewhere. Slack's
// own table block would stand at the message's end, and once in a message.
func (r reader) table(table *extast.Table) []run {
	var rows [][][]run
	var right []bool
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]run
		for node := row.FirstChild(); node != nil; node = node.NextSibling() {
			cell, ok := node.(*extast.TableCell)
			if ok && row.Kind() == extast.KindTableHeader {
				right = append(right, cell.Alignment == extast.AlignRight)
			}
			cells = append(cells, unbroken(r.inlines(node, style{})))
		}
		rows = append(rows, cells)
	}
	widths := make([]int, len(right))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(plain(cell)))
		}
	}
	var out []run
	for at, row := range rows {
		for i, cell := range row {
			out = append(out, pad(cell, widths[i], right[i], i == len(row)-1)...)
		}
		out = append(out, run{text: "\n"})
		if at == 0 {
			out = append(out, run{text: rule(widths) + "\n"})
		}
	}
	if last := len(out) - 1; last >= 0 {
		out[last].text = strings.TrimRight(out[last].text, "\n")
	}
	return out
}

// unbroken takes styles, which Slack does not show there, and line breaks out of a cell.
func unbroken(cell []run) []run {
	for i := range cell {
		cell[i].style = style{}
		cell[i].text = strings.ReplaceAll(cell[i].text, "\n", " ")
	}
	return cell
}

// pad fills a cell up to its column's width. The last column needs nothing behind it.
func pad(cell []run, width int, right, last bool) []run {
	space := strings.Repeat(" ", width-uniseg.StringWidth(plain(cell)))
	switch {
	case right && last:
		return append([]run{{text: space}}, cell...)
	case right:
		return append(append([]run{{text: space}}, cell...), run{text: "  "})
	case last:
		return cell
	}
	return append(cell, run{text: space + "  "})
}

func rule(widths []int) string {
	var columns []string
	for _, width := range widths {
		columns = append(columns, strings.Repeat("─", max(width, 1)))
	}
	return strings.Join(columns, "  ")
}
