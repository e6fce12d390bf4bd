package slack

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// shape is what a piece of an answer is.
type shape int

const (
	paragraph shape = iota // the only one that may be divided
	item                   // of a list
	preformatted
	quote
)

// piece is a part of an answer that stands in one message.
type piece struct {
	shape   shape
	runs    []run
	indent  int // of an item: 0 to deepest
	ordered bool
	number  int // of an ordered item
}

// deepest is the indent that Slack's own editor ends at; deeper items stand there.
const deepest = 8

func (p piece) cost() int {
	cost := elementCost
	for _, r := range p.runs {
		cost += r.cost()
	}
	if p.shape == item {
		cost += elementCost // its list
	}
	return cost
}

// bodyOf reads a reply's Markdown. links are the addresses that marks lead to.
func bodyOf(markdown string, sources []chat.SourceGroup) []piece {
	root, source := markup.Parse(markdown, sources)
	reader := reader{source: source, links: linksOf(sources)}
	return reader.blocks(root, 0)
}

// reader makes pieces of Markdown's nodes.
type reader struct {
	source []byte
	links  map[int]string
}

func (r reader) blocks(parent ast.Node, indent int) []piece {
	var out []piece
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		out = append(out, r.block(node, indent)...)
	}
	return out
}

func (r reader) block(node ast.Node, indent int) []piece {
	switch node := node.(type) {
	case *ast.List:
		return r.list(node, indent)
	case *ast.Heading:
		return text(paragraph, r.inlines(node, style{bold: true}))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return text(preformatted, []run{{text: strings.TrimRight(r.lines(node), "\n")}})
	case *ast.Blockquote:
		return text(quote, r.flat(node))
	case *ast.ThematicBreak:
		return text(paragraph, []run{{text: "———"}})
	case *ast.HTMLBlock:
		return text(paragraph, []run{{text: r.html(node)}})
	case *extast.Table:
		return text(preformatted, r.table(node))
	}
	if node.Type() == ast.TypeBlock && node.FirstChild() != nil && node.FirstChild().Type() == ast.TypeBlock {
		return r.blocks(node, indent)
	}
	return text(paragraph, r.inlines(node, style{}))
}

// text is one piece of runs, none where they say nothing.
func text(is shape, runs []run) []piece {
	runs = joined(runs)
	if strings.TrimSpace(plain(runs)) == "" {
		return nil
	}
	return []piece{{shape: is, runs: runs}}
}

// list gives a list's items. An item's paragraphs are one piece; what can't stand in
// an item of Slack's, such as code, follows it.
func (r reader) list(list *ast.List, indent int) []piece {
	var out []piece
	number := list.Start
	for node := list.FirstChild(); node != nil; node = node.NextSibling() {
		entry := piece{shape: item, indent: min(indent, deepest), ordered: list.IsOrdered(), number: max(number, 1)}
		number = entry.number + 1
		var after []piece
		for child := node.FirstChild(); child != nil; child = child.NextSibling() {
			parts := r.block(child, indent+1)
			if len(after) == 0 && len(parts) == 1 && parts[0].shape == paragraph {
				if len(entry.runs) > 0 {
					entry.runs = append(entry.runs, run{text: "\n"})
				}
				entry.runs = append(entry.runs, parts[0].runs...)
				continue
			}
			after = append(after, parts...)
		}
		entry.runs = joined(entry.runs)
		if len(entry.runs) == 0 {
			entry.runs = []run{{text: " "}} // Slack takes no empty item
		}
		out = append(append(out, entry), after...)
	}
	return out
}

// flat gives all that is in a block as runs, for where Slack has no blocks in blocks.
func (r reader) flat(parent ast.Node) []run {
	var out []run
	for _, part := range r.blocks(parent, 0) {
		if len(out) > 0 {
			out = append(out, run{text: "\n"})
		}
		if part.shape == item {
			mark := "• "
			if part.ordered {
				mark = number(part.number) + ". "
			}
			out = append(out, run{text: strings.Repeat("  ", part.indent) + mark})
		}
		for _, inner := range part.runs {
			if part.shape == preformatted && inner.url == "" {
				inner.style.code = true
			}
			out = append(out, inner)
		}
	}
	return out
}

// lines is the text of a block that is kept as it was written.
func (r reader) lines(node ast.Node) string {
	var out strings.Builder
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		out.Write(segment.Value(r.source))
	}
	return markup.Clean(out.String())
}

func (r reader) html(node *ast.HTMLBlock) string {
	text := r.lines(node)
	if node.HasClosure() {
		text += markup.Clean(string(node.ClosureLine.Value(r.source)))
	}
	return strings.TrimRight(text, "\n")
}

func (r reader) inlines(parent ast.Node, in style) []run {
	var out []run
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		out = append(out, r.inline(node, in)...)
	}
	return out
}

func (r reader) inline(node ast.Node, in style) []run {
	switch node := node.(type) {
	case *ast.Text:
		said := markup.Text(node, r.source)
		switch {
		case node.HardLineBreak():
			said += "\n"
		case node.SoftLineBreak():
			said += " "
		}
		return []run{{text: said, style: in}}
	case *ast.String:
		return []run{{text: markup.Resolve(node.Value), style: in}}
	case *markup.Citation:
		return []run{r.citation(node, in)}
	case *ast.CodeSpan:
		in.code = true
		return r.inlines(node, in)
	case *ast.Emphasis:
		if node.Level == 1 {
			in.italic = true
		} else {
			in.bold = true
		}
		return r.inlines(node, in)
	case *extast.Strikethrough:
		in.strike = true
		return r.inlines(node, in)
	case *ast.Link:
		return r.link(r.inlines(node, in), string(node.Destination), in)
	case *ast.Image:
		return r.link(r.inlines(node, in), string(node.Destination), in)
	case *ast.AutoLink:
		label := markup.CleanLine(string(node.Label(r.source)))
		return r.link([]run{{text: label, style: in}}, string(node.URL(r.source)), in)
	case *ast.RawHTML:
		var said strings.Builder
		for i := range node.Segments.Len() {
			segment := node.Segments.At(i)
			said.Write(segment.Value(r.source))
		}
		return []run{{text: markup.Clean(said.String()), style: in}}
	}
	return r.inlines(node, in)
}

// maxAddress is the longest address that Slack takes.
const maxAddress = 3000

// link leads to http and https alone; for another address the text tells where it led.
// A mark inside the label is text there: a link can't be in a link.
func (r reader) link(label []run, destination string, in style) []run {
	address, ok := webAddress(destination)
	said := plain(label)
	if !ok {
		shown := markup.CleanLine(destination)
		if shown == "" || shown == said {
			return label
		}
		return append(label, run{text: " (" + shown + ")", style: in})
	}
	if strings.TrimSpace(said) == "" {
		said = address
	}
	return []run{{text: said, url: address, style: in}}
}

// webAddress is markup.WebAddress for addresses that Slack takes.
func webAddress(address string) (string, bool) {
	clean, ok := markup.WebAddress(address)
	return clean, ok && len(clean) <= maxAddress
}

func (r reader) citation(mark *markup.Citation, in style) run {
	return run{text: "[" + number(mark.Number) + "]", url: r.links[mark.Number], style: in}
}
