package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Decode reads a page from Lexical's JSON and normalizes it, see Normalize. What Lexical
// would drop is dropped, what it would fill in is filled in. Errors are of type *Error.
func Decode(data []byte) (*Node, error) {
	root, err := decode(data)
	if err != nil {
		return nil, err
	}
	if err := Normalize(root); err != nil {
		return nil, err
	}
	return root, nil
}

// DecodeNode reads one node from Lexical's JSON, as it stands.
func DecodeNode(data []byte) (*Node, error) {
	d := &decoder{}
	return d.decodeNode(data, 0)
}

func decode(data []byte) (*Node, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Reason: fmt.Sprintf("a page has at most %d MB", MaxBytes>>20)}
	}
	if !utf8.Valid(data) {
		return nil, &Error{Reason: "a page is text in UTF-8"}
	}
	var document struct {
		Root json.RawMessage `json:"root"`
	}
	if err := json.Unmarshal(data, &document); err != nil || document.Root == nil {
		return nil, &Error{Reason: `a page is a JSON object with a "root"`}
	}
	d := &decoder{}
	root, err := d.decodeNode(document.Root, 0)
	if err != nil {
		return nil, err
	}
	if root.Kind != Root {
		return nil, refuse(root, "the root of a page is of type root")
	}
	return root, nil
}

// decoder counts what it reads.
type decoder struct{ nodes int }

// fields are those of a JSON object. A field of another type than its reader expects counts
// as missing, as in Lexical.
type fields map[string]json.RawMessage

func (d *decoder) decodeNode(data json.RawMessage, depth int) (*Node, error) {
	if d.nodes++; d.nodes > MaxNodes {
		return nil, &Error{Reason: fmt.Sprintf("a page has at most %d nodes", MaxNodes)}
	}
	if depth > MaxDepth {
		return nil, &Error{Reason: fmt.Sprintf("nodes of a page are nested at most %d deep", MaxDepth)}
	}
	var f fields
	if err := json.Unmarshal(data, &f); err != nil || f == nil {
		return nil, &Error{Reason: "a node is a JSON object"}
	}
	n := &Node{Kind: Kind(f.text("type", ""))}
	if n.Kind == "" {
		return nil, &Error{Reason: "a node has no type"}
	}
	if depth > 0 && n.Kind == Root {
		return nil, refuse(n, "a root is no part of a page")
	}
	if _, ok := f["$slots"]; ok {
		return nil, refuse(n, "slots are not supported")
	}
	if raw := f.text("raw", ""); n.Kind == unknownKind && raw != "" {
		return d.decodeNode(json.RawMessage(raw), depth+1)
	}
	if !n.HasChildren() && !n.IsInline() && n.Kind != Rule {
		return keepUnknown(n, data)
	}
	if err := n.decodeState(f["$"]); err != nil {
		return nil, err
	}
	if err := n.decodeFields(f); err != nil {
		return nil, err
	}
	var children []json.RawMessage
	if n.HasChildren() && json.Unmarshal(f["children"], &children) == nil {
		for _, child := range children {
			decoded, err := d.decodeNode(child, depth+1)
			if err != nil {
				return nil, err
			}
			n.Children = append(n.Children, decoded)
		}
	}
	return n, nil
}

// keepUnknown keeps the JSON of a node as it is, but for white space.
func keepUnknown(n *Node, data json.RawMessage) (*Node, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, &Error{Reason: "a node is a JSON object"}
	}
	n.Raw = compact.Bytes()
	return n, nil
}

// decodeState reads what Lexical keeps with a node: its id, which is ours, and all else.
func (n *Node) decodeState(data json.RawMessage) error {
	state, err := decodeMembers(data)
	if err != nil {
		return refuse(n, "its state (“$”) can't be read: %s", err)
	}
	for _, member := range state {
		var id string
		if member.Key == "id" && json.Unmarshal(member.Value, &id) == nil && ValidID(id) && n.Kind != Root && n.Kind != LineBreak && n.Kind != Tab {
			n.ID, n.idAfter = id, len(n.State)
			continue
		}
		if member.Key == "id" {
			continue
		}
		if member.Key == "shadowRoot" && n.Kind == Quote {
			n.ShadowRoot = string(member.Value) == "true"
			continue
		}
		n.State = append(n.State, member)
	}
	return nil
}

const maxState = 64 // values kept with a node

// decodeMembers reads the members of a JSON object in their order; nothing else has any.
func decodeMembers(data json.RawMessage) ([]State, error) {
	if len(data) == 0 || data[0] != '{' {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	var members []State
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		// A number as a key has a place of its own in JavaScript's objects.
		if key == "__proto__" || key == "" || key[0] >= '0' && key[0] <= '9' {
			return nil, fmt.Errorf("%q is no name", key)
		}
		if value, err = canonicalJSON(value, 0); err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(members, func(s State) bool { return s.Key == key }); at >= 0 {
			members[at].Value = value
			continue
		}
		if members = append(members, State{key, value}); len(members) > maxState {
			return nil, fmt.Errorf("more than %d values", maxState)
		}
	}
	return members, nil
}

// canonicalJSON writes a value as JavaScript does.
func canonicalJSON(data json.RawMessage, depth int) (json.RawMessage, error) {
	data = bytes.TrimSpace(data)
	var b bytes.Buffer
	switch {
	case depth > MaxDepth:
		return nil, fmt.Errorf("nested more than %d deep", MaxDepth)
	case data[0] == '{':
		members, err := decodeMembers(data)
		if err != nil {
			return nil, err
		}
		b.WriteByte('{')
		for i, member := range members {
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(&b, member.Key)
			b.WriteByte(':')
			b.Write(member.Value)
		}
		b.WriteByte('}')
	case data[0] == '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			return nil, err
		}
		b.WriteByte('[')
		for i, element := range elements {
			if i > 0 {
				b.WriteByte(',')
			}
			value, err := canonicalJSON(element, depth+1)
			if err != nil {
				return nil, err
			}
			b.Write(value)
		}
		b.WriteByte(']')
	case data[0] == '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return nil, err
		}
		writeString(&b, text)
	case data[0] == '-' || data[0] >= '0' && data[0] <= '9':
		var number float64
		if err := json.Unmarshal(data, &number); err != nil {
			return nil, err
		}
		writeNumber(&b, number)
	default:
		b.Write(data)
	}
	return b.Bytes(), nil
}

func (n *Node) decodeFields(f fields) error {
	if n.HasChildren() {
		n.Direction = f.choice("direction", "", "ltr", "rtl")
		n.Align = f.choice("format", "", "left", "start", "center", "right", "end", "justify")
		n.TextStyle = f.text("textStyle", "")
	}
	var whole []wholeField
	if n.HasChildren() {
		whole = append(whole, wholeField{"indent", &n.Indent, 0}, wholeField{"textFormat", (*int)(&n.TextFormat), 0})
	}
	switch n.Kind {
	case Heading:
		n.Level = int(f.choice("tag", "h1", "h2", "h3", "h4", "h5", "h6")[1] - '0')
	case Quote:
		if _, ok := f["shadowRoot"]; ok {
			n.ShadowRoot = f.readBool("shadowRoot")
		}
	case List:
		n.ListType = f.listType()
		whole = append(whole, wholeField{"start", &n.Start, 1})
	case ListItem:
		n.Checked = f.readBool("checked")
		n.Value = 1
	case Code:
		n.Language, n.Theme = f.text("language", ""), f.text("theme", "")
	case Link, AutoLink:
		n.URL, n.Rel, n.Target, n.Title = f.text("url", ""), f.text("rel", ""), f.text("target", ""), f.text("title", "")
		n.Unlinked = n.Kind == AutoLink && f.readBool("isUnlinked")
	case Image:
		n.URL, n.Alt, n.Width, n.Height = f.text("src", ""), f.text("altText", ""), f.readNumber("width"), f.readNumber("height")
	case Table:
		n.RowStriping = f.readBool("rowStriping")
		n.ColWidths = f.numbers("colWidths")
		whole = append(whole, wholeField{"frozenColumnCount", &n.FrozenColumns, 0}, wholeField{"frozenRowCount", &n.FrozenRows, 0})
	case TableRow:
		if _, ok := f["height"]; ok {
			height := f.readNumber("height")
			n.RowHeight = &height
		}
	case TableCell:
		n.ColSpan, n.RowSpan = f.readSpan("colSpan"), f.readSpan("rowSpan")
		n.Background, n.VerticalAlign, n.Width = f.text("backgroundColor", ""), f.choice("verticalAlign", "", "middle", "bottom"), f.readNumber("width")
		whole = append(whole, wholeField{"headerState", &n.HeaderState, 0})
	case Text, CodeText, Tab:
		decodeText(n, f)
		whole = append(whole, wholeField{"format", (*int)(&n.Format), f.alias("format", formatNames)}, wholeField{"detail", &n.Detail, f.alias("detail", detailNames)})
	}
	for _, field := range whole {
		number, ok := f.decodeNumber(field.name)
		if !ok {
			*field.value = field.missing
			continue
		}
		if number != math.Trunc(number) || math.Abs(number) > maxWhole {
			return refuse(n, "%s is no whole number", field.name)
		}
		*field.value = int(number)
	}
	n.completeFields()
	return nil
}

// maxWhole bounds whole numbers.
const maxWhole = 1 << 30

// wholeField is a whole number of a node, and what it is where there is none.
type wholeField struct {
	name    string
	value   *int
	missing int
}

// completeFields sets what does not depend on what was read.
func (n *Node) completeFields() {
	switch n.Kind {
	case TableCell:
		n.HeaderState &= 3
	case Tab:
		n.Text, n.Mode, n.Detail = "\t", "normal", 2
	case CodeText:
		n.Format = 0
	}
}

func decodeText(n *Node, f fields) {
	n.Text = f.text("text", "")
	n.Mode = f.choice("mode", "normal", "token", "segmented")
	n.Style = f.text("style", "")
	if n.Kind == CodeText {
		n.HighlightType = f.text("highlightType", "")
	}
}

var (
	formatNames = map[string]int{
		"bold": int(Bold), "italic": int(Italic), "strikethrough": int(Strikethrough), "underline": int(Underline), "code": int(InlineCode),
		"subscript": int(Subscript), "superscript": int(Superscript), "highlight": int(Highlight), "lowercase": int(Lowercase),
		"uppercase": int(Uppercase), "capitalize": int(Capitalize),
	}
	detailNames = map[string]int{"directionless": 1, "unmergeable": 2}
)

func (f fields) alias(name string, known map[string]int) int { return known[f.text(name, "")] }

func (f fields) text(name, missing string) string {
	raw := f[name]
	var text string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return missing
	}
	return text
}

// choice reads one of some texts; the first stands for all others.
func (f fields) choice(name string, allowed ...string) string {
	if text := f.text(name, allowed[0]); slices.Contains(allowed, text) {
		return text
	}
	return allowed[0]
}

func (f fields) readBool(name string) bool { return string(f[name]) == "true" }

func (f fields) decodeNumber(name string) (float64, bool) {
	raw := f[name]
	var number float64
	if len(raw) == 0 || !strings.ContainsRune("-0123456789", rune(raw[0])) || json.Unmarshal(raw, &number) != nil {
		return 0, false
	}
	return number, true
}

func (f fields) readNumber(name string) float64 {
	number, _ := f.decodeNumber(name)
	return number
}

// numbers reads a list of numbers, nil where there is none; what is no number counts as 0.
func (f fields) numbers(name string) []float64 {
	raw, ok := f[name]
	if !ok {
		return nil
	}
	var elements []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return []float64{}
	}
	all := make([]float64, len(elements))
	for i, element := range elements {
		all[i] = fields{name: element}.readNumber(name)
	}
	return all
}

// readSpan reads the number of columns or rows that a cell takes.
func (f fields) readSpan(name string) int {
	number := f.readNumber(name)
	if number < 1 || number != math.Trunc(number) || number > maxWhole {
		return 1
	}
	return int(number)
}

func (f fields) listType() ListType {
	switch named := f.text("listType", ""); named {
	case "ul":
		return Bullet
	case string(Bullet), string(Check):
		return ListType(named)
	}
	return Number
}
