package terminal

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// maxIndentDepth is how many lists and quotes inside one another are indented; those deeper
// stand where the last one does.
const maxIndentDepth = 8

// minTextWidth is the least width that indentation leaves for text.
const minTextWidth = 12

// page turns the nodes of a reply into lines.
type page struct {
	source []byte
}

// renderMarkdown renders a reply's text.
func renderMarkdown(text string, sources []chat.SourceGroup, width int) []line {
	root, source := markup.Parse(text, sources)
	return page{source}.renderBlocks(root, width, 0)
}

// renderBlocks renders the children of a node, an empty line between two unless they are
// the items or the lines of a tight list.
func (p page) renderBlocks(parent ast.Node, width, depth int) []line {
	var lines []line
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		block := p.renderBlock(node, width, depth)
		if len(lines) > 0 && len(block) > 0 && !isTight(node) {
			lines = append(lines, line{})
		}
		lines = append(lines, block...)
	}
	return lines
}

func isTight(node ast.Node) bool {
	parent := node.Parent()
	if parent.Kind() == ast.KindListItem {
		parent = parent.Parent()
	}
	list, ok := parent.(*ast.List)
	return ok && list.IsTight
}

func (p page) renderBlock(node ast.Node, width, depth int) []line {
	switch node := node.(type) {
	case *ast.Heading:
		return wrapSpans(p.renderInlines(node, style{bold: true}), width)
	case *ast.List:
		return p.renderList(node, width, depth)
	case *ast.Blockquote:
		if depth >= maxIndentDepth || width-2 < minTextWidth {
			return p.renderBlocks(node, width, depth)
		}
		bar := faintLine("│ ")
		return prefixLines(p.renderBlocks(node, width-2, depth+1), bar, bar)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		return p.renderCode(node)
	case *ast.ThematicBreak:
		return []line{faintLine(strings.Repeat("─", min(width, 20)))}
	case *extension.Table:
		return p.renderTable(node, width)
	case *ast.Paragraph, *ast.TextBlock:
		return wrapSpans(p.renderInlines(node, style{}), width)
	}
	return p.renderBlocks(node, width, depth)
}

func (p page) renderList(list *ast.List, width, depth int) []line {
	var lines []line
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		if len(lines) > 0 && !list.IsTight {
			lines = append(lines, line{})
		}
		bullet := faintLine("• ")
		if list.IsOrdered() {
			bullet = faintLine(strconv.Itoa(number) + ". ")
			number++
		}
		indent := bullet.width()
		if depth >= maxIndentDepth || width-indent < minTextWidth {
			lines = append(lines, p.renderBlocks(item, width, depth)...)
			continue
		}
		rest := plainLine(strings.Repeat(" ", indent))
		lines = append(lines, prefixLines(p.renderBlocks(item, width-indent, depth+1), bullet, rest)...)
	}
	return lines
}

// renderCode renders lines as they are, indented, so that they can be copied.
func (p page) renderCode(node ast.Node) []line {
	var lines []line
	add := func(text string) {
		cells := splitCells([]span{{strings.TrimRight(text, "\n"), style{code: true, whole: true}}})
		lines = append(lines, append(plainLine("  "), joinCells(cells)...))
	}
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		add(string(segment.Value(p.source)))
	}
	if html, ok := node.(*ast.HTMLBlock); ok && html.HasClosure() {
		add(string(html.ClosureLine.Value(p.source)))
	}
	return lines
}

// renderInlines returns the spans of a node's inline children in a style.
func (p page) renderInlines(parent ast.Node, in style) []span {
	var spans []span
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		spans = append(spans, p.renderInline(node, in)...)
	}
	return spans
}

func (p page) renderInline(node ast.Node, in style) []span {
	switch node := node.(type) {
	case *ast.Text:
		return p.renderText(node, in)
	case *ast.String:
		return []span{{string(node.Value), in}}
	case *markup.Citation:
		in.mark = true
		return []span{{"[" + strconv.Itoa(node.Number) + "]", in}}
	case *ast.Emphasis:
		in.bold, in.italic = in.bold || node.Level == 2, in.italic || node.Level == 1
	case *extension.Strikethrough:
		in.strike = true
	case *ast.CodeSpan:
		in.code, in.whole = true, true
	case *ast.RawHTML:
		return []span{{string(node.Segments.Value(p.source)), in}}
	case *ast.AutoLink:
		return p.appendAddress([]span{{string(node.Label(p.source)), in}}, string(node.URL(p.source)))
	case *ast.Link:
		return p.appendAddress(p.renderInlines(node, in), string(node.Destination))
	case *ast.Image:
		return p.appendAddress(append([]span{{"image: ", in}}, p.renderInlines(node, in)...), string(node.Destination))
	}
	return p.renderInlines(node, in)
}

func (p page) renderText(node *ast.Text, in style) []span {
	spans := []span{{markup.Text(node, p.source), in}}
	switch {
	case node.HardLineBreak():
		spans = append(spans, span{text: "\n"})
	case node.SoftLineBreak():
		spans = append(spans, span{text: " "})
	}
	return spans
}

// appendAddress shows where a link leads behind its label, unless the label tells or the
// address is none that may be opened: then the label alone is shown.
func (p page) appendAddress(label []span, destination string) []span {
	address, ok := markup.WebAddress(destination)
	if !ok {
		return label
	}
	for i := range label {
		label[i].style.link = address
	}
	if shown := spansText(label); shown == address || "http://"+shown == address || "https://"+shown == address {
		for i := range label {
			label[i].style.whole = true
		}
		return label
	}
	return append(label, span{" (", style{faint: true}}, span{address, style{faint: true, whole: true, link: address}}, span{")", style{faint: true}})
}

func spansText(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}
