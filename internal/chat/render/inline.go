package render

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/cairn-bot/cairn/internal/chat/markup"
)

func (r reader) readInlines(parent ast.Node, in Style) []Run {
	var out []Run
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		out = append(out, r.readInline(node, in)...)
	}
	return out
}

func (r reader) readInline(node ast.Node, in Style) []Run {
	switch node := node.(type) {
	case *ast.Text:
		said := markup.Text(node, r.source)
		switch {
		case node.HardLineBreak():
			said += "\n"
		case node.SoftLineBreak():
			said += " "
		}
		return []Run{{Text: said, Style: in}}
	case *ast.String:
		return []Run{{Text: markup.Resolve(node.Value), Style: in}}
	case *markup.Citation:
		return []Run{{Text: citationMark(node.Number), URL: r.links[node.Number], Style: in}}
	case *ast.CodeSpan:
		in.Code = true
		return r.readInlines(node, in)
	case *ast.Emphasis:
		if node.Level == 1 {
			in.Italic = true
		} else {
			in.Bold = true
		}
		return r.readInlines(node, in)
	case *extast.Strikethrough:
		in.Strike = true
		return r.readInlines(node, in)
	case *ast.Link:
		return r.format.linkRuns(r.readInlines(node, in), string(node.Destination), in)
	case *ast.Image:
		return r.format.linkRuns(r.readInlines(node, in), string(node.Destination), in)
	case *ast.AutoLink:
		label := markup.CleanLine(string(node.Label(r.source)))
		return r.format.linkRuns([]Run{{Text: label, Style: in}}, string(node.URL(r.source)), in)
	case *ast.RawHTML:
		var said strings.Builder
		for i := range node.Segments.Len() {
			segment := node.Segments.At(i)
			said.Write(segment.Value(r.source))
		}
		return []Run{{Text: markup.Clean(said.String()), Style: in}}
	}
	return r.readInlines(node, in)
}

// citationMark returns a citation as it is read: "[3]".
func citationMark(number int) string { return "[" + strconv.Itoa(number) + "]" }

// linkRuns leads to http and https alone; for another address the text tells where it led.
// A mark inside the label is text there: a link can't be in a link.
func (f Format) linkRuns(label []Run, destination string, in Style) []Run {
	to, ok := f.webAddress(destination)
	said := Plain(label)
	if !ok {
		shown := markup.CleanLine(destination)
		if shown == "" || shown == said {
			return label
		}
		return append(label, Run{Text: " (" + shown + ")", Style: in})
	}
	if strings.TrimSpace(said) == "" {
		said = to
	}
	in.Code = len(label) == 1 && label[0].Style.Code
	return []Run{{Text: said, URL: to, Style: in}}
}

// webAddress is markup.WebAddress for addresses that become links.
func (f Format) webAddress(address string) (string, bool) {
	clean, ok := markup.WebAddress(address)
	return clean, ok && len(clean) <= f.MaxAddress
}
