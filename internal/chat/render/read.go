package render

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// Format is what a platform can show.
type Format struct {
	MaxAddress int    // bytes of the longest address that becomes a link
	MaxTitle   int    // Length of a source's title, path, owner and headings, and of a category
	Deepest    int    // the indent at which deeper items stand
	EmptyItem  string // what is shown of an item that says nothing
	LinkMarks  bool   // citation marks lead to what they cite
	LinkTables bool   // links in tables stay links; else the address is written behind the label
	SplitCode  bool   // each line of code in a quote is a run of its own
}

// Read reads a reply's Markdown. sources are the reply's: their numbers are what makes a
// mark a citation.
func (f Format) Read(markdown string, sources []chat.SourceGroup) []Piece {
	root, source := markup.Parse(markdown, sources)
	r := reader{format: f, source: source}
	if f.LinkMarks {
		r.links = f.linksOf(sources)
	}
	return r.readBlocks(root, 0)
}

// reader makes pieces of Markdown's nodes.
type reader struct {
	format Format
	source []byte
	links  map[int]string // addresses that marks lead to
}

func (r reader) readBlocks(parent ast.Node, indent int) []Piece {
	var out []Piece
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		out = append(out, r.readBlock(node, indent)...)
	}
	return out
}

func (r reader) readBlock(node ast.Node, indent int) []Piece {
	switch node := node.(type) {
	case *ast.List:
		return r.readList(node, indent)
	case *ast.Heading:
		return nonEmpty(Piece{Runs: r.readInlines(node, Style{Bold: true})})
	case *ast.FencedCodeBlock:
		return nonEmpty(Piece{Shape: Preformatted, Language: languageOf(node, r.source), Runs: []Run{{Text: r.readCode(node)}}})
	case *ast.CodeBlock:
		return nonEmpty(Piece{Shape: Preformatted, Runs: []Run{{Text: r.readCode(node)}}})
	case *ast.Blockquote:
		return nonEmpty(Piece{Shape: Quote, Runs: r.flattenRuns(node)})
	case *ast.ThematicBreak:
		return nonEmpty(Piece{Runs: []Run{{Text: "———"}}})
	case *ast.HTMLBlock:
		return nonEmpty(Piece{Runs: []Run{{Text: r.readHTML(node)}}})
	case *extast.Table:
		return r.readTable(node)
	}
	if first := node.FirstChild(); node.Type() == ast.TypeBlock && first != nil && first.Type() == ast.TypeBlock {
		return r.readBlocks(node, indent)
	}
	return nonEmpty(Piece{Runs: r.readInlines(node, Style{})})
}

// nonEmpty is one piece, none where it says nothing.
func nonEmpty(p Piece) []Piece {
	p.Runs = Join(p.Runs)
	if strings.TrimSpace(Plain(p.Runs)) == "" {
		return nil
	}
	return []Piece{p}
}

var language = regexp.MustCompile(`^[a-zA-Z0-9+#-]{1,20}$`)

func languageOf(node *ast.FencedCodeBlock, source []byte) string {
	if name := string(node.Language(source)); language.MatchString(name) {
		return name
	}
	return ""
}

// readList returns a list's items. An item's paragraphs are one piece; what can't stand in an
// item of a platform's, such as code, follows it.
func (r reader) readList(list *ast.List, indent int) []Piece {
	var out []Piece
	number := max(list.Start, 1)
	for node := list.FirstChild(); node != nil; node = node.NextSibling() {
		entry := Piece{Shape: Item, Indent: min(indent, r.format.Deepest), Ordered: list.IsOrdered(), Number: number}
		number++
		var after []Piece
		for child := node.FirstChild(); child != nil; child = child.NextSibling() {
			parts := r.readBlock(child, indent+1)
			if len(after) == 0 && len(parts) == 1 && parts[0].Shape == Paragraph {
				if len(entry.Runs) > 0 {
					entry.Runs = append(entry.Runs, Run{Text: "\n"})
				}
				entry.Runs = append(entry.Runs, parts[0].Runs...)
				continue
			}
			after = append(after, parts...)
		}
		if entry.Runs = Join(entry.Runs); len(entry.Runs) == 0 {
			entry.Runs = []Run{{Text: r.format.EmptyItem}}
		}
		out = append(append(out, entry), after...)
	}
	return out
}

// flattenRuns returns all that is in a block as runs: platforms have no blocks in blocks.
func (r reader) flattenRuns(parent ast.Node) []Run {
	var out []Run
	for _, part := range r.readBlocks(parent, 0) {
		if len(out) > 0 {
			out = append(out, Run{Text: "\n"})
		}
		if part.Shape == Item {
			mark := "• "
			if part.Ordered {
				mark = strconv.Itoa(part.Number) + ". "
			}
			out = append(out, Run{Text: strings.Repeat("  ", part.Indent) + mark})
		}
		for _, inner := range part.Runs {
			switch {
			case part.Shape != Preformatted || inner.URL != "":
				out = append(out, inner)
			case r.format.SplitCode:
				out = append(out, codeLines(inner.Text)...)
			default:
				inner.Style.Code = true
				out = append(out, inner)
			}
		}
	}
	return out
}

// codeLines shows each line of code as a run.
func codeLines(text string) []Run {
	var out []Run
	for i, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		if i > 0 {
			out = append(out, Run{Text: "\n"})
		}
		out = append(out, Run{Text: line, Style: Style{Code: true}})
	}
	return out
}

// readLines returns the text of a block that is kept as it was written.
func (r reader) readLines(node ast.Node) string {
	var out strings.Builder
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		out.Write(segment.Value(r.source))
	}
	return markup.Clean(out.String())
}

func (r reader) readCode(node ast.Node) string { return strings.TrimRight(r.readLines(node), "\n") }

func (r reader) readHTML(node *ast.HTMLBlock) string {
	text := r.readLines(node)
	if node.HasClosure() {
		text += markup.Clean(string(node.ClosureLine.Value(r.source)))
	}
	return strings.TrimRight(text, "\n")
}
