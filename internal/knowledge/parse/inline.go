package parse

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html/atom"
)

// inline gives the text of a block: images as their text, emphasis without its marks,
// code in back quotes, and links as knowledge.MakeLink writes them.
func (r *markdownReader) inline(node ast.Node) string {
	var out strings.Builder
	r.writeInline(&out, node, 0)
	return r.withoutFootnoteMarks(out.String())
}

// footnoteMark is the mark of a footnote, or code, in which there is none.
var footnoteMark = regexp.MustCompile("`[^`]*`|\\[\\^([\\w-]+)\\](?::[ \\t]*)?")

// footnote is the beginning of a footnote.
var footnote = regexp.MustCompile(`(?m)^ {0,3}\[\^([\w-]+)\]:`)

// footnotesOf gives the names of a document's footnotes.
func footnotesOf(source []byte) map[string]bool {
	names := make(map[string]bool)
	for _, found := range footnote.FindAllSubmatch(source, -1) {
		names[string(found[1])] = true
	}
	return names
}

// withoutFootnoteMarks drops the marks of footnotes that the document has. The notes stay where
// they stand.
func (r *markdownReader) withoutFootnoteMarks(text string) string {
	if len(r.footnotes) == 0 || !strings.Contains(text, "[^") {
		return text
	}
	return footnoteMark.ReplaceAllStringFunc(text, func(mark string) string {
		if r.footnotes[footnoteMark.FindStringSubmatch(mark)[1]] {
			return ""
		}
		return mark
	})
}

func (r *markdownReader) writeInline(out *strings.Builder, parent ast.Node, depth int) {
	if depth > r.nesting {
		r.err = errNesting
		return
	}
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		switch node := node.(type) {
		case *ast.Text:
			r.writeText(out, node)
		case *ast.String:
			out.Write(node.Value)
		case *ast.CodeSpan:
			out.WriteString(codeSpan(r.codeText(node)))
		case *ast.AutoLink:
			out.Write(node.Label(r.source))
		case *ast.RawHTML:
			out.WriteString(inlineHTML(string(node.Segments.Value(r.source))))
		case *ast.Link:
			var label strings.Builder
			r.writeInline(&label, node, depth+1)
			out.WriteString(r.outline.link(label.String(), string(node.Destination)))
		case *tables.Strikethrough:
			out.WriteString("~~")
			r.writeInline(out, node, depth+1)
			out.WriteString("~~")
		case *tables.TaskCheckBox:
			if node.IsChecked {
				out.WriteString("[x] ")
			} else {
				out.WriteString("[ ] ")
			}
		default: // emphasis and images
			r.writeInline(out, node, depth+1)
		}
	}
}

func (r *markdownReader) writeText(out *strings.Builder, node *ast.Text) {
	value := node.Value(r.source)
	if !node.IsRaw() {
		value = util.UnescapePunctuations(value)
		value = util.ResolveNumericReferences(value)
		value = util.ResolveEntityNames(value)
	}
	out.Write(value)
	switch {
	case node.HardLineBreak():
		out.WriteByte('\n')
	case node.SoftLineBreak():
		out.WriteByte(' ')
	}
}

func (r *markdownReader) codeText(span *ast.CodeSpan) string {
	var out strings.Builder
	for node := span.FirstChild(); node != nil; node = node.NextSibling() {
		if segment, ok := node.(*ast.Text); ok {
			out.Write(segment.Value(r.source))
		}
	}
	return out.String()
}

// codeSpan quotes code, with more back quotes than it holds.
func codeSpan(code string) string {
	code = oneLine(code)
	if code == "" {
		return ""
	}
	if !strings.Contains(code, "`") {
		return "`" + code + "`"
	}
	return "`` " + code + " ``"
}

var htmlTag = regexp.MustCompile(`^</?([A-Za-z][A-Za-z0-9-]*)`)

// inlineHTML is what remains of a tag or comment inside a paragraph: nothing, a line
// break, or the tag itself where it is no tag of HTML but a placeholder such as
// <namespace>.
func inlineHTML(tag string) string {
	m := htmlTag.FindStringSubmatch(tag)
	switch {
	case m == nil:
		return ""
	case strings.EqualFold(m[1], "br"):
		return "\n"
	case !slices.Contains(elements, atom.Lookup([]byte(strings.ToLower(m[1])))):
		return tag
	}
	return ""
}

// elements are those of HTML that stand inside paragraphs, and blocks that people put
// there. Names of attributes, such as <name>, are placeholders.
var elements = []atom.Atom{
	atom.A, atom.Abbr, atom.Acronym, atom.Audio, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Blockquote, atom.Br, atom.Button, atom.Center,
	atom.Cite, atom.Code, atom.Dd, atom.Del, atom.Details, atom.Dfn, atom.Div, atom.Dl, atom.Dt, atom.Em, atom.Figcaption, atom.Figure,
	atom.Font, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.I, atom.Iframe, atom.Img, atom.Input, atom.Ins, atom.Kbd,
	atom.Label, atom.Li, atom.Mark, atom.Nobr, atom.Ol, atom.P, atom.Picture, atom.Pre, atom.Q, atom.S, atom.Samp, atom.Script, atom.Section, atom.Small,
	atom.Source, atom.Span, atom.Strike, atom.Strong, atom.Style, atom.Sub, atom.Summary, atom.Sup, atom.Svg, atom.Table, atom.Tbody, atom.Td,
	atom.Th, atom.Thead, atom.Time, atom.Tr, atom.Tt, atom.U, atom.Ul, atom.Var, atom.Video, atom.Wbr,
}
