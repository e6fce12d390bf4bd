package tree

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Encode writes a normalized page as Lexical's JSON, byte for byte as Lexical does. Nodes of
// unknown kinds are written as they were read.
func Encode(root *Node) []byte {
	var b bytes.Buffer
	b.WriteString(`{"root":`)
	root.encode(&b, false)
	b.WriteByte('}')
	return b.Bytes()
}

// EncodeForEditor is Encode for Lexical itself, which knows no other kinds than ours: a node
// of an unknown one is wrapped in a node "unknown". Decode takes it out again.
func EncodeForEditor(root *Node) []byte {
	var b bytes.Buffer
	b.WriteString(`{"root":`)
	root.encode(&b, true)
	b.WriteByte('}')
	return b.Bytes()
}

// EncodeNode writes one node as Lexical does.
func EncodeNode(n *Node) []byte {
	var b bytes.Buffer
	n.encode(&b, false)
	return b.Bytes()
}

// EncodeNodeForEditor is EncodeNode for Lexical itself, as EncodeForEditor is Encode.
func EncodeNodeForEditor(n *Node) []byte {
	var b bytes.Buffer
	n.encode(&b, true)
	return b.Bytes()
}

// object writes the members of a JSON object.
type object struct {
	*bytes.Buffer
	open bool
}

func (o *object) name(name string) {
	if o.open {
		o.WriteByte(',')
	}
	o.open = true
	o.WriteByte('"')
	o.WriteString(name)
	o.WriteString(`":`)
}

func (o *object) text(name, value string) {
	o.name(name)
	writeString(o.Buffer, value)
}

// textOrNull writes "" as null.
func (o *object) textOrNull(name, value string) {
	if value == "" {
		o.name(name)
		o.WriteString("null")
		return
	}
	o.text(name, value)
}

func (o *object) writeNumber(name string, value float64) {
	o.name(name)
	writeNumber(o.Buffer, value)
}

func (o *object) writeBool(name string, value bool) {
	o.name(name)
	if value {
		o.WriteString("true")
	} else {
		o.WriteString("false")
	}
}

func (n *Node) encode(b *bytes.Buffer, wrap bool) {
	if !n.IsKnown() {
		n.encodeUnknown(b, wrap)
		return
	}
	b.WriteByte('{')
	o := &object{Buffer: b}
	if n.HasChildren() {
		o.name("children")
		b.WriteByte('[')
		for i, child := range n.Children {
			if i > 0 {
				b.WriteByte(',')
			}
			child.encode(b, wrap)
		}
		b.WriteByte(']')
	}
	n.encodeFields(o)
	o.text("type", string(n.Kind))
	o.writeNumber("version", 1)
	if n.ShadowRoot {
		o.writeBool("shadowRoot", true)
	}
	n.encodeState(o)
	b.WriteByte('}')
}

func (n *Node) encodeState(o *object) {
	if n.ID == "" && len(n.State) == 0 {
		return
	}
	o.name("$")
	o.WriteByte('{')
	state := &object{Buffer: o.Buffer}
	for i, member := range n.State {
		if n.ID != "" && i == n.idAfter {
			state.text("id", n.ID)
		}
		if state.open {
			o.WriteByte(',')
		}
		state.open = true
		writeString(o.Buffer, member.Key)
		o.WriteByte(':')
		o.Write(member.Value)
	}
	if n.ID != "" && n.idAfter >= len(n.State) {
		state.text("id", n.ID)
	}
	o.WriteByte('}')
}

// unknownKind is the type of the node that unknown ones are wrapped in for the editor.
const unknownKind Kind = "unknown"

func (n *Node) encodeUnknown(b *bytes.Buffer, wrap bool) {
	if !wrap {
		b.Write(n.Raw)
		return
	}
	b.WriteByte('{')
	o := &object{Buffer: b}
	o.text("raw", string(n.Raw))
	o.text("type", string(unknownKind))
	o.writeNumber("version", 1)
	n.encodeState(o)
	b.WriteByte('}')
}

// encodeFields writes the fields in Lexical's order: those of the kind, then those of all
// elements.
func (n *Node) encodeFields(o *object) {
	switch n.Kind {
	case Text, CodeText, Tab:
		n.encodeText(o)
		return
	case LineBreak, Rule:
		return
	case Image:
		o.text("altText", n.Alt)
		o.writeNumber("height", n.Height)
		o.text("src", n.URL)
		o.writeNumber("width", n.Width)
		return
	case Heading:
		o.text("tag", "h"+string(rune('0'+n.Level)))
	case List:
		o.text("listType", string(n.ListType))
		o.writeNumber("start", float64(n.Start))
		o.text("tag", n.listTag())
	case Code:
		if n.Language != "" {
			o.text("language", n.Language)
		}
		if n.Theme != "" {
			o.text("theme", n.Theme)
		}
	case Link, AutoLink:
		if n.Kind == AutoLink {
			o.writeBool("isUnlinked", n.Unlinked)
		}
		o.textOrNull("rel", n.Rel)
		o.textOrNull("target", n.Target)
		o.textOrNull("title", n.Title)
		o.text("url", n.URL)
	case Table:
		n.encodeTable(o)
	case TableRow:
		if n.RowHeight != nil {
			o.writeNumber("height", *n.RowHeight)
		}
	case TableCell:
		n.encodeCell(o)
	}
	n.encodeElement(o)
}

func (n *Node) listTag() string {
	if n.ListType == Number {
		return "ol"
	}
	return "ul"
}

func (n *Node) encodeTable(o *object) {
	if n.ColWidths != nil {
		o.name("colWidths")
		o.WriteByte('[')
		for i, width := range n.ColWidths {
			if i > 0 {
				o.WriteByte(',')
			}
			writeNumber(o.Buffer, width)
		}
		o.WriteByte(']')
	}
	if n.FrozenColumns != 0 {
		o.writeNumber("frozenColumnCount", float64(n.FrozenColumns))
	}
	if n.FrozenRows != 0 {
		o.writeNumber("frozenRowCount", float64(n.FrozenRows))
	}
	if n.RowStriping {
		o.writeBool("rowStriping", true)
	}
}

func (n *Node) encodeCell(o *object) {
	o.textOrNull("backgroundColor", n.Background)
	o.writeNumber("colSpan", float64(n.ColSpan))
	o.writeNumber("headerState", float64(n.HeaderState))
	o.writeNumber("rowSpan", float64(n.RowSpan))
	if n.VerticalAlign != "" {
		o.text("verticalAlign", n.VerticalAlign)
	}
	if n.Width != 0 {
		o.writeNumber("width", n.Width)
	}
}

func (n *Node) encodeElement(o *object) {
	if n.Kind == ListItem {
		if n.isChecklist() {
			o.writeBool("checked", n.Checked)
		}
		o.writeNumber("indent", float64(n.Indent))
		o.writeNumber("value", float64(n.Value))
	}
	o.textOrNull("direction", n.Direction)
	o.text("format", n.Align)
	if n.Kind != ListItem {
		o.writeNumber("indent", float64(n.Indent))
	}
	format, style := n.textStyle()
	if n.Kind == Paragraph || format != 0 {
		o.writeNumber("textFormat", float64(format))
	}
	if n.Kind == Paragraph || style != "" {
		o.text("textStyle", style)
	}
}

// isChecklist tells an item of a list of type Check; Normalize says so by its ListType.
func (n *Node) isChecklist() bool { return n.ListType == Check }

// textStyle gives what is typed into an element looks like: as its first text.
func (n *Node) textStyle() (Format, string) {
	if n.holdsBlocks() || n.Kind == Table || n.Kind == TableRow {
		return 0, ""
	}
	for _, child := range n.Children {
		switch {
		case !child.IsText():
		case n.Kind == Paragraph:
			return child.Format, child.Style
		default:
			return 0, ""
		}
	}
	return n.TextFormat, n.TextStyle
}

func (n *Node) encodeText(o *object) {
	switch n.Kind {
	case Tab:
		o.writeNumber("detail", float64(n.Detail))
		o.text("mode", n.Mode)
		o.text("text", n.Text)
		o.writeNumber("format", float64(n.Format))
		o.text("style", n.Style)
		return
	case CodeText:
		if n.HighlightType != "" {
			o.text("highlightType", n.HighlightType)
		}
	}
	o.writeNumber("detail", float64(n.Detail))
	o.writeNumber("format", float64(n.Format))
	o.text("mode", n.Mode)
	o.text("style", n.Style)
	o.text("text", n.Text)
}

const hexDigits = "0123456789abcdef"

// writeString writes a text as JavaScript's JSON.stringify does.
func writeString(b *bytes.Buffer, text string) {
	b.WriteByte('"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b.WriteString(text[start:i])
		start = i + 1
		if at := strings.IndexByte("\"\\\b\f\n\r\t", c); at >= 0 {
			b.WriteByte('\\')
			b.WriteByte(`"\bfnrt`[at])
		} else {
			b.WriteString(`\u00`)
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	rest := text[start:]
	if !utf8.ValidString(rest) {
		rest = strings.ToValidUTF8(rest, "\uFFFD")
	}
	b.WriteString(rest)
	b.WriteByte('"')
}

// writeNumber writes a number as JavaScript does, whose rules encoding/json follows.
func writeNumber(b *bytes.Buffer, number float64) {
	if number == 0 { // also for -0
		b.WriteByte('0')
		return
	}
	text, err := json.Marshal(number)
	if err != nil {
		text = []byte("null") // as JavaScript writes what is no finite number
	}
	b.Write(text)
}
