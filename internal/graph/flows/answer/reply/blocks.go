package reply

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

type blockKind int

const (
	paragraph blockKind = iota + 1
	heading
	code
	table
	list
	item
	quote
	rule
)

// writeBlock is a block of Markdown without what it stands in.
type block struct {
	kind     blockKind
	text     string   // of a paragraph, a heading, code (without fences) or a table's header
	level    int      // of a heading
	info     string   // behind the opening fence of code
	lines    []string // of a table: the delimiter row, then the rows
	ordered  bool
	marker   byte // of a list: '-', '*', '+', '.' or ')'
	start    int  // number of an ordered list's first item
	loose    bool // items of the list stand apart
	children []*block

	pieces []piece // of what is text: units and the white space in front of them
}

// piece is a unit of a block, and what stands in front of it.
type piece struct {
	before string
	unit   int
}

// blockParser reads blocks alone: what stands in a line is left as it was written. It knows no
// link definitions, for a model's "[1]: …" must not make links of marks.
var blockParser = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// parseBlocks reads the blocks of a text.
func parseBlocks(markdown string) []*block {
	source := []byte(markdown)
	return childBlocks(blockParser.Parse(text.NewReader(source)), source, 0)
}

// maxNesting is how deep lists and quotes stand in each other. What is deeper is read as if it
// stood there: browsers and chat platforms have such limits, too.
const maxNesting = 16

func childBlocks(parent ast.Node, source []byte, depth int) []*block {
	var blocks []*block
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		blocks = append(blocks, blocksOf(node, source, depth)...)
	}
	return blocks
}

func blocksOf(node ast.Node, source []byte, depth int) []*block {
	switch node := node.(type) {
	case *ast.Heading:
		return []*block{{kind: heading, level: node.Level, text: oneLine(rawLines(node, source))}}
	case *ast.FencedCodeBlock:
		b := &block{kind: code, text: rawLines(node, source)}
		if node.Info != nil {
			b.info = strings.TrimSpace(string(node.Info.Segment.Value(source)))
		}
		return []*block{b}
	case *ast.CodeBlock:
		return []*block{{kind: code, text: rawLines(node, source)}}
	case *ast.ThematicBreak:
		return []*block{{kind: rule}}
	case *ast.Blockquote:
		children := childBlocks(node, source, depth+1)
		if depth >= maxNesting {
			return children
		}
		return []*block{{kind: quote, children: children}}
	case *ast.List:
		if depth >= maxNesting {
			return itemBlocks(node, source, depth)
		}
		b := &block{kind: list, ordered: node.IsOrdered(), marker: node.Marker, start: node.Start, loose: !node.IsTight}
		for entry := node.FirstChild(); entry != nil; entry = entry.NextSibling() {
			b.children = append(b.children, &block{kind: item, children: childBlocks(entry, source, depth+1)})
		}
		return []*block{b}
	case *ast.HTMLBlock:
		raw := rawLines(node, source)
		if node.HasClosure() {
			raw += string(node.ClosureLine.Value(source))
		}
		return textBlocks(raw)
	}
	if node.Type() == ast.TypeBlock && node.Lines().Len() > 0 {
		return textBlocks(rawLines(node, source))
	}
	return nil
}

// itemBlocks gives what stands in the items of a list.
func itemBlocks(list *ast.List, source []byte, depth int) []*block {
	var blocks []*block
	for entry := list.FirstChild(); entry != nil; entry = entry.NextSibling() {
		blocks = append(blocks, childBlocks(entry, source, depth+1)...)
	}
	return blocks
}

func rawLines(node ast.Node, source []byte) string {
	var b strings.Builder
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		b.Write(segment.Value(source))
	}
	return b.String()
}

func oneLine(raw string) string { return strings.Join(strings.Fields(raw), " ") }

// textBlocks gives a paragraph's text, and the table in it where there is one.
func textBlocks(raw string) []*block {
	var lines []string
	for line := range strings.Lines(strings.TrimRight(raw, "\n")) {
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	at := tableStart(lines)
	if at < 0 {
		return proseBlocks(lines)
	}
	found := &block{kind: table, text: strings.TrimSpace(lines[at])}
	for _, line := range lines[at+1:] {
		found.lines = append(found.lines, strings.TrimSpace(line))
	}
	return append(proseBlocks(lines[:at]), found)
}

func proseBlocks(lines []string) []*block {
	if len(lines) == 0 {
		return nil
	}
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, " \t")
	}
	return []*block{{kind: paragraph, text: strings.TrimRight(strings.Join(lines, "\n"), " \t\\")}}
}

// tableStart is the position of a table's header among the lines of a paragraph, -1 where it
// has none: the line above the first delimiter row, if it has as many cells.
func tableStart(lines []string) int {
	for i := 1; i < len(lines); i++ {
		if columns := countColumns(lines[i]); columns > 0 {
			if countCells(lines[i-1]) == columns {
				return i - 1
			}
			return -1
		}
	}
	return -1
}

// countColumns is how many columns a delimiter row has, 0 for another line.
func countColumns(line string) int {
	if len(line)-len(strings.TrimLeft(line, " ")) > 3 || strings.Trim(line, "-|: \t\r\v\f") != "" || strings.Trim(line, "-\n") == "" && !strings.Contains(line, "-") {
		return 0
	}
	if strings.Trim(line, "-") == "" {
		return 0
	}
	columns := strings.Split(line, "|")
	if strings.TrimSpace(columns[0]) == "" {
		columns = columns[1:]
	}
	if len(columns) > 0 && strings.TrimSpace(columns[len(columns)-1]) == "" {
		columns = columns[:len(columns)-1]
	}
	for _, column := range columns {
		column = strings.TrimSpace(column)
		dashes := strings.TrimSuffix(strings.TrimPrefix(column, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return 0
		}
	}
	return len(columns)
}

// Cells gives the cells of a table's row, in the order in which they stand.
func Cells(row string) []string {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	row = strings.TrimSuffix(row, "|")
	var cells []string
	start := 0
	for i := range len(row) {
		if row[i] == '|' && (i == 0 || row[i-1] != '\\') {
			cells = append(cells, strings.TrimSpace(row[start:i]))
			start = i + 1
		}
	}
	if start < len(row) {
		cells = append(cells, strings.TrimSpace(row[start:]))
	}
	return cells
}

func countCells(row string) int { return len(Cells(row)) }
