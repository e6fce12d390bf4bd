package tree

import (
	"fmt"
	"html"
	"strings"
)

// HTML writes a page as HTML for people who read it. Everything that a page holds is escaped,
// addresses are checked by SafeURL, pictures of other sites are links to them, and no style
// or script of a page gets in: only the tags of this file are written. Each block has its id
// as an anchor, after a prefix.
func HTML(root *Node, anchorPrefix string) string {
	w := &htmlWriter{prefix: anchorPrefix}
	for _, child := range root.Children {
		w.write(child)
	}
	return w.String()
}

type htmlWriter struct {
	strings.Builder
	prefix string
}

func (w *htmlWriter) open(tag string, n *Node) {
	w.WriteString("<" + tag)
	if ValidID(n.ID) && !n.IsText() {
		fmt.Fprintf(w, ` id="%s%s"`, html.EscapeString(w.prefix), n.ID)
	}
	if n.Direction != "" {
		fmt.Fprintf(w, ` dir="%s"`, n.Direction)
	}
}

func (w *htmlWriter) element(tag string, n *Node) {
	w.open(tag, n)
	w.WriteString(">")
	for _, child := range n.Children {
		w.write(child)
	}
	w.WriteString("</" + tag + ">")
	if !n.IsInline() {
		w.WriteString("\n")
	}
}

func (w *htmlWriter) write(n *Node) {
	switch n.Kind {
	case Paragraph:
		w.element("p", n)
	case Heading:
		w.element("h"+string(rune('0'+n.Level)), n)
	case Quote:
		w.element("blockquote", n)
	case List:
		w.element(n.listTag(), n)
	case ListItem:
		w.writeItem(n)
	case Code:
		w.open("pre", n)
		w.WriteString("><code>" + html.EscapeString(n.PlainText()) + "</code></pre>\n")
	case Table:
		w.element("table", n)
	case TableRow:
		w.element("tr", n)
	case TableCell:
		tag := "td"
		if n.HeaderState != 0 {
			tag = "th"
		}
		w.open(tag, n)
		if n.ColSpan > 1 {
			fmt.Fprintf(w, ` colspan="%d"`, n.ColSpan)
		}
		if n.RowSpan > 1 {
			fmt.Fprintf(w, ` rowspan="%d"`, n.RowSpan)
		}
		w.WriteString(">")
		for _, child := range n.Children {
			w.write(child)
		}
		w.WriteString("</" + tag + ">\n")
	case Rule:
		w.open("hr", n)
		w.WriteString(">\n")
	case LineBreak:
		w.WriteString("<br>")
	case Tab:
		w.WriteString("\t")
	case Link, AutoLink:
		w.writeLink(n)
	case Image:
		w.writeImage(n)
	case Text, CodeText:
		w.writeText(n)
	default:
		w.open("p", n)
		fmt.Fprintf(w, "><em>A part of type %s, which can’t be shown.</em></p>\n", html.EscapeString(string(n.Kind)))
	}
}

func (w *htmlWriter) writeItem(n *Node) {
	w.open("li", n)
	if !n.isNestedList() {
		fmt.Fprintf(w, ` value="%d"`, n.Value)
	}
	w.WriteString(">")
	if n.ListType == Check {
		checked := ` aria-label="To do"`
		if n.Checked {
			checked = ` aria-label="Done" checked`
		}
		fmt.Fprintf(w, `<input type="checkbox" disabled%s> `, checked)
	}
	for _, child := range n.Children {
		w.write(child)
	}
	w.WriteString("</li>\n")
}

func (w *htmlWriter) writeLink(n *Node) {
	address, ok := SafeURL(n.URL)
	if ok && !n.Unlinked {
		fmt.Fprintf(w, `<a href="%s" rel="noopener noreferrer nofollow">`, html.EscapeString(address))
	}
	for _, child := range n.Children {
		w.write(child)
	}
	if ok && !n.Unlinked {
		w.WriteString("</a>")
	}
}

// writeImage links to a picture: to show one of another site would tell it who reads.
func (w *htmlWriter) writeImage(n *Node) {
	text := n.Alt
	if text == "" {
		text = "picture"
	}
	if address, ok := SafeURL(n.URL); ok {
		fmt.Fprintf(w, `<a href="%s" rel="noopener noreferrer nofollow">%s</a>`, html.EscapeString(address), html.EscapeString(text))
		return
	}
	w.WriteString(html.EscapeString(text))
}

var textTags = []struct {
	format Format
	tag    string
}{
	{Bold, "strong"},
	{Italic, "em"},
	{Underline, "u"},
	{Strikethrough, "s"},
	{Subscript, "sub"},
	{Superscript, "sup"},
	{Highlight, "mark"},
	{InlineCode, "code"},
}

func (w *htmlWriter) writeText(n *Node) {
	end := ""
	for _, mark := range textTags {
		if n.Format&mark.format != 0 {
			w.WriteString("<" + mark.tag + ">")
			end = "</" + mark.tag + ">" + end
		}
	}
	w.WriteString(html.EscapeString(n.Text) + end)
}
