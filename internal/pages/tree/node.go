// Package tree is the document model of pages: a tree of nodes whose ids last across edits.
// It reads and writes the JSON of the Lexical editor exactly as Lexical 0.52 itself would
// normalize it, Markdown, HTML without anything that could run, and XML with ids, which is
// how language models and people's editors see a page.
//
// Reading order: node.go, decode.go, normalize.go, encode.go, ids.go, then one file for each
// other format.
package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kind says what a node is, by Lexical's name for it.
type Kind string

// The kinds of nodes. A node of any other kind is kept as it was read, in Node.Raw.
const (
	Root      Kind = "root"
	Paragraph Kind = "paragraph"
	Heading   Kind = "heading"
	Quote     Kind = "quote"
	List      Kind = "list"
	ListItem  Kind = "listitem"
	Code      Kind = "code"
	Table     Kind = "table"
	TableRow  Kind = "tablerow"
	TableCell Kind = "tablecell"
	Rule      Kind = "horizontalrule"
	Link      Kind = "link"
	AutoLink  Kind = "autolink"
	Image     Kind = "image"
	Text      Kind = "text"
	CodeText  Kind = "code-highlight" // a word of a code block, coloured
	LineBreak Kind = "linebreak"
	Tab       Kind = "tab"
)

// Format is a set of marks of a text.
type Format int

// The marks, with Lexical's bits.
const (
	Bold Format = 1 << iota
	Italic
	Strikethrough
	Underline
	InlineCode
	Subscript
	Superscript
	Highlight
	Lowercase
	Uppercase
	Capitalize
)

// ListType is how the items of a list are marked.
type ListType string

// The types of lists.
const (
	Number ListType = "number"
	Bullet ListType = "bullet"
	Check  ListType = "check"
)

// Node is a node of a page with all below it. Only the fields of its kind are used.
type Node struct {
	Kind     Kind
	ID       string  // lasts across edits; "" for none, and always for line breaks and tabs
	State    []State // what else Lexical keeps of the node, in its order
	Children []*Node // of kinds that have any

	// Of all kinds with children.
	Direction string // "", "ltr" or "rtl"
	Align     string // "", "left", "start", "center", "right", "end" or "justify"
	Indent    int
	// TextFormat and TextStyle are what is typed into a node without text looks like.
	TextFormat Format
	TextStyle  string

	Level      int      // of a Heading: 1 to 6
	ShadowRoot bool     // of a Quote that holds blocks
	ListType   ListType // of a List
	Start      int      // number of a List's first item
	Value      int      // number of a ListItem
	Checked    bool     // of a ListItem in a list of type Check
	Language   string   // of Code
	Theme      string   // of Code
	URL        string   // of a Link, an AutoLink, an Image
	Rel        string   // of a Link or an AutoLink
	Target     string   // of a Link or an AutoLink
	Title      string   // of a Link or an AutoLink
	Unlinked   bool     // of an AutoLink that a person made plain text again
	Alt        string   // of an Image

	Width  float64 // of a TableCell or an Image, in pixels; 0 for its own
	Height float64 // of an Image, in pixels; 0 for its own
	// RowHeight is a TableRow's, in pixels; nil for its own.
	RowHeight *float64

	HeaderState   int // of a TableCell: 1 for a row's, 2 for a column's header, 3 for both
	ColSpan       int // of a TableCell
	RowSpan       int // of a TableCell
	Background    string
	VerticalAlign string // "", "middle" or "bottom"

	ColWidths     []float64 // of a Table, in pixels; nil for none
	FrozenColumns int
	FrozenRows    int
	RowStriping   bool

	Text          string // of a Text or CodeText
	Format        Format // of a Text or Tab
	Detail        int    // of a Text or CodeText: 1 directionless, 2 not to be merged
	Mode          string // of a Text or CodeText: "normal", "token" or "segmented"
	Style         string // CSS of a Text, CodeText or Tab
	HighlightType string // of a CodeText

	// Raw is the JSON of a node of a kind that is not known, as it was read.
	Raw json.RawMessage

	idAfter int  // how many values of State stand before the id
	emptied bool // all its children were empty texts
}

// State is a value that Lexical keeps with a node.
type State struct {
	Key   string
	Value json.RawMessage // compact
}

// Limits of a document.
const (
	MaxNodes = 200_000
	MaxDepth = 100
	MaxBytes = 16 << 20 // of JSON
)

// Error tells why something is no document, or can't be part of one.
type Error struct {
	Node   string // id or kind of the node
	Reason string
}

func (e *Error) Error() string {
	if e.Node == "" {
		return e.Reason
	}
	return fmt.Sprintf("node %s: %s", e.Node, e.Reason)
}

func refuse(n *Node, format string, values ...any) error {
	name := string(n.Kind)
	if n.ID != "" {
		name += " " + n.ID
	}
	return &Error{name, fmt.Sprintf(format, values...)}
}

// New gives an empty document: a root with one empty paragraph.
func New() *Node {
	return &Node{Kind: Root, Children: []*Node{NewBlock(Paragraph)}}
}

// NewBlock gives a node of a kind with children, with the values that Lexical begins with.
func NewBlock(kind Kind, children ...*Node) *Node {
	n := &Node{Kind: kind, Children: children}
	switch kind {
	case Heading:
		n.Level = 1
	case List:
		n.ListType, n.Start = Bullet, 1
	case ListItem:
		n.Value = 1
	case TableCell:
		n.ColSpan, n.RowSpan = 1, 1
	}
	return n
}

// NewText gives a text with marks.
func NewText(text string, format Format) *Node {
	return &Node{Kind: Text, Text: text, Format: format, Mode: "normal"}
}

// IsText tells a node that holds text itself.
func (n *Node) IsText() bool { return n.Kind == Text || n.Kind == CodeText || n.Kind == Tab }

// HasChildren tells a node that may have children.
func (n *Node) HasChildren() bool {
	switch n.Kind {
	case Root, Paragraph, Heading, Quote, List, ListItem, Code, Table, TableRow, TableCell, Link, AutoLink:
		return true
	}
	return false
}

// IsInline tells a node that stands in a line of text. What is not known is a block.
func (n *Node) IsInline() bool {
	switch n.Kind {
	case Link, AutoLink, Image, Text, CodeText, LineBreak, Tab:
		return true
	}
	return false
}

// IsKnown tells a node of one of the kinds of this package.
func (n *Node) IsKnown() bool { return n.Raw == nil }

// Clone copies a node with all below it.
func (n *Node) Clone() *Node {
	copied := *n
	copied.State = append([]State(nil), n.State...)
	copied.Children = nil
	for _, child := range n.Children {
		copied.Children = append(copied.Children, child.Clone())
	}
	return &copied
}

// Equal tells whether two nodes are the same, with ids and all below them.
func (n *Node) Equal(other *Node) bool {
	if n == other {
		return true
	}
	return hasSameAttributes(n, other) && hasSameText(n, other) && hasSameTable(n, other) &&
		slices.EqualFunc(n.State, other.State, func(a, b State) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) }) &&
		n.idAfter == other.idAfter && bytes.Equal(n.Raw, other.Raw) && (n.Raw == nil) == (other.Raw == nil) &&
		slices.EqualFunc(n.Children, other.Children, (*Node).Equal)
}

func hasSameAttributes(n, other *Node) bool {
	return n.Kind == other.Kind && n.ID == other.ID && n.Direction == other.Direction && n.Align == other.Align && n.Indent == other.Indent &&
		n.TextFormat == other.TextFormat && n.TextStyle == other.TextStyle && n.Level == other.Level && n.ShadowRoot == other.ShadowRoot &&
		n.ListType == other.ListType && n.Start == other.Start && n.Value == other.Value && n.Checked == other.Checked &&
		n.Language == other.Language && n.Theme == other.Theme
}

func hasSameText(n, other *Node) bool {
	return n.Text == other.Text && n.Format == other.Format && n.Detail == other.Detail && n.Mode == other.Mode && n.Style == other.Style &&
		n.HighlightType == other.HighlightType && n.URL == other.URL && n.Rel == other.Rel && n.Target == other.Target &&
		n.Title == other.Title && n.Unlinked == other.Unlinked && n.Alt == other.Alt && n.Width == other.Width && n.Height == other.Height
}

func hasSameTable(n, other *Node) bool {
	sameHeight := n.RowHeight == other.RowHeight || n.RowHeight != nil && other.RowHeight != nil && *n.RowHeight == *other.RowHeight
	return sameHeight && n.HeaderState == other.HeaderState && n.ColSpan == other.ColSpan && n.RowSpan == other.RowSpan &&
		n.Background == other.Background && n.VerticalAlign == other.VerticalAlign && slices.Equal(n.ColWidths, other.ColWidths) &&
		n.FrozenColumns == other.FrozenColumns && n.FrozenRows == other.FrozenRows && n.RowStriping == other.RowStriping
}

// Walk calls visit with a node and all below it, in the order of the document, until visit
// gives false for one: what is below that is left out.
func (n *Node) Walk(visit func(node, parent *Node) bool) { n.walk(nil, visit) }

func (n *Node) walk(parent *Node, visit func(node, parent *Node) bool) {
	if !visit(n, parent) {
		return
	}
	for _, child := range n.Children {
		child.walk(n, visit)
	}
}

// Find gives the node of an id and its parent, nil where there is none.
func (n *Node) Find(id string) (node, parent *Node) {
	n.Walk(func(at, above *Node) bool {
		if node == nil && at.ID == id && id != "" {
			node, parent = at, above
		}
		return node == nil
	})
	return node, parent
}

// PlainText gives the text below a node without marks: blocks on lines of their own.
func (n *Node) PlainText() string {
	var b strings.Builder
	n.writePlainText(&b)
	return strings.TrimRight(b.String(), "\n")
}

func (n *Node) writePlainText(b *strings.Builder) {
	endLine := func() {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	switch n.Kind {
	case Text, CodeText:
		b.WriteString(n.Text)
	case Tab:
		b.WriteByte('\t')
	case LineBreak:
		b.WriteByte('\n')
	case Image:
		b.WriteString(n.Alt)
	}
	for _, child := range n.Children {
		if !child.IsInline() {
			endLine()
		}
		child.writePlainText(b)
	}
	if n.Kind != Root && !n.IsInline() {
		endLine()
	}
}
