package parse

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The Markdown parser takes time by the square of the emphasis marks and brackets in
// one paragraph, and of the link definitions in a row. No page that somebody wrote
// comes near these bounds; beyond them marks are read as the characters they are.
const (
	maxMarks       = 2000 // in one paragraph or line
	maxDefinitions = 200  // in a row
)

var (
	definitionLine = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:`)
	escapedMarks   = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `_`, `\_`, `~`, `\~`, `[`, `\[`, `]`, `\]`, "`", "\\`", `<`, `\<`, `|`, `\|`)
)

func isMark(c byte) bool {
	return c == '*' || c == '_' || c == '~' || c == '[' || c == '`' || c == '<'
}

// marks counts those that no backslash stands before.
func marks(line []byte) int {
	count := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if isMark(line[i]) {
			count++
		}
	}
	return count
}

// tamed escapes the marks of lines that hold too many, and parts link definitions.
func tamed(lines []string) []string {
	out := make([]string, 0, len(lines))
	var fence openFence
	definitions := 0
	for _, line := range lines {
		switch {
		case fence.inside(line):
			definitions = 0
		case len(line) > maxMarks && marks([]byte(line)) > maxMarks:
			line = escapedMarks.Replace(line)
			definitions = 0
		case definitionLine.MatchString(line):
			if definitions++; definitions%maxDefinitions == 0 {
				out = append(out, "")
			}
		default:
			definitions = 0
		}
		out = append(out, line)
	}
	return out
}

// plainWhereDense keeps the parser off paragraphs that hold too many marks.
type plainWhereDense struct{}

// Transform implements parser.ParagraphTransformer.
func (plainWhereDense) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	count := 0
	var raw []byte
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		line := segment.Value(reader.Source())
		count += marks(line)
		raw = append(raw, line...)
	}
	if count <= maxMarks {
		return
	}
	node.Parent().ReplaceChild(node.Parent(), node, &unparsed{text: oneLine(string(raw))})
}

// unparsed is a paragraph whose marks are not read.
type unparsed struct {
	ast.BaseBlock
	text string
}

var unparsedKind = ast.NewNodeKind("Unparsed")

// Kind implements ast.Node.
func (*unparsed) Kind() ast.NodeKind { return unparsedKind }

// IsRaw keeps the parser off the text.
func (*unparsed) IsRaw() bool { return true }

// Dump implements ast.Node.
func (u *unparsed) Dump(source []byte, level int) { ast.DumpHelper(u, source, level, nil, nil) }
