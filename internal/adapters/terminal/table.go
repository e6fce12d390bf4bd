package terminal

import (
	"slices"
	"strings"

	extension "github.com/yuin/goldmark/extension/ast"
)

// columnGap is what stands between two columns.
const columnGap = 2

// column is how a column of a grid is set.
type column struct {
	heading line
	right   bool
}

// renderTable renders a Markdown table.
func (p page) renderTable(table *extension.Table, width int) []line {
	var columns []column
	var rows [][]line
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []line
		for node := row.FirstChild(); node != nil; node = node.NextSibling() {
			if cell, ok := node.(*extension.TableCell); ok && row.Kind() == extension.KindTableHeader {
				columns = append(columns, column{p.renderInlines(cell, style{bold: true}), cell.Alignment == extension.AlignRight})
			} else {
				cells = append(cells, p.renderInlines(node, style{}))
			}
		}
		if row.Kind() == extension.KindTableRow {
			rows = append(rows, cells)
		}
	}
	return renderGrid(columns, rows, width)
}

// leastColumn is the width down to which a column of text gives way.
const leastColumn = 8

// renderGrid sets rows in columns under their headings. Columns give way to the widest of
// them, but for what is kept whole; where that does not fit, every row becomes a list of
// "heading: value".
func renderGrid(columns []column, rows [][]line, width int) []line {
	widths := columnWidths(columns, rows, line.width)
	least := columnWidths(columns, rows, wholeWidth)
	total := columnGap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := -1
		for i, w := range widths {
			if w > max(least[i], leastColumn) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return renderRecords(columns, rows, width)
		}
		widths[widest]--
	}
	headings := make([]line, len(columns))
	for i, c := range columns {
		headings[i] = c.heading
	}
	lines := gridRow(columns, headings, widths)
	lines = append(lines, faintLine(strings.Repeat("─", max(total, 1))))
	for _, row := range rows {
		lines = append(lines, gridRow(columns, row, widths)...)
	}
	return lines
}

// columnWidths gives for each column the widest of its cells, as measured.
func columnWidths(columns []column, rows [][]line, measure func(line) int) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = measure(c.heading)
	}
	for _, row := range rows {
		for i, cell := range row {
			if i < len(widths) {
				widths[i] = max(widths[i], measure(cell))
			}
		}
	}
	return widths
}

// wholeWidth is the width of the widest part of a line that is kept whole, with what stands
// beside it unparted.
func wholeWidth(l line) int {
	widest := 0
	for _, part := range wrapSpans(l, 1) {
		if slices.ContainsFunc(part, func(s span) bool { return s.style.whole }) {
			widest = max(widest, part.width())
		}
	}
	return widest
}

func gridRow(columns []column, row []line, widths []int) []line {
	var lines []line
	for i := range columns {
		var wrapped []line
		if i < len(row) {
			wrapped = wrapSpans(row[i], max(widths[i], 1))
		}
		for len(lines) < len(wrapped) {
			lines = append(lines, line{})
		}
		offset := 0
		for _, w := range widths[:i] {
			offset += w + columnGap
		}
		for n, part := range wrapped {
			start := offset
			if columns[i].right {
				start += widths[i] - part.width()
			}
			lines[n] = append(padLine(lines[n], start), part...)
		}
	}
	return lines
}

func renderRecords(columns []column, rows [][]line, width int) []line {
	var lines []line
	for n, row := range rows {
		if n > 0 {
			lines = append(lines, line{})
		}
		for i, cell := range row {
			if i < len(columns) {
				lines = append(lines, hangingIndent(nil, append(append(line{}, columns[i].heading...), append(plainLine(": "), cell...)...), width)...)
			}
		}
	}
	return lines
}
