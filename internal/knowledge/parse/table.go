package parse

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// Bounds of a table that is a document: one section of it is a few rows under the heading row.
const (
	groupRows    = 20
	groupBytes   = 1200
	maxTableRows = 1 << 20
)

// parseTable reads comma- or tab-separated values: its rows a few at a time, each time under the
// names of the columns. Anchors are line ranges.
func parseTable(in input, mediaType string) (Text, error) {
	next, stop := iter.Pull2(in.textParts(cutBehindLine))
	defer stop()
	first, err, _ := next()
	if err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "CSV", Err: err}
	}
	reader := csv.NewReader(&partReader{text: first.text, next: next})
	reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = separator(first.text, mediaType), -1, true
	var header []string
	group := tableGroup{outline: newOutline()}
	for rows := 0; ; rows++ {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Text{}, &BrokenError{Name: in.name, Format: "CSV", Err: err}
		}
		if rows > maxTableRows {
			return Text{}, &TooLargeError{Name: in.name, What: "rows", Size: int64(rows), Limit: maxTableRows}
		}
		if header == nil {
			header = row
			continue
		}
		first, _ := reader.FieldPos(0)
		last, _ := reader.FieldPos(len(row) - 1)
		group.add(header, row, first, last)
		if _, err := in.spill(Text{}, group.outline); err != nil {
			return Text{}, err
		}
	}
	if header != nil && !group.outline.hasText() && len(group.rows) == 0 {
		group.rows, group.first, group.last = [][]string{header}, 1, 1
	}
	group.flush()
	return Text{Sections: group.outline.finished()}, nil
}

// cutBehindLine gives the beginning of the last line, which may be empty.
func cutBehindLine(text string) int { return strings.LastIndexByte(text, '\n') + 1 }

// separator is what stands between two values: a tab, or of comma and semicolon, which some
// countries use, the one that the first line has more of.
func separator(source, mediaType string) rune {
	first, _, _ := strings.Cut(source, "\n")
	switch {
	case mediaType == TSV:
		return '\t'
	case strings.Count(first, ";") > strings.Count(first, ","):
		return ';'
	}
	return ','
}

// tableGroup are rows that are read as one section.
type tableGroup struct {
	outline     *outline
	rows        [][]string // the heading row first
	bytes       int
	first, last int // lines, 1-based
	// anchor names a range of lines; nil: "L2-L21".
	anchor func(first, last int) string
}

func (g *tableGroup) add(header, row []string, first, last int) {
	size := 0
	for _, cell := range row {
		size += len(cell)
	}
	if len(g.rows) > groupRows || len(g.rows) > 1 && g.bytes+size > groupBytes {
		g.flush()
	}
	if len(g.rows) == 0 {
		g.rows, g.first = [][]string{header}, first
	}
	g.rows = append(g.rows, row)
	g.bytes, g.last = g.bytes+size, last
}

// lineRange is the anchor of some lines, 1-based.
func lineRange(first, last int) string { return fmt.Sprintf("L%d-L%d", first, last) }

// flush writes the rows as a section.
func (g *tableGroup) flush() {
	if len(g.rows) == 0 {
		return
	}
	section := g.outline.continued()
	section.Anchor = lineRange(g.first, g.last)
	if g.anchor != nil {
		section.Anchor = g.anchor(g.first, g.last)
	}
	g.outline.table(g.rows)
	g.rows, g.bytes = nil, 0
}
