package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// spec is a node as a model describes it.
type spec struct {
	Type       string
	Content    *string
	Children   []spec
	Attributes map[string]json.RawMessage
}

// markdownType is a spec of as many blocks as its content has.
const markdownType = "markdown"

// build makes the nodes of a spec: one, but for those of Markdown.
func (s spec) build() ([]*tree.Node, error) {
	if s.Type == markdownType {
		if s.Content == nil {
			return nil, &Error{Code: InvalidContent, Reason: "markdown needs content"}
		}
		root, err := tree.ParseMarkdown(*s.Content)
		if err != nil {
			return nil, &Error{Code: InvalidContent, Reason: err.Error()}
		}
		return root.Children, nil
	}
	n := newNode(tree.Kind(s.Type))
	if s.Content != nil && s.Children != nil {
		return nil, &Error{Code: InvalidContent, Reason: "a node has content or children, not both"}
	}
	if s.Content != nil {
		if err := setContent(n, *s.Content); err != nil {
			return nil, err
		}
	}
	if s.Children != nil {
		if err := setChildren(n, s.Children); err != nil {
			return nil, err
		}
	}
	if n.Kind == tree.TableCell && len(n.Children) == 0 {
		n.Children = []*tree.Node{tree.NewBlock(tree.Paragraph)}
	}
	if err := setAttributes(n, s.Attributes); err != nil {
		return nil, err
	}
	return []*tree.Node{n}, checkWhole(n)
}

func newNode(kind tree.Kind) *tree.Node {
	if kind == tree.Text {
		return tree.NewText("", 0)
	}
	return tree.NewBlock(kind)
}

// checkWhole refuses a new node without what makes it one.
func checkWhole(n *tree.Node) error {
	missing := ""
	switch n.Kind {
	case tree.Link:
		if len(n.Children) == 0 {
			missing = "content"
		} else if n.URL == "" {
			missing = "the attribute href"
		}
	case tree.Image:
		if n.URL == "" {
			missing = "the attribute src"
		}
	case tree.Text:
		if n.Text == "" {
			missing = "content"
		}
	case tree.List, tree.Table, tree.TableRow:
		if len(n.Children) == 0 {
			missing = "content or children"
		}
	}
	if missing != "" {
		return &Error{Code: InvalidContent, Reason: fmt.Sprintf("a %s needs %s", n.Kind, missing)}
	}
	return nil
}

// setContent replaces what stands in a node by a text.
func setContent(n *tree.Node, content string) error {
	switch n.Kind {
	case tree.Text, tree.CodeText:
		if strings.ContainsAny(content, "\n\r") || content == "" {
			return &Error{Code: InvalidContent, Node: n.ID, Reason: "a text is one line that is not empty"}
		}
		n.Text = content
	case tree.Code:
		n.Children = codeLines(content)
	case tree.Paragraph, tree.Heading, tree.Link, tree.AutoLink:
		n.Children = tree.ParseLine(content)
	case tree.ListItem:
		nested := slices.IndexFunc(n.Children, func(child *tree.Node) bool { return !child.IsInline() })
		if nested < 0 {
			nested = len(n.Children)
		}
		n.Children = append(tree.ParseLine(content), n.Children[nested:]...)
	case tree.Quote:
		return setBlocks(n, content, !n.ShadowRoot)
	case tree.TableCell:
		return setBlocks(n, content, false)
	case tree.List, tree.Table:
		return setParsed(n, content)
	default:
		return &Error{Code: WrongKind, Node: n.ID, Reason: fmt.Sprintf("a %s has no content", n.Kind)}
	}
	return nil
}

// codeLines gives the lines of a block of code.
func codeLines(content string) []*tree.Node {
	var nodes []*tree.Node
	for i, line := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(content, "\r\n", "\n"), "\n"), "\n") {
		if i > 0 {
			nodes = append(nodes, &tree.Node{Kind: tree.LineBreak})
		}
		if line != "" {
			nodes = append(nodes, tree.NewText(line, 0))
		}
	}
	return nodes
}

// setBlocks replaces what stands in a quote or a cell by the blocks of Markdown; the one
// paragraph of a quote that has no blocks by its line.
func setBlocks(n *tree.Node, content string, line bool) error {
	root, err := tree.ParseMarkdown(content)
	if err != nil {
		return &Error{Code: InvalidContent, Node: n.ID, Reason: err.Error()}
	}
	n.Children = root.Children
	if n.Kind != tree.Quote {
		return nil
	}
	if line && len(root.Children) == 1 && root.Children[0].Kind == tree.Paragraph {
		n.Children = root.Children[0].Children
		return nil
	}
	n.ShadowRoot = true
	return nil
}

// setParsed replaces what stands in a list or a table by that of one in Markdown. Lines without
// marks are the items of a list.
func setParsed(n *tree.Node, content string) error {
	root, err := tree.ParseMarkdown(content)
	if err != nil {
		return &Error{Code: InvalidContent, Node: n.ID, Reason: err.Error()}
	}
	if len(root.Children) == 1 && root.Children[0].Kind == n.Kind {
		n.Children, n.ListType, n.Start = root.Children[0].Children, root.Children[0].ListType, root.Children[0].Start
		return nil
	}
	if n.Kind != tree.List {
		return &Error{Code: InvalidContent, Node: n.ID, Reason: "the content of a table is one table in Markdown"}
	}
	n.Children = nil
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" {
			n.Children = append(n.Children, tree.NewBlock(tree.ListItem, tree.ParseLine(line)...))
		}
	}
	if len(n.Children) == 0 {
		return &Error{Code: InvalidContent, Node: n.ID, Reason: "a list has items"}
	}
	return nil
}

// setChildren replaces what stands in a node by new nodes.
func setChildren(n *tree.Node, specs []spec) error {
	if !n.HasChildren() {
		return &Error{Code: WrongKind, Node: n.ID, Reason: fmt.Sprintf("a %s has no children", n.Kind)}
	}
	n.Children = nil
	for _, one := range specs {
		built, err := one.build()
		if err != nil {
			return err
		}
		n.Children = append(n.Children, built...)
	}
	if n.Kind == tree.Quote {
		n.ShadowRoot = slices.ContainsFunc(n.Children, func(child *tree.Node) bool { return !child.IsInline() })
	}
	return nil
}

// attribute is how one is set, and of which nodes; kinds is nil for all blocks.
type attribute struct {
	kinds []tree.Kind
	set   func(n *tree.Node, value json.RawMessage) error
}

// field is an attribute that is a field of a node, with its value where there is none.
func field[V any](of func(n *tree.Node) *V, empty V, kinds ...tree.Kind) attribute {
	return attribute{kinds, func(n *tree.Node, value json.RawMessage) error {
		at := of(n)
		if *at = empty; string(value) == "null" {
			return nil
		}
		return json.Unmarshal(value, at)
	}}
}

var attributes = map[string]attribute{
	"type":     {[]tree.Kind{tree.Paragraph, tree.Heading, tree.Quote}, setKind},
	"level":    field(func(n *tree.Node) *int { return &n.Level }, 1, tree.Heading),
	"marks":    {[]tree.Kind{tree.Text, tree.CodeText}, setMarks},
	"listType": field(func(n *tree.Node) *tree.ListType { return &n.ListType }, tree.Bullet, tree.List),
	"start":    field(func(n *tree.Node) *int { return &n.Start }, 1, tree.List),
	"checked":  field(func(n *tree.Node) *bool { return &n.Checked }, false, tree.ListItem),
	"language": field(func(n *tree.Node) *string { return &n.Language }, "", tree.Code),
	"href":     {[]tree.Kind{tree.Link, tree.AutoLink}, setAddress},
	"title":    field(func(n *tree.Node) *string { return &n.Title }, "", tree.Link, tree.AutoLink),
	"src":      {[]tree.Kind{tree.Image}, setAddress},
	"alt":      field(func(n *tree.Node) *string { return &n.Alt }, "", tree.Image),
	"width":    field(func(n *tree.Node) *float64 { return &n.Width }, 0, tree.Image),
	"height":   field(func(n *tree.Node) *float64 { return &n.Height }, 0, tree.Image),
	"header":   {[]tree.Kind{tree.TableCell}, setHeader},
	"align":    field(func(n *tree.Node) *string { return &n.Align }, "", tree.Paragraph, tree.Heading, tree.Quote, tree.ListItem),
}

// setAttributes changes what a node is. The kind comes first, for others depend on it.
func setAttributes(n *tree.Node, values map[string]json.RawMessage) error {
	if !n.IsKnown() && len(values) > 0 {
		return &Error{Code: WrongKind, Node: n.ID, Reason: "a node of an unknown type can be kept, moved and deleted alone"}
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if a == "type" || b == "type" {
			return strings.Compare(b, "type") - strings.Compare(a, "type")
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		known := attributes[name]
		if !slices.Contains(known.kinds, n.Kind) {
			return &Error{Code: WrongKind, Node: n.ID, Reason: fmt.Sprintf("a %s has no %s", n.Kind, name)}
		}
		if err := known.set(n, values[name]); err != nil {
			return &Error{Code: InvalidContent, Node: n.ID, Reason: fmt.Sprintf("%s: %v", name, err)}
		}
	}
	return nil
}

func setKind(n *tree.Node, value json.RawMessage) error {
	var kind tree.Kind
	if err := json.Unmarshal(value, &kind); err != nil || kind == n.Kind {
		return err
	}
	if n.Kind == tree.Quote && n.ShadowRoot {
		return fmt.Errorf("the quote holds blocks: unwrap it")
	}
	if n.Kind, n.Level = kind, 0; kind == tree.Heading {
		n.Level = 1
	}
	return nil
}

func setMarks(n *tree.Node, value json.RawMessage) error {
	var names string // null leaves it empty
	err := json.Unmarshal(value, &names)
	if err == nil {
		n.Format, err = tree.ParseMarks(names)
	}
	return err
}

func setAddress(n *tree.Node, value json.RawMessage) error {
	var address string
	if err := json.Unmarshal(value, &address); err != nil {
		return err
	}
	if _, ok := tree.SafeURL(address); !ok {
		return fmt.Errorf("%q is no address that a page may link to", address)
	}
	n.URL = address
	return nil
}

func setHeader(n *tree.Node, value json.RawMessage) error {
	var name string
	err := json.Unmarshal(value, &name)
	n.HeaderState = map[string]int{"": 0, "row": 1, "column": 2, "both": 3}[name]
	return err
}
