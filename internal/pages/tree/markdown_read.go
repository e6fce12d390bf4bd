package tree

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Limits of Markdown.
const (
	maxMarkdown = 2 << 20 // bytes
	maxMarkers  = 32      // of quotes and lists at the start of a line
)

var markdownSyntax = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify)).Parser()

// ParseMarkdown reads GitHub's Markdown as a page without ids. HTML in it is text, but for
// the marks that Markdown writes.
func ParseMarkdown(markdown string) (*Node, error) {
	if len(markdown) > maxMarkdown {
		return nil, &Error{Reason: fmt.Sprintf("Markdown of a page has at most %d MB", maxMarkdown>>20)}
	}
	for line := range strings.Lines(markdown) {
		rest := strings.TrimLeft(line, "> \t-*+")
		if prefix := line[:len(line)-len(rest)]; strings.TrimSpace(rest) != "" && strings.Count(prefix, ">")+strings.Count(prefix, "-")+strings.Count(prefix, "*")+strings.Count(prefix, "+") > maxMarkers {
			return nil, &Error{Reason: fmt.Sprintf("quotes and lists are nested at most %d deep", maxMarkers)}
		}
	}
	r := &markdownReader{source: []byte(strings.ToValidUTF8(strings.ReplaceAll(markdown, "\x00", "\uFFFD"), "\uFFFD"))}
	root := &Node{Kind: Root, Children: r.readBlocks(markdownSyntax.Parse(text.NewReader(r.source)))}
	if err := Normalize(root); err != nil {
		return nil, err
	}
	return root, nil
}

type markdownReader struct{ source []byte }

func (r *markdownReader) readBlocks(parent ast.Node) []*Node {
	var blocks []*Node
	for at := parent.FirstChild(); at != nil; at = at.NextSibling() {
		if block := r.readBlock(at); block != nil {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

func (r *markdownReader) readBlock(at ast.Node) *Node {
	switch at := at.(type) {
	case *ast.Heading:
		n := NewBlock(Heading, r.readLine(at)...)
		n.Level = at.Level
		return n
	case *ast.Blockquote:
		return r.readQuote(at)
	case *ast.List:
		return r.readList(at)
	case *ast.FencedCodeBlock:
		return r.readCode(at, string(at.Language(r.source)))
	case *ast.CodeBlock:
		return r.readCode(at, "")
	case *ast.ThematicBreak:
		return NewBlock(Rule)
	case *ast.HTMLBlock:
		raw := string(at.Lines().Value(r.source))
		if at.HasClosure() {
			raw += string(at.ClosureLine.Value(r.source))
		}
		return NewBlock(Paragraph, splitLines(strings.TrimSpace(raw), 0)...)
	case *tables.Table:
		return r.readTable(at)
	case *ast.LinkReferenceDefinition:
		return nil
	}
	return NewBlock(Paragraph, r.readLine(at)...)
}

// readQuote reads a quote: of one paragraph as Lexical writes it, else as one of blocks.
func (r *markdownReader) readQuote(at ast.Node) *Node {
	blocks := r.readBlocks(at)
	if len(blocks) == 1 && blocks[0].Kind == Paragraph {
		return NewBlock(Quote, blocks[0].Children...)
	}
	n := NewBlock(Quote, blocks...)
	n.ShadowRoot = len(blocks) > 0
	return n
}

func (r *markdownReader) readList(at *ast.List) *Node {
	list := NewBlock(List)
	if at.IsOrdered() {
		list.ListType, list.Start = Number, at.Start
	}
	for child := at.FirstChild(); child != nil; child = child.NextSibling() {
		item := NewBlock(ListItem)
		for i, block := range r.readBlocks(child) {
			if i > 0 && block.Kind == Paragraph && len(item.Children) > 0 && item.Children[len(item.Children)-1].IsInline() {
				item.Children = append(item.Children, &Node{Kind: LineBreak})
			}
			item.Children = append(item.Children, block)
			item.unwrapParagraphs()
		}
		if box, ok := firstBox(child); ok {
			list.ListType, item.Checked = Check, box.IsChecked
			trimStart(item)
		}
		list.Children = append(list.Children, item)
	}
	return list
}

// firstBox is the box that an item to be ticked off begins with.
func firstBox(item ast.Node) (*tables.TaskCheckBox, bool) {
	line := item.FirstChild()
	if line == nil {
		return nil, false
	}
	box, ok := line.FirstChild().(*tables.TaskCheckBox)
	return box, ok
}

// trimStart drops the white space that a line begins with.
func trimStart(n *Node) {
	if len(n.Children) > 0 && n.Children[0].Kind == Text {
		n.Children[0].Text = strings.TrimLeft(n.Children[0].Text, " ")
	}
}

func (r *markdownReader) readCode(at ast.Node, language string) *Node {
	n := NewBlock(Code, splitLines(strings.TrimSuffix(string(at.Lines().Value(r.source)), "\n"), 0)...)
	n.Language = language
	return n
}

// splitLines gives a text with line breaks between its lines, and tabs as nodes.
func splitLines(whole string, format Format) []*Node {
	var nodes []*Node
	for i, line := range strings.Split(whole, "\n") {
		if i > 0 {
			nodes = append(nodes, &Node{Kind: LineBreak})
		}
		for j, part := range strings.Split(line, "\t") {
			if j > 0 {
				nodes = append(nodes, &Node{Kind: Tab, Text: "\t", Mode: "normal", Detail: 2, Format: format})
			}
			if part != "" {
				nodes = append(nodes, NewText(part, format))
			}
		}
	}
	return nodes
}

func (r *markdownReader) readTable(at ast.Node) *Node {
	table := NewBlock(Table)
	for row := at.FirstChild(); row != nil; row = row.NextSibling() {
		made := NewBlock(TableRow)
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			box := NewBlock(TableCell, NewBlock(Paragraph, r.readLine(cell)...))
			if _, ok := row.(*tables.TableHeader); ok {
				box.HeaderState = 1
			}
			made.Children = append(made.Children, box)
		}
		table.Children = append(table.Children, made)
	}
	return table
}

// readLine reads what stands in a line of text.
func (r *markdownReader) readLine(parent ast.Node) []*Node {
	line := &lineReader{markdownReader: r}
	line.readInline(parent, 0)
	return line.nodes
}

// lineReader collects the nodes of a line; html is the marks that HTML has open.
type lineReader struct {
	*markdownReader
	nodes []*Node
	html  Format
}

func (l *lineReader) add(nodes ...*Node) { l.nodes = append(l.nodes, nodes...) }

func (l *lineReader) readInline(parent ast.Node, format Format) {
	for at := parent.FirstChild(); at != nil; at = at.NextSibling() {
		switch at := at.(type) {
		case *ast.Text:
			l.add(splitLines(string(unescape(at.Segment.Value(l.source))), format|l.html)...)
			switch {
			case at.HardLineBreak():
				l.add(&Node{Kind: LineBreak})
			case at.SoftLineBreak():
				l.add(NewText(" ", format|l.html))
			}
		case *ast.String:
			l.add(splitLines(string(at.Value), format|l.html)...)
		case *ast.CodeSpan:
			l.add(NewText(l.plain(at), format|l.html|InlineCode))
		case *ast.Emphasis:
			mark := Italic
			if at.Level == 2 {
				mark = Bold
			}
			l.readInline(at, format|mark)
		case *tables.Strikethrough:
			l.readInline(at, format|Strikethrough)
		case *ast.Link:
			l.readLink(at, string(at.Destination), string(at.Title), format)
		case *ast.AutoLink:
			link := NewBlock(Link, NewText(string(at.Label(l.source)), format|l.html))
			link.URL = string(at.URL(l.source))
			l.addLink(link)
		case *ast.Image:
			l.add(&Node{Kind: Image, URL: string(at.Destination), Alt: l.plain(at)})
		case *ast.RawHTML:
			l.readHTML(string(at.Segments.Value(l.source)), format)
		case *tables.TaskCheckBox:
		default:
			l.readInline(at, format)
		}
	}
}

func (l *lineReader) readLink(at ast.Node, address, title string, format Format) {
	inner := &lineReader{markdownReader: l.markdownReader, html: l.html}
	inner.readInline(at, format)
	link := NewBlock(Link, inner.nodes...)
	link.URL, link.Title = address, string(unescape([]byte(title)))
	l.addLink(link)
}

// addLink adds a link to an address that a person may be sent to; of another its text.
func (l *lineReader) addLink(link *Node) {
	if _, ok := SafeURL(link.URL); !ok {
		l.add(link.Children...)
		return
	}
	l.add(link)
}

// readHTML reads one tag: a mark that Markdown writes, a line break, else text.
func (l *lineReader) readHTML(tag string, format Format) {
	if tag == "<br>" || tag == "<br/>" {
		l.add(&Node{Kind: LineBreak})
		return
	}
	for _, mark := range marks {
		switch tag {
		case mark.open:
			l.html |= mark.format
			return
		case mark.close:
			l.html &^= mark.format
			return
		}
	}
	l.add(splitLines(tag, format|l.html)...)
}

// plain is the text below a node.
func (r *markdownReader) plain(at ast.Node) string {
	var b strings.Builder
	for child := at.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			b.Write(child.Segment.Value(r.source))
		case *ast.String:
			b.Write(child.Value)
		default:
			b.WriteString(r.plain(child))
		}
	}
	return b.String()
}

// ParseLine reads Markdown as what stands in lines of text: "# a" is no heading there. Each
// line but the first follows a line break.
func ParseLine(markdown string) []*Node {
	var nodes []*Node
	for i, line := range strings.Split(strings.TrimSpace(strings.ReplaceAll(markdown, "\r\n", "\n")), "\n") {
		if i > 0 {
			nodes = append(nodes, &Node{Kind: LineBreak})
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		// A bracket in front keeps the line from beginning a block, and from nothing else.
		root, err := ParseMarkdown("(" + line)
		if err != nil || len(root.Children) != 1 || root.Children[0].Kind != Paragraph || len(root.Children[0].Children) == 0 || !strings.HasPrefix(root.Children[0].Children[0].Text, "(") {
			nodes = append(nodes, NewText(line, 0))
			continue
		}
		first := root.Children[0].Children[0]
		if first.Text = first.Text[1:]; first.Text == "" {
			root.Children[0].Children = root.Children[0].Children[1:]
		}
		nodes = append(nodes, root.Children[0].Children...)
	}
	return nodes
}
