package parse

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

func parseHTML(in input) (Text, error) {
	if in.isLarge() {
		return parseLargeHTML(in)
	}
	page, err := decodedHTML(in.content)
	if err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "HTML", Err: err}
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "HTML", Err: err}
	}
	text := pageFacts(root)
	reader := &htmlReader{outline: newOutline(), nesting: in.limits.Nesting, sections: true}
	reader.outline.links = in.links
	reader.children(mainContent(root), 0)
	reader.flush()
	if reader.tooDeep {
		return Text{}, &TooLargeError{Name: in.name, What: "levels of nesting", Limit: int64(in.limits.Nesting)}
	}
	text.Sections = reader.outline.finished()
	return text, nil
}

// decodedHTML gives a page as UTF-8: by its byte order mark, its meta element, or as
// UTF-8 or Windows-1252, whichever it looks like.
func decodedHTML(content []byte) (string, error) {
	reader, err := charset.NewReader(bytes.NewReader(content), "")
	if err != nil {
		return "", err
	}
	decoded, err := io.ReadAll(reader)
	if err != nil {
		return "", err
	}
	return printable(strings.ToValidUTF8(string(decoded), "\uFFFD")), nil
}

// htmlFragment adds HTML that stands inside a Markdown page to its outline. Headings
// in it begin no section there.
func htmlFragment(out *outline, fragment string, nesting int) error {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(fragment), body)
	if err != nil {
		return err
	}
	reader := &htmlReader{outline: out, nesting: nesting}
	for _, node := range nodes {
		reader.node(node, 0)
	}
	reader.flush()
	if reader.tooDeep {
		return errNesting
	}
	return nil
}

// htmlReader turns a tree of HTML nodes into an outline.
type htmlReader struct {
	outline  *outline
	nesting  int
	sections bool // headings begin sections
	tooDeep  bool

	text   strings.Builder // of the paragraph or item so far
	lists  []int           // of each open list the next number, -1 where unordered
	marker string          // of the item that begins
}

func (r *htmlReader) children(parent *html.Node, depth int) {
	if depth > r.nesting {
		r.tooDeep = true
		return
	}
	for node := parent.FirstChild; node != nil; node = node.NextSibling {
		r.node(node, depth)
	}
}

func (r *htmlReader) node(node *html.Node, depth int) {
	switch {
	case node.Type == html.TextNode:
		r.write(node.Data)
		return
	case node.Type != html.ElementNode || isDropped(node):
		return
	}
	switch node.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.heading(node)
	case atom.Pre:
		r.flush()
		r.outline.code(codeLanguage(node), rawText(node))
	case atom.Table:
		r.table(node, depth)
	case atom.Ul, atom.Ol, atom.Menu:
		r.list(node, depth)
	case atom.Li:
		r.item(node, depth)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		r.write(codeSpan(rawText(node)))
	case atom.A:
		r.link(node, depth)
	case atom.Br:
		r.text.WriteByte('\n')
	case atom.Img:
		r.write(attribute(node, "alt"))
	case atom.Del, atom.S, atom.Strike:
		r.text.WriteString("~~")
		r.children(node, depth+1)
		r.text.WriteString("~~")
	default:
		if isInline(node) {
			r.children(node, depth+1)
			return
		}
		r.flush()
		r.children(node, depth+1)
		r.flush()
	}
}

// link writes a link whose label is one stretch of text, with its address.
func (r *htmlReader) link(node *html.Node, depth int) {
	start := r.text.Len()
	r.children(node, depth+1)
	written := r.text.String()
	if len(written) <= start {
		return // its label ended a paragraph
	}
	label := strings.TrimSpace(written[start:])
	at := start + strings.Index(written[start:], label)
	r.text.Reset()
	r.text.WriteString(written[:at] + r.outline.link(label, attribute(node, "href")) + written[at+len(label):])
}

// write appends text with its white space folded.
func (r *htmlReader) write(text string) {
	written := r.text.String()
	ended := written == "" || strings.HasSuffix(written, " ") || strings.HasSuffix(written, "\n")
	if startsWithSpace(text) && !ended {
		r.text.WriteByte(' ')
	}
	folded := strings.Join(strings.Fields(text), " ")
	if folded == "" {
		return
	}
	r.text.WriteString(folded)
	if startsWithSpace(text[len(text)-1:]) {
		r.text.WriteByte(' ')
	}
}

func startsWithSpace(text string) bool {
	return text != "" && strings.ContainsRune(" \t\n\f", rune(text[0]))
}

// flush ends the paragraph or item.
func (r *htmlReader) flush() {
	text := strings.TrimSpace(r.text.String())
	r.text.Reset()
	if text == "" {
		return
	}
	if r.marker != "" {
		r.outline.add(ListItem, r.marker+text)
		r.marker = ""
		return
	}
	r.outline.add(Paragraph, text)
}

func (r *htmlReader) heading(node *html.Node) {
	r.flush()
	text := oneLine(strings.NewReplacer("¶", "", "🔗", "").Replace(rawText(node)))
	if text == "" {
		return
	}
	if !r.sections {
		r.outline.add(Paragraph, text)
		return
	}
	anchor := headingID(node)
	if anchor == "" {
		anchor = r.outline.repeated.unique(slug(text))
	}
	r.outline.heading(int(node.Data[1]-'0'), text, anchor)
}

func (r *htmlReader) list(node *html.Node, depth int) {
	r.flush()
	next := -1
	if node.DataAtom == atom.Ol {
		next = 1
	}
	r.lists = append(r.lists, next)
	r.children(node, depth+1)
	r.flush()
	r.lists = r.lists[:len(r.lists)-1]
}

func (r *htmlReader) item(node *html.Node, depth int) {
	r.flush()
	if len(r.lists) == 0 {
		r.lists = append(r.lists, -1)
		defer func() { r.lists = r.lists[:0] }()
	}
	open := len(r.lists) - 1
	r.marker = bullet(open, r.lists[open])
	if r.lists[open] >= 0 {
		r.lists[open]++
	}
	r.children(node, depth+1)
	r.flush()
	r.marker = ""
}

// table adds a table. One that lays out a page, with blocks or tables in its cells,
// is read cell by cell.
func (r *htmlReader) table(node *html.Node, depth int) {
	r.flush()
	rows, caption, layout := tableRows(node)
	if layout {
		r.children(node, depth+1)
		r.flush()
		return
	}
	r.outline.add(Paragraph, caption)
	r.outline.table(rows)
}
