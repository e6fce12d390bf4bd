package tree

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// XML writes a page with the id of every node, which is how language models and editors of
// text see it:
//
//	<root>
//	<h1 id="n1"><span id="n2">Leave</span></h1>
//	<ul id="n3">
//	<li id="n4"><span id="n5" marks="bold">27 days</span></li>
//	</ul>
//	</root>
func XML(root *Node) string {
	var b strings.Builder
	writeXML(&b, root)
	return b.String()
}

// CutXML is XML of at most limit bytes: of a page that is longer it leaves out whole blocks
// at its end, and says how many. left is 0 where nothing was left out.
func CutXML(root *Node, limit int) (text string, left int) {
	var b strings.Builder
	b.WriteString("<root>\n")
	for i, child := range root.Children {
		var block strings.Builder
		writeXML(&block, child)
		if b.Len()+block.Len() > limit {
			left = len(root.Children) - i
			fmt.Fprintf(&b, "<cut blocks=\"%d\"/>\n", left)
			break
		}
		b.WriteString(block.String())
	}
	b.WriteString("</root>\n")
	return b.String(), left
}

// xmlTag is the name of a node's element.
func (n *Node) xmlTag() string {
	switch n.Kind {
	case Root:
		return "root"
	case Paragraph:
		return "p"
	case Heading:
		return "h" + strconv.Itoa(n.Level)
	case Quote:
		return "quote"
	case List:
		return map[ListType]string{Bullet: "ul", Number: "ol", Check: "checklist"}[n.ListType]
	case ListItem:
		return "li"
	case Code:
		return "code"
	case Table:
		return "table"
	case TableRow:
		return "tr"
	case TableCell:
		if n.HeaderState != 0 {
			return "th"
		}
		return "td"
	case Rule:
		return "hr"
	case Link, AutoLink:
		return "a"
	case Image:
		return "img"
	case Text, CodeText:
		return "span"
	case LineBreak:
		return "br"
	case Tab:
		return "tab"
	}
	return "unknown"
}

func writeXML(b *strings.Builder, n *Node) {
	tag := n.xmlTag()
	b.WriteString("<" + tag)
	attribute := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, ` %s="%s"`, name, escapeXML(value))
		}
	}
	attribute("id", n.ID)
	switch n.Kind {
	case List:
		if n.Start != 1 {
			attribute("start", strconv.Itoa(n.Start))
		}
	case ListItem:
		if n.ListType == Check {
			attribute("checked", strconv.FormatBool(n.Checked))
		}
	case Code:
		attribute("language", n.Language)
	case Link, AutoLink:
		attribute("href", n.URL)
		attribute("title", n.Title)
	case Image:
		attribute("src", n.URL)
		attribute("alt", n.Alt)
	case Text, CodeText:
		attribute("marks", markNames(n.Format))
	}
	if !n.IsKnown() {
		attribute("type", string(n.Kind))
	}
	if !n.HasChildren() && n.Kind != Text && n.Kind != CodeText {
		b.WriteString("/>")
	} else {
		b.WriteString(">")
		lines := len(n.Children) > 0 && !n.Children[0].IsInline()
		if lines {
			b.WriteString("\n")
		}
		b.WriteString(escapeXML(n.Text))
		for _, child := range n.Children {
			writeXML(b, child)
		}
		b.WriteString("</" + tag + ">")
	}
	if !n.IsInline() {
		b.WriteString("\n")
	}
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\t", "&#9;", "\r", "&#13;")

func escapeXML(text string) string {
	return xmlEscapes.Replace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD' // which XML can't hold
		}
		return r
	}, text))
}

var markWords = []struct {
	format Format
	name   string
}{
	{Bold, "bold"},
	{Italic, "italic"},
	{Strikethrough, "strikethrough"},
	{Underline, "underline"},
	{InlineCode, "code"},
	{Subscript, "subscript"},
	{Superscript, "superscript"},
	{Highlight, "highlight"},
	{Lowercase, "lowercase"},
	{Uppercase, "uppercase"},
	{Capitalize, "capitalize"},
}

func markNames(format Format) string {
	var names []string
	for _, mark := range markWords {
		if format&mark.format != 0 {
			names = append(names, mark.name)
		}
	}
	return strings.Join(names, " ")
}

// ParseMarks reads the names of marks with white space between them: "bold italic".
func ParseMarks(names string) (Format, error) {
	var format Format
	for name := range strings.FieldsSeq(names) {
		at := slices.IndexFunc(markWords, func(m struct {
			format Format
			name   string
		}) bool {
			return m.name == name
		})
		if at < 0 {
			return 0, &Error{Reason: fmt.Sprintf("there is no mark %q: there are bold, italic, strikethrough, underline, code, subscript, superscript and highlight", name)}
		}
		format |= markWords[at].format
	}
	return format, nil
}

// ParseXML reads a page as XML writes it. What XML does not show of a node, such as its
// colours, is that of the node of the same id in base, which may be nil.
func ParseXML(text string, base *Node) (*Node, error) {
	r := &xmlReader{decoder: xml.NewDecoder(strings.NewReader(text)), known: make(map[string]*Node)}
	if base != nil {
		base.Walk(func(n, _ *Node) bool {
			if n.ID != "" {
				r.known[n.ID] = n
			}
			return true
		})
	}
	root, err := r.readRoot()
	if err != nil {
		if refused, ok := errors.AsType[*Error](err); ok {
			return nil, refused
		}
		line, _ := r.decoder.InputPos()
		return nil, &Error{Reason: fmt.Sprintf("line %d: %v", line, err)}
	}
	if err := Normalize(root); err != nil {
		return nil, err
	}
	return root, nil
}

type xmlReader struct {
	decoder *xml.Decoder
	known   map[string]*Node
	nodes   int
}

func (r *xmlReader) readRoot() (*Node, error) {
	for {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, err
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Local != "root" {
				return nil, &Error{Reason: "a page begins with <root>"}
			}
			return r.readElement(start, 0)
		}
	}
}

// readElement reads an element to its end.
func (r *xmlReader) readElement(start xml.StartElement, depth int) (*Node, error) {
	if r.nodes++; r.nodes > MaxNodes || depth > MaxDepth {
		return nil, &Error{Reason: "the page is too large or nested too deep"}
	}
	n, err := r.newNode(start)
	if err != nil {
		return nil, err
	}
	for {
		token, err := r.decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !n.HasChildren() {
				return nil, refuse(n, "it can't hold <%s>", token.Name.Local)
			}
			child, err := r.readElement(token, depth+1)
			if err != nil {
				return nil, err
			}
			n.Children = append(n.Children, child)
		case xml.EndElement:
			return n, nil
		case xml.CharData:
			r.addText(n, string(token))
		}
	}
}

// addText adds text: to a text as it is, to what holds lines as a text without marks. White
// space between blocks is nothing.
func (r *xmlReader) addText(n *Node, text string) {
	switch {
	case n.Kind == Text || n.Kind == CodeText:
		n.Text += text
	case !n.HasChildren() || strings.TrimSpace(text) == "":
	default:
		n.Children = append(n.Children, NewText(strings.Join(strings.Fields(text), " "), 0))
	}
}

// newNode makes the node of an element, from the one of the same id and kind if there is one.
func (r *xmlReader) newNode(start xml.StartElement) (*Node, error) {
	attributes := make(map[string]string)
	for _, attribute := range start.Attr {
		attributes[attribute.Name.Local] = attribute.Value
	}
	id := attributes["id"]
	if id != "" && !ValidID(id) {
		return nil, &Error{Reason: fmt.Sprintf("%q is no id of a node: leave it out for a new one", id)}
	}
	made, err := newTagged(start.Name.Local)
	if err != nil {
		return nil, err
	}
	old := r.known[id]
	if made.Kind == unknownKind {
		if old == nil || old.IsKnown() {
			return nil, &Error{Reason: "a new <unknown> can't be made: only one that is there can be kept or moved"}
		}
		return old.Clone(), nil
	}
	n := made
	if old != nil && (old.Kind == made.Kind || old.xmlTag() == start.Name.Local) {
		n = old.Clone()
		n.Children, n.Text = nil, ""
		n.Level, n.ListType = made.Level, made.ListType
		if (n.HeaderState != 0) != (made.HeaderState != 0) {
			n.HeaderState = made.HeaderState
		}
	}
	n.ID = id
	return n, n.setAttributes(attributes)
}

var xmlTags = map[string]Kind{
	"root": Root, "p": Paragraph, "quote": Quote, "ul": List, "ol": List, "checklist": List, "li": ListItem, "code": Code,
	"table": Table, "tr": TableRow, "td": TableCell, "th": TableCell, "hr": Rule, "a": Link, "img": Image, "span": Text,
	"br": LineBreak, "tab": Tab, "unknown": unknownKind,
}

func newTagged(tag string) (*Node, error) {
	if len(tag) == 2 && tag[0] == 'h' && tag[1] >= '1' && tag[1] <= '6' {
		n := NewBlock(Heading)
		n.Level = int(tag[1] - '0')
		return n, nil
	}
	kind, ok := xmlTags[tag]
	if !ok {
		return nil, &Error{Reason: fmt.Sprintf("there is no element <%s>", tag)}
	}
	n := NewBlock(kind)
	switch tag {
	case "ol":
		n.ListType = Number
	case "checklist":
		n.ListType = Check
	case "th":
		n.HeaderState = 1
	case "span":
		n = NewText("", 0)
	case "tab":
		n.Text, n.Mode, n.Detail = "\t", "normal", 2
	}
	return n, nil
}

func (n *Node) setAttributes(attributes map[string]string) error {
	var err error
	switch n.Kind {
	case List:
		n.Start = 1
		if start := attributes["start"]; start != "" {
			if n.Start, err = strconv.Atoi(start); err != nil || n.Start < 0 || n.Start > maxWhole {
				return refuse(n, "start is a whole number")
			}
		}
	case ListItem:
		n.Checked = attributes["checked"] == "true"
	case Code:
		n.Language = attributes["language"]
	case Link, AutoLink:
		n.URL, n.Title = attributes["href"], attributes["title"]
		if _, ok := SafeURL(n.URL); !ok {
			return refuse(n, "href is no address that a page may link to")
		}
	case Image:
		n.URL, n.Alt = attributes["src"], attributes["alt"]
	case Text, CodeText:
		n.Format, err = ParseMarks(attributes["marks"])
	}
	return err
}
