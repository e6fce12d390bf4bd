package tree

import (
	"fmt"
	"regexp"
	"strings"
)

// Markdown writes a page as GitHub's Markdown. What Markdown has no word for is written as
// HTML (<u>, <sub>, <sup>, <mark>) or left out (colours, widths); a node of an unknown kind
// is a line that says so.
func Markdown(root *Node) string {
	w := &markdownWriter{}
	w.writeBlocks(root.Children, "")
	return strings.TrimRight(w.String(), "\n") + "\n"
}

// MarkdownOf writes one block, or a text, as Markdown.
func MarkdownOf(n *Node) string {
	if n.IsInline() {
		return strings.TrimSpace(writeInline([]*Node{n}))
	}
	switch n.Kind {
	case Root:
		return strings.TrimRight(Markdown(n), "\n")
	case ListItem:
		list := NewBlock(List, n)
		if n.ListType == Check {
			list.ListType = Check
		}
		n = list
	case TableRow:
		n = NewBlock(Table, n)
	case TableCell:
		n = &Node{Kind: Root, Children: n.Children}
		return strings.TrimRight(Markdown(n), "\n")
	}
	return strings.TrimRight(Markdown(&Node{Kind: Root, Children: []*Node{n}}), "\n")
}

type markdownWriter struct{ strings.Builder }

// writeBlocks writes blocks with an empty line between them; indent stands before each line.
func (w *markdownWriter) writeBlocks(blocks []*Node, indent string) {
	for i, block := range blocks {
		if i > 0 {
			w.WriteString(strings.TrimRight(indent, " ") + "\n")
		}
		w.writeBlock(block, indent)
	}
}

func (w *markdownWriter) writeBlock(n *Node, indent string) {
	switch n.Kind {
	case Heading:
		line := strings.ReplaceAll(writeInline(n.Children), "\\\n", " ")
		w.writeLines(strings.Repeat("#", n.Level)+" "+line, indent)
	case Quote:
		w.writeQuote(n, indent)
	case List:
		w.writeList(n, indent)
	case Code:
		w.writeCode(n, indent)
	case Table:
		w.writeTable(n, indent)
	case Rule:
		w.writeLines("---", indent)
	case Paragraph:
		w.writeLines(escapeStart(writeInline(n.Children)), indent)
	default:
		if !n.IsKnown() {
			w.writeLines(fmt.Sprintf("*(a part of type %s, which can't be shown)*", escapeMarkdown(string(n.Kind))), indent)
			return
		}
		w.writeBlocks(n.Children, indent)
	}
}

func (w *markdownWriter) writeLines(text, indent string) {
	for line := range strings.SplitSeq(text, "\n") {
		w.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
}

func (w *markdownWriter) writeQuote(n *Node, indent string) {
	blocks := n.Children
	if len(blocks) == 0 || blocks[0].IsInline() {
		blocks = []*Node{NewBlock(Paragraph, n.Children...)}
	}
	w.writeBlocks(blocks, indent+"> ")
}

func (w *markdownWriter) writeList(n *Node, indent string) {
	for _, item := range n.Children {
		mark := "- "
		switch {
		case n.ListType == Number:
			mark = fmt.Sprintf("%d. ", max(item.Value, 0))
		case n.ListType == Check && item.Checked:
			mark = "- [x] "
		case n.ListType == Check:
			mark = "- [ ] "
		}
		inner := indent + strings.Repeat(" ", strings.IndexByte(mark, ' ')+1)
		if item.isNestedList() {
			w.writeBlocks(item.Children, inner)
			continue
		}
		lines := 0
		for lines < len(item.Children) && item.Children[lines].IsInline() {
			lines++
		}
		text := escapeStart(writeInline(item.Children[:lines]))
		for i, line := range strings.Split(text, "\n") {
			if i == 0 {
				w.WriteString(strings.TrimRight(indent+mark+line, " ") + "\n")
			} else {
				w.WriteString(inner + line + "\n")
			}
		}
		for _, child := range item.Children[lines:] {
			if child.Kind != List {
				w.WriteString("\n")
			}
			if child.IsInline() {
				child = NewBlock(Paragraph, child)
			}
			w.writeBlock(child, inner)
		}
	}
}

var fences = regexp.MustCompile("`{3,}")

func (w *markdownWriter) writeCode(n *Node, indent string) {
	text := n.PlainText()
	fence := "```"
	for _, found := range fences.FindAllString(text, -1) {
		if len(found) >= len(fence) {
			fence = strings.Repeat("`", len(found)+1)
		}
	}
	language := strings.Map(func(r rune) rune {
		if r <= ' ' || r == '`' {
			return -1
		}
		return r
	}, n.Language)
	w.WriteString(indent + fence + language + "\n")
	for line := range strings.SplitSeq(text, "\n") {
		w.WriteString(indent + line + "\n")
	}
	w.WriteString(indent + fence + "\n")
}

func (w *markdownWriter) writeTable(n *Node, indent string) {
	columns := 0
	for _, row := range n.Children {
		columns = max(columns, len(row.Children))
	}
	for i, row := range n.Children {
		w.WriteString(indent + "|")
		for column := range columns {
			text := ""
			if column < len(row.Children) {
				text = cellText(row.Children[column])
			}
			w.WriteString(" " + text + " |")
		}
		w.WriteString("\n")
		if i == 0 {
			w.WriteString(indent + "|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
}

// cellText writes a cell on one line.
func cellText(cell *Node) string {
	var parts []string
	for _, block := range cell.Children {
		text := writeInline(block.Children)
		if block.Kind != Paragraph && block.Kind != Heading {
			text = escapeMarkdown(block.PlainText())
		}
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	text := strings.NewReplacer("\\\n", "<br>", "\n", "<br>").Replace(strings.Join(parts, "<br>"))
	return strings.ReplaceAll(strings.ReplaceAll(text, `\|`, "|"), "|", `\|`)
}

// marks are what stands around a text with a mark, the outermost first.
var marks = []struct {
	format      Format
	open, close string
}{
	{Underline, "<u>", "</u>"},
	{Subscript, "<sub>", "</sub>"},
	{Superscript, "<sup>", "</sup>"},
	{Highlight, "<mark>", "</mark>"},
	{Bold, "**", "**"},
	{Italic, "*", "*"},
	{Strikethrough, "~~", "~~"},
}

func writeInline(nodes []*Node) string {
	var b strings.Builder
	for _, n := range nodes {
		switch n.Kind {
		case Text, CodeText:
			b.WriteString(writeMarked(n.Text, n.Format))
		case Tab:
			b.WriteByte('\t')
		case LineBreak:
			b.WriteString("\\\n")
		case Image:
			fmt.Fprintf(&b, "![%s](%s)", escapeMarkdown(n.Alt), escapeURL(n.URL))
		case Link, AutoLink:
			text := writeInline(n.Children)
			if address, ok := SafeURL(n.URL); ok && strings.TrimSpace(text) != "" {
				fmt.Fprintf(&b, "[%s](%s%s)", text, escapeURL(address), linkTitle(n.Title))
			} else {
				b.WriteString(text)
			}
		}
	}
	return b.String()
}

// writeMarked writes a text with its marks, which Markdown wants close to the words.
func writeMarked(text string, format Format) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	core := strings.TrimSpace(text)
	if core == "" {
		return strings.ReplaceAll(text, "\n", "\\\n")
	}
	start := strings.Index(text, core)
	before, after := text[:start], text[start+len(core):]
	if format&InlineCode != 0 {
		core = quoteCode(core)
	} else {
		core = strings.ReplaceAll(escapeMarkdown(core), "\n", "\\\n")
	}
	for i := len(marks) - 1; i >= 0; i-- {
		if format&marks[i].format != 0 {
			core = marks[i].open + core + marks[i].close
		}
	}
	return strings.ReplaceAll(before, "\n", "\\\n") + core + strings.ReplaceAll(after, "\n", "\\\n")
}

func quoteCode(text string) string {
	text = strings.ReplaceAll(text, "\n", " ")
	ticks := "`"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// linkTitle is the title of a link, as it stands behind its address.
func linkTitle(title string) string {
	if title == "" {
		return ""
	}
	return ` "` + strings.ReplaceAll(escapeMarkdown(strings.Join(strings.Fields(title), " ")), `"`, `\"`) + `"`
}

var special = regexp.MustCompile("[\\\\`*_\\[\\]<>~|&]")

func escapeMarkdown(text string) string { return special.ReplaceAllString(text, `\$0`) }

func escapeURL(address string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "", "\\", "%5C").Replace(address)
}

var blockStart = regexp.MustCompile(`(?m)^([ \t]*)([#+=-]|(\d{1,9})([.)]))`)

// escapeStart keeps lines of a paragraph from being read as another block.
func escapeStart(text string) string {
	return blockStart.ReplaceAllStringFunc(text, func(found string) string {
		last := len(found) - 1
		return strings.TrimLeft(found[:last], " \t") + `\` + found[last:]
	})
}
