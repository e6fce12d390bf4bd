package discord

import (
	"regexp"
	"strconv"
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
	fence                  // text kept as it was written
	quote
)

// piece is a part of an answer that stands in one message.
type piece struct {
	shape  shape
	runs   []run
	indent int    // of an item: 0 to deepest
	mark   string // of an item: "-" or "1."
	lang   string // of a fence
}

// deepest is the indent at which deeper items stand.
const deepest = 4

// bodyOf reads a reply's Markdown. Its marks stay marks: the list of sources under the
// answer has the links, which would fill a message of 2,000 characters.
func bodyOf(text string, sources []chat.SourceGroup) []piece {
	root, source := markup.Parse(text, sources)
	return reader{source}.blocks(root, 0)
}

// reader makes pieces of Markdown's nodes.
type reader struct{ source []byte }

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
		return only(piece{runs: r.inlines(node, style{bold: true})})
	case *ast.FencedCodeBlock:
		return only(piece{shape: fence, lang: languageOf(node, r.source), runs: []run{{text: r.lines(node)}}})
	case *ast.CodeBlock:
		return only(piece{shape: fence, runs: []run{{text: r.lines(node)}}})
	case *ast.Blockquote:
		return only(piece{shape: quote, runs: r.flat(node)})
	case *ast.ThematicBreak:
		return only(piece{runs: []run{{text: "———"}}})
	case *ast.HTMLBlock:
		return only(piece{runs: []run{{text: r.html(node)}}})
	case *extast.Table:
		return only(piece{shape: fence, runs: []run{{text: r.table(node)}}})
	}
	if first := node.FirstChild(); node.Type() == ast.TypeBlock && first != nil && first.Type() == ast.TypeBlock {
		return r.blocks(node, indent)
	}
	return only(piece{runs: r.inlines(node, style{})})
}

// only is one piece, none where it says nothing.
func only(p piece) []piece {
	p.runs = joined(p.runs)
	if strings.TrimSpace(plain(p.runs)) == "" {
		return nil
	}
	return []piece{p}
}

var language = regexp.MustCompile(`^[a-zA-Z0-9+#-]{1,20}$`)

func languageOf(node *ast.FencedCodeBlock, source []byte) string {
	if name := string(node.Language(source)); language.MatchString(name) {
		return name
	}
	return ""
}

// list gives a list's items. An item's paragraphs are one piece; what can't stand in an
// item, such as code, follows it.
func (r reader) list(list *ast.List, indent int) []piece {
	var out []piece
	number := max(list.Start, 1)
	for node := list.FirstChild(); node != nil; node = node.NextSibling() {
		entry := piece{shape: item, indent: min(indent, deepest), mark: "-"}
		if list.IsOrdered() {
			entry.mark = strconv.Itoa(number) + "."
			number++
		}
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
		if entry.runs = joined(entry.runs); len(entry.runs) == 0 {
			entry.runs = []run{{text: "…"}}
		}
		out = append(append(out, entry), after...)
	}
	return out
}

// flat gives all that is in a block as runs, for where Discord has no blocks in blocks.
func (r reader) flat(parent ast.Node) []run {
	var out []run
	for _, part := range r.blocks(parent, 0) {
		if len(out) > 0 {
			out = append(out, run{text: "\n"})
		}
		if part.shape == item {
			mark := strings.Replace(part.mark, "-", "•", 1)
			out = append(out, run{text: strings.Repeat("  ", part.indent) + mark + " "})
		}
		for _, inner := range part.runs {
			if part.shape == fence {
				out = append(out, codeLines(inner.text)...)
				continue
			}
			out = append(out, inner)
		}
	}
	return out
}

// codeLines shows each line of code as a span.
func codeLines(text string) []run {
	var out []run
	for i, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		if i > 0 {
			out = append(out, run{text: "\n"})
		}
		out = append(out, run{text: line, style: style{code: true}})
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
	return strings.TrimRight(markup.Clean(out.String()), "\n")
}

func (r reader) html(node *ast.HTMLBlock) string {
	text := r.lines(node)
	if node.HasClosure() {
		text += "\n" + markup.Clean(string(node.ClosureLine.Value(r.source)))
	}
	return strings.Trim(text, "\n")
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
		words := markup.Text(node, r.source)
		switch {
		case node.HardLineBreak():
			words += "\n"
		case node.SoftLineBreak():
			words += " "
		}
		return []run{{text: words, style: in}}
	case *ast.String:
		return []run{{text: markup.Resolve(node.Value), style: in}}
	case *markup.Citation:
		return []run{{text: "[" + strconv.Itoa(node.Number) + "]", style: in}}
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
		return link(r.inlines(node, in), string(node.Destination), in)
	case *ast.Image:
		return link(r.inlines(node, in), string(node.Destination), in)
	case *ast.AutoLink:
		label := markup.CleanLine(string(node.Label(r.source)))
		return link([]run{{text: label, style: in}}, string(node.URL(r.source)), in)
	case *ast.RawHTML:
		var words strings.Builder
		for i := range node.Segments.Len() {
			segment := node.Segments.At(i)
			words.Write(segment.Value(r.source))
		}
		return []run{{text: markup.Clean(words.String()), style: in}}
	}
	return r.inlines(node, in)
}

// maxAddress is the longest address that becomes a link.
const maxAddress = 500

// link leads to http and https alone; for another address the text tells where it led.
func link(label []run, destination string, in style) []run {
	to, ok := webAddress(destination)
	words := plain(label)
	if !ok {
		shown := markup.CleanLine(destination)
		if shown == "" || shown == words {
			return label
		}
		return append(label, run{text: " (" + shown + ")", style: in})
	}
	if strings.TrimSpace(words) == "" {
		words = to
	}
	in.code = len(label) == 1 && label[0].style.code
	return []run{{text: words, url: to, style: in}}
}

// webAddress is markup.WebAddress for addresses that fit into a message.
func webAddress(address string) (string, bool) {
	clean, ok := markup.WebAddress(address)
	return clean, ok && len(clean) <= maxAddress
}
