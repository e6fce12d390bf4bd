// Package markup reads what the bot says for the adapters that show it: the Markdown
// of a reply with its citation marks as nodes, text made safe to print, and the words
// for how old a source is. Each adapter renders the nodes in its own way.
package markup

import (
	"fmt"
	"strconv"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/cairn-bot/cairn/internal/chat"
)

// MaxText is the most bytes of a reply that are parsed as Markdown. What is beyond is
// cut, and Parse says so at the end of the text. It is many times a long answer, and
// bounds text made to be slow: the parser takes time by the square of how deep quotes,
// or how many unclosed links, stand in one another, see BenchmarkNested.
const MaxText = 32 << 10

// KindCitation is the kind of Citation nodes.
var KindCitation = ast.NewNodeKind("Citation")

// Citation is a mark [n] that cites a source of the reply. It may stand inside a
// link's label.
type Citation struct {
	ast.BaseInline
	Number int
}

// Kind is KindCitation.
func (c *Citation) Kind() ast.NodeKind { return KindCitation }

// Dump prints the node for debugging, as goldmark's nodes do.
func (c *Citation) Dump(source []byte, level int) {
	ast.DumpHelper(c, source, level, map[string]string{"Number": strconv.Itoa(c.Number)}, nil)
}

var citedKey = parser.NewContextKey()

// markdown has no link reference definitions: an answer quotes documents, and a
// quoted "[1]: http://elsewhere" must not turn the answer's own marks into links.
var markdown = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
			// Before links (200), so that "[1](http://elsewhere)" stays a mark.
			util.Prioritized(citationParser{}, 150))...),
	)),
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
)

// Parse reads a reply's text, cleaned, as GitHub's Markdown: tables, strikethrough and
// bare links included. A mark [n] that one of the sources has among its numbers is a
// Citation; any other stays text. Raw HTML is kept as nodes, for the adapter to show
// as text. Segments of the nodes lie in source.
func Parse(reply string, sources []chat.SourceGroup) (root ast.Node, source []byte) {
	cited := make(map[int]bool)
	for _, group := range sources {
		for _, row := range group.Sources {
			for _, number := range row.Numbers {
				cited[number] = true
			}
		}
	}
	source = []byte(truncateReply(Clean(reply)))
	context := parser.NewContext()
	context.Set(citedKey, cited)
	return markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context)), source
}

func truncateReply(reply string) string {
	if len(reply) <= MaxText {
		return reply
	}
	end := MaxText
	for end > 0 && reply[end]&0xC0 == 0x80 { // inside a character
		end--
	}
	return fmt.Sprintf("%s\n\n(%d more bytes are not shown.)", reply[:end], len(reply)-end)
}

// citationParser makes Citation nodes of "[n]".
type citationParser struct{}

func (citationParser) Trigger() []byte { return []byte{'['} }

func (citationParser) Parse(_ ast.Node, block text.Reader, context parser.Context) ast.Node {
	line, _ := block.PeekLine()
	length := markLength(line)
	if length == 0 {
		return nil
	}
	number, err := strconv.Atoi(string(line[1 : length-1]))
	cited, ok := context.Get(citedKey).(map[int]bool)
	if err != nil || !ok || !cited[number] {
		return nil
	}
	block.Advance(length)
	return &Citation{Number: number}
}

// markLength returns the length of the mark that line begins with, 0 for none: one to four
// digits in brackets.
func markLength(line []byte) int {
	for i := 1; i < len(line) && i <= 5; i++ {
		switch c := line[i]; {
		case c == ']' && i > 1:
			return i + 1
		case c < '0' || c > '9':
			return 0
		}
	}
	return 0
}
