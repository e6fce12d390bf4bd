package terminal

import (
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

// renderGrid sets rows in columns under their headings. Columns give way to the widest of
// them; where even eight columns of text each do not fit, every row becomes a list of
// "heading: value".
func renderGrid(columns []column, rows [][]line, width int) []line {
	widths := naturalWidths(columns, rows)
	total := columnGap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 8 {
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

func naturalWidths(columns []column, rows [][]line) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = c.heading.width()
	}
	for _, row := range rows {
		for i, cell := range row {
			if i < len(widths) {
				widths[i] = max(widths[i], cell.width())
			}
		}
	}
	return widths
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
