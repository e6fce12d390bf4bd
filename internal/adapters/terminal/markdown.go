package terminal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// deepest is how many lists and quotes inside one another are indented; those deeper
// stand where the last one does.
const deepest = 8

// narrowest is the least width that indentation leaves for text.
const narrowest = 12

// page turns the nodes of a reply into lines.
type page struct {
	source []byte
}

// markdown renders a reply's text.
func markdown(text string, sources []chat.SourceGroup, width int) []line {
	root, source := markup.Parse(text, sources)
	return page{source}.blocks(root, width, 0)
}

// blocks renders the children of a node, an empty line between two unless they are
// the items or the lines of a tight list.
func (p page) blocks(parent ast.Node, width, depth int) []line {
	var lines []line
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		block := p.block(node, width, depth)
		if len(lines) > 0 && len(block) > 0 && !tight(node) {
			lines = append(lines, line{})
		}
		lines = append(lines, block...)
	}
	return lines
}

func tight(node ast.Node) bool {
	parent := node.Parent()
	if parent.Kind() == ast.KindListItem {
		parent = parent.Parent()
	}
	list, ok := parent.(*ast.List)
	return ok && list.IsTight
}

func (p page) block(node ast.Node, width, depth int) []line {
	switch node := node.(type) {
	case *ast.Heading:
		return wrap(p.inlines(node, style{bold: true}), width)
	case *ast.List:
		return p.list(node, width, depth)
	case *ast.Blockquote:
		if depth >= deepest || width-2 < narrowest {
			return p.blocks(node, width, depth)
		}
		bar := faint("│ ")
		return prefixed(p.blocks(node, width-2, depth+1), bar, bar)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		return p.code(node, width)
	case *ast.ThematicBreak:
		return []line{faint(strings.Repeat("─", min(width, 20)))}
	case *extension.Table:
		return p.table(node, width)
	case *ast.Paragraph, *ast.TextBlock:
		return wrap(p.inlines(node, style{}), width)
	}
	return p.blocks(node, width, depth)
}

func (p page) list(list *ast.List, width, depth int) []line {
	var lines []line
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		if len(lines) > 0 && !list.IsTight {
			lines = append(lines, line{})
		}
		bullet := faint("• ")
		if list.IsOrdered() {
			bullet = faint(strconv.Itoa(number) + ". ")
			number++
		}
		indent := bullet.width()
		if depth >= deepest || width-indent < narrowest {
			lines = append(lines, p.blocks(item, width, depth)...)
			continue
		}
		rest := plain(strings.Repeat(" ", indent))
		lines = append(lines, prefixed(p.blocks(item, width-indent, depth+1), bullet, rest)...)
	}
	return lines
}

// code renders lines as they are, indented; what is wider than the page goes on below.
func (p page) code(node ast.Node, width int) []line {
	indent := plain("  ")
	var lines []line
	add := func(text string) {
		text = strings.TrimRight(text, "\n")
		rest := cells([]span{{text, style{code: true}}})
		for {
			end, used := 0, 0
			for end < len(rest) && (end == 0 || used+rest[end].width <= max(width-2, 1)) {
				used += rest[end].width
				end++
			}
			lines = append(lines, append(append(line{}, indent...), join(rest[:end])...))
			if rest = rest[end:]; len(rest) == 0 {
				return
			}
		}
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

// inlines gives the spans of a node's inline children in a style.
func (p page) inlines(parent ast.Node, in style) []span {
	var spans []span
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		spans = append(spans, p.inline(node, in)...)
	}
	return spans
}

func (p page) inline(node ast.Node, in style) []span {
	switch node := node.(type) {
	case *ast.Text:
		return p.text(node, in)
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
		in.code = true
	case *ast.RawHTML:
		return []span{{string(node.Segments.Value(p.source)), in}}
	case *ast.AutoLink:
		return p.address([]span{{string(node.Label(p.source)), in}}, string(node.URL(p.source)))
	case *ast.Link:
		return p.address(p.inlines(node, in), string(node.Destination))
	case *ast.Image:
		return p.address(append([]span{{"image: ", in}}, p.inlines(node, in)...), string(node.Destination))
	}
	return p.inlines(node, in)
}

func (p page) text(node *ast.Text, in style) []span {
	spans := []span{{markup.Text(node, p.source), in}}
	switch {
	case node.HardLineBreak():
		spans = append(spans, span{text: "\n"})
	case node.SoftLineBreak():
		spans = append(spans, span{text: " "})
	}
	return spans
}

// address shows where a link leads behind its label, unless the label tells or the
// address is none that may be opened: then the label alone is shown.
func (p page) address(label []span, destination string) []span {
	address, ok := markup.WebAddress(destination)
	if !ok {
		return label
	}
	for i := range label {
		label[i].style.link = address
	}
	if shown := text(label); shown == address || "http://"+shown == address || "https://"+shown == address {
		return label
	}
	return append(label, span{fmt.Sprintf(" (%s)", address), style{faint: true, link: address}})
}

func text(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}
