package tree

import (
	"bytes"
	"slices"
)

// Normalize brings a page into the form that Lexical gives it: items of lists stand in lists
// and know their numbers, neighbouring lists of a type are one, neighbouring texts that look
// the same are one, empty ones are gone. Beside that it does what Lexical refuses to: text
// right below the root gets a paragraph, and an empty page an empty one. What no editor makes
// is refused, with an *Error: a block inside a paragraph, a cell without its table.
func Normalize(root *Node) error {
	if root.Kind != Root {
		return refuse(root, "the root of a page is of type root")
	}
	root.restructure()
	root.mergeLists()
	if len(root.Children) == 0 {
		root.Children = []*Node{NewBlock(Paragraph)}
	}
	if err := root.check(); err != nil {
		return err
	}
	root.numberItems(0)
	return nil
}

// holdsBlocks tells a node whose lines of text stand in blocks of their own.
func (n *Node) holdsBlocks() bool {
	return n.Kind == Root || n.Kind == TableCell || n.Kind == Quote && n.ShadowRoot
}

// restructure puts all below a node into its place, the innermost first.
func (n *Node) restructure() {
	for _, child := range n.Children {
		child.restructure()
	}
	switch n.Kind {
	case List:
		n.wrapItems()
	case ListItem:
		n.unwrapParagraphs()
	}
	n.mergeTexts()
	if n.holdsBlocks() {
		n.wrapLines()
	}
}

// wrapItems makes an item of whatever else stands in a list.
func (n *Node) wrapItems() {
	for i, child := range n.Children {
		if child.Kind == ListItem {
			continue
		}
		item := NewBlock(ListItem, child)
		if child.HasChildren() && child.Kind != List && !child.IsInline() {
			item.Children = child.Children
		}
		item.unwrapParagraphs()
		item.mergeTexts()
		n.Children[i] = item
	}
}

// unwrapParagraphs puts what stands in paragraphs of an item into the item itself.
func (n *Node) unwrapParagraphs() {
	var children []*Node
	for _, child := range n.Children {
		if child.Kind == Paragraph || child.Kind == ListItem {
			children = append(children, child.Children...)
		} else {
			children = append(children, child)
		}
	}
	n.Children = children
}

// wrapLines gives lines of text a paragraph, and items of lists a list.
func (n *Node) wrapLines() {
	var children []*Node
	var last *Node // made here, and not ended yet
	for _, child := range n.Children {
		wrapper := Kind("")
		switch {
		case child.Kind == ListItem:
			wrapper = List
		case child.IsInline():
			wrapper = Paragraph
		}
		switch {
		case wrapper == "":
			children, last = append(children, child), nil
		case last != nil && last.Kind == wrapper:
			last.Children = append(last.Children, child)
		default:
			last = NewBlock(wrapper, child)
			children = append(children, last)
		}
	}
	n.Children = children
}

// mergeTexts joins neighbouring texts that look the same, and drops empty ones, and links
// that are empty because of it.
func (n *Node) mergeTexts() {
	var children []*Node
	for _, child := range n.Children {
		if child.isPlain() && child.Text == "" {
			continue
		}
		if (child.Kind == Link || child.Kind == AutoLink) && child.emptied {
			continue
		}
		if last := len(children) - 1; last >= 0 && children[last].canMerge(child) {
			children[last].Text += child.Text
			continue
		}
		children = append(children, child)
	}
	n.emptied = len(children) == 0 && len(n.Children) > 0
	n.Children = children
}

// isPlain tells a text that Lexical merges with others.
func (n *Node) isPlain() bool { return n.Kind == Text && n.Mode == "normal" && n.Detail&2 == 0 }

func (n *Node) canMerge(next *Node) bool {
	return n.isPlain() && next.isPlain() && n.Format == next.Format && n.Style == next.Style && n.ID == next.ID &&
		slices.EqualFunc(sortedState(n.State), sortedState(next.State), func(a, b State) bool {
			return a.Key == b.Key && bytes.Equal(a.Value, b.Value) && a.Value[0] != '{' && a.Value[0] != '[' // objects differ from all others
		})
}

func sortedState(state []State) []State {
	sorted := slices.Clone(state)
	slices.SortFunc(sorted, func(a, b State) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
	return sorted
}

// mergeLists joins neighbouring lists of a type, below a node as well.
func (n *Node) mergeLists() {
	var children []*Node
	for _, child := range n.Children {
		last := len(children) - 1
		if child.Kind == List && last >= 0 && children[last].Kind == List && children[last].ListType == child.ListType {
			joinLists(children[last], child)
			continue
		}
		children = append(children, child)
	}
	n.Children = children
	for _, child := range n.Children {
		child.mergeLists()
	}
}

// joinLists appends the items of a list to another. Where one ends and the other begins with
// an item that holds only a list, these are joined as well.
func joinLists(list, next *Node) {
	items := next.Children
	if len(list.Children) > 0 && len(items) > 0 {
		last, first := list.Children[len(list.Children)-1], items[0]
		if last.isNestedList() && first.isNestedList() && last.Children[0].ListType == first.Children[0].ListType {
			joinLists(last.Children[0], first.Children[0])
			items = items[1:]
		}
	}
	list.Children = append(list.Children, items...)
}

// isNestedList tells an item that begins with a list: it has no number of its own.
func (n *Node) isNestedList() bool {
	return n.Kind == ListItem && len(n.Children) > 0 && n.Children[0].Kind == List
}

// numberItems gives items their numbers and depths; depth is how many items stand around n.
func (n *Node) numberItems(depth int) {
	value := n.Start
	for _, child := range n.Children {
		if n.Kind == List && child.Kind == ListItem {
			child.Value, child.Indent, child.ListType = value, depth, n.ListType
			if n.ListType != Check {
				child.Checked, child.ListType = false, ""
			}
			if !child.isNestedList() {
				value++
			}
		}
		switch {
		case n.Kind == ListItem && child.Kind == List:
			child.numberItems(depth + 1)
		case n.Kind == List:
			child.numberItems(depth)
		default:
			child.numberItems(0)
		}
	}
}

// check refuses nodes in places where no editor puts them.
func (n *Node) check() error {
	for _, child := range n.Children {
		if !n.mayHold(child) {
			return refuse(child, "it can't stand in a node of type %s", n.Kind)
		}
		if err := child.check(); err != nil {
			return err
		}
	}
	return nil
}

// mayHold tells whether a node may stand right below another.
func (n *Node) mayHold(child *Node) bool {
	part := child.Kind == ListItem || child.Kind == TableRow || child.Kind == TableCell || child.Kind == Root
	block := !child.IsInline() && !part
	switch n.Kind {
	case Root, TableCell:
		return block
	case Quote:
		return block || child.IsInline() && !n.ShadowRoot
	case Paragraph, Heading:
		return child.IsInline()
	case Link, AutoLink:
		return child.IsInline() && child.Kind != Link && child.Kind != AutoLink
	case List:
		return child.Kind == ListItem
	case ListItem:
		return child.IsInline() || block && child.Kind != Paragraph
	case Code:
		return child.IsText() || child.Kind == LineBreak
	case Table:
		return child.Kind == TableRow
	case TableRow:
		return child.Kind == TableCell
	}
	return false
}
