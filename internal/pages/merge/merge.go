// Package merge joins what two people did to a page at the same time: block by block, known
// by their ids, and inside a block word by word. What both changed in the same words is a
// conflict, which is named and never decided in silence. Compare tells what differs between
// two versions.
package merge

import (
	"bytes"
	"slices"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Kind says what both did to a block.
type Kind string

// Both changed the same words; one deleted what the other changed; both moved it to different
// places; both changed what it is (a heading's level, where a link leads).
const (
	Words   Kind = "words"
	Deleted Kind = "deleted"
	Moved   Kind = "moved"
	Shape   Kind = "shape"
)

// Conflict is what both did to one block, as Markdown. "" stands for a block that is gone.
type Conflict struct {
	Kind  Kind   `json:"kind"`
	Block string `json:"block"` // its id
	Base  string `json:"base"`
	Ours  string `json:"ours"`   // as it is stored
	Their string `json:"theirs"` // as the later writer has it
}

// Choice says what stands in the place of a conflict.
type Choice string

// The choices: what is stored, what the later writer has, or one behind the other.
const (
	KeepOurs   Choice = "ours"
	TakeTheirs Choice = "theirs"
	KeepBoth   Choice = "both"
)

// Merge joins two changes of base: ours, which is stored, and theirs, which comes later. All
// three are normalized and have ids. The trees are not changed; the result shares nothing
// with them. In the place of each conflict stands what choice says.
func Merge(base, ours, theirs *tree.Node, choice Choice) (*tree.Node, []Conflict, error) {
	folded, same := foldUnchanged(base, ours, theirs)
	root, conflicts, err := mergeTrees(folded.base, folded.ours, folded.theirs, choice)
	if err != nil {
		return nil, nil, err
	}
	same.unfold(root)
	return root, conflicts, nil
}

func mergeTrees(base, ours, theirs *tree.Node, choice Choice) (*tree.Node, []Conflict, error) {
	m := &merger{choice: choice, base: indexOf(base), ours: indexOf(ours), theirs: indexOf(theirs)}
	m.decideBlocks()
	m.decideParents()
	root := m.build(tree.RootID)
	tree.AssignIDs(root, tree.RandomID)
	if err := tree.Normalize(root); err != nil {
		return nil, nil, err
	}
	tree.AssignIDs(root, tree.RandomID)
	return root, m.conflicts, nil
}

// block is a node that has a place of its own, with the line of text that it begins with.
type block struct {
	id       string
	node     *tree.Node   // without its children
	line     []*tree.Node // what stands in lines of text right below it
	parent   string       // id
	children []string     // ids of the blocks below it, in order
	depth    int
}

// index is the blocks of a tree by their ids, in the order of the document.
type index struct {
	order  []string
	blocks map[string]*block
}

func indexOf(root *tree.Node) *index {
	x := &index{blocks: make(map[string]*block)}
	x.add(root, "", 0)
	return x
}

func (x *index) add(n *tree.Node, parent string, depth int) string {
	id := n.ID
	if n.Kind == tree.Root {
		id = tree.RootID
	}
	copied := *n
	copied.Children = nil
	b := &block{id: id, node: &copied, parent: parent, depth: depth}
	x.blocks[id] = b
	x.order = append(x.order, id)
	for _, child := range n.Children {
		if child.IsInline() {
			b.line = append(b.line, child)
		} else {
			b.children = append(b.children, x.add(child, id, depth+1))
		}
	}
	return id
}

type merger struct {
	choice             Choice
	base, ours, theirs *index
	blocks             map[string]*block // what is kept, merged
	order              []string
	conflicts          []Conflict
}

// sameNode tells whether two blocks are the same but for what stands in them.
func sameNode(a, b *tree.Node) bool {
	return isBareParagraph(a) && isBareParagraph(b) || bytes.Equal(encodeShape(a), encodeShape(b))
}

// isBareParagraph tells a paragraph with nothing set, as most blocks are.
func isBareParagraph(n *tree.Node) bool {
	return n.Kind == tree.Paragraph && n.Direction == "" && n.Align == "" && n.Indent == 0 && n.TextFormat == 0 && n.TextStyle == "" && len(n.State) == 0
}

// encodeShape writes a block without what follows from its place: its number and depth.
func encodeShape(n *tree.Node) []byte {
	copied := *n
	if copied.Kind == tree.ListItem {
		copied.Value, copied.Indent = 1, 0
	}
	if copied.Kind == tree.Root {
		copied.ID = ""
	}
	return append(tree.EncodeNode(&copied), boolByte(copied.Checked))
}

func boolByte(b bool) byte {
	if b {
		return '1'
	}
	return '0'
}

func sameLine(a, b []*tree.Node) bool {
	return slices.EqualFunc(a, b, func(x, y *tree.Node) bool {
		switch {
		case x == y:
			return true
		case x.Kind != y.Kind, x.Text != y.Text, x.Format != y.Format, x.ID != y.ID:
			return false
		case x.Kind == tree.Text && len(x.State)+len(y.State) == 0:
			return x.Style == y.Style && x.Mode == y.Mode && x.Detail == y.Detail
		}
		return bytes.Equal(tree.EncodeNode(x), tree.EncodeNode(y))
	})
}

// isUnchanged tells whether a block is what it was, but for its place.
func isUnchanged(was, is *block) bool {
	return sameNode(was.node, is.node) && sameLine(was.line, is.line)
}

// decideBlocks decides which blocks there are, and what stands in each.
func (m *merger) decideBlocks() {
	m.blocks = make(map[string]*block)
	for _, id := range unionOrder(m.ours.order, m.theirs.order, m.base.order) {
		base, ours, theirs := m.base.blocks[id], m.ours.blocks[id], m.theirs.blocks[id]
		var kept *block
		switch {
		case ours != nil && theirs != nil:
			kept = m.mergeBlock(base, ours, theirs)
		case ours == nil && theirs == nil:
			continue
		case base == nil:
			kept = firstOf(ours, theirs)
		case ours == nil:
			kept = m.mergeDeleted(base, theirs, false)
		default:
			kept = m.mergeDeleted(base, ours, true)
		}
		if kept == nil {
			continue
		}
		copied := *kept
		node := *kept.node
		copied.node, copied.children = &node, nil
		m.blocks[id] = &copied
		m.order = append(m.order, id)
	}
}

func firstOf(a, b *block) *block {
	if a != nil {
		return a
	}
	return b
}

// unionOrder gives the ids of several lists, each once: those of the first, and each other
// behind the one that it followed.
func unionOrder(lists ...[]string) []string {
	union := slices.Clone(lists[0])
	known := make(map[string]bool)
	for _, id := range union {
		known[id] = true
	}
	for _, list := range lists[1:] {
		after := make(map[string][]string) // those that come behind one that is known
		last := ""
		added := false
		for _, id := range list {
			if known[id] {
				last = id
				continue
			}
			known[id], added = true, true
			after[last] = append(after[last], id)
		}
		if !added {
			continue
		}
		merged := slices.Clone(after[""])
		for _, id := range union {
			merged = append(append(merged, id), after[id]...)
		}
		union = merged
	}
	return union
}

// mergeDeleted decides about a block that one side deleted; still is what the other side has.
// Where that was changed it is a conflict. What holds a block that stays, stays as well.
func (m *merger) mergeDeleted(base, still *block, byTheirs bool) *block {
	side, other := m.theirs, m.ours
	if byTheirs {
		side, other = m.ours, m.theirs
	}
	changed, holds := !isUnchanged(base, still), m.holdsKept(side, other, still)
	if changed || holds && len(still.line) > 0 {
		conflict := Conflict{Kind: Deleted, Block: base.id, Base: m.show(base)}
		if byTheirs {
			conflict.Ours = m.show(still)
		} else {
			conflict.Their = m.show(still)
		}
		m.conflicts = append(m.conflicts, conflict)
	}
	if holds || changed && m.choice != m.deleter(byTheirs) {
		return still
	}
	return nil
}

// deleter is the choice that has a deleted block stay deleted.
func (m *merger) deleter(byTheirs bool) Choice {
	if byTheirs {
		return TakeTheirs
	}
	return KeepOurs
}

// holdsKept tells whether a block that the other side deleted holds, on this side, anything
// that will stay there: what is new, what was moved there, what was changed.
func (m *merger) holdsKept(side, other *index, b *block) bool {
	for _, id := range b.children {
		child, was := side.blocks[id], m.base.blocks[id]
		switch {
		case was == nil:
			return true
		case other.blocks[id] != nil:
			if was.parent != b.id {
				return true
			}
		case !isUnchanged(was, child) && m.choice != m.deleter(side == m.ours), m.holdsKept(side, other, child):
			return true
		}
	}
	return false
}

// mergeBlock joins what both did to a block.
func (m *merger) mergeBlock(base, ours, theirs *block) *block {
	if base == nil { // both have it, so one side saw the other's
		base = &block{id: ours.id, node: ours.node, line: nil}
	}
	merged := &block{id: ours.id, node: ours.node, line: ours.line, parent: ours.parent}
	switch {
	case sameNode(ours.node, theirs.node), sameNode(base.node, theirs.node):
	case sameNode(base.node, ours.node):
		merged.node = theirs.node
	default:
		m.conflicts = append(m.conflicts, Conflict{Kind: Shape, Block: ours.id, Base: m.show(base), Ours: m.show(ours), Their: m.show(theirs)})
		if m.choice == TakeTheirs {
			merged.node = theirs.node
		}
	}
	switch {
	case sameLine(ours.line, theirs.line), sameLine(base.line, theirs.line):
	case sameLine(base.line, ours.line):
		merged.line = theirs.line
	default:
		line, clashed := mergeLines(base.line, ours.line, theirs.line, m.choice)
		merged.line = line
		if clashed {
			m.conflicts = append(m.conflicts, Conflict{Kind: Words, Block: ours.id, Base: m.show(base), Ours: m.show(ours), Their: m.show(theirs)})
		}
	}
	return merged
}

// show writes a block with its line as Markdown.
func (m *merger) show(b *block) string {
	node := *b.node
	node.Children = b.line
	return tree.MarkdownOf(&node)
}

// decideParents decides where each block stands.
func (m *merger) decideParents() {
	for _, id := range m.order {
		if id == tree.RootID {
			continue
		}
		m.blocks[id].parent = m.decideParent(id)
	}
	m.breakCircles()
	for _, id := range m.order {
		if b := m.blocks[id]; id != tree.RootID {
			for m.blocks[b.parent] == nil { // its parent is gone: it stands where that stood
				b.parent = m.parentOf(b.parent)
			}
		}
	}
	below := make(map[string][]string)
	for _, id := range m.order {
		if id != tree.RootID {
			below[m.blocks[id].parent] = append(below[m.blocks[id].parent], id)
		}
	}
	for _, id := range m.order {
		m.blocks[id].children = m.orderChildren(id, below[id])
	}
}

// parentOf gives the parent of a block that is gone.
func (m *merger) parentOf(id string) string {
	for _, x := range []*index{m.ours, m.theirs, m.base} {
		if b := x.blocks[id]; b != nil && b.parent != "" {
			return b.parent
		}
	}
	return tree.RootID
}

func (m *merger) decideParent(id string) string {
	base, ours, theirs := m.base.blocks[id], m.ours.blocks[id], m.theirs.blocks[id]
	switch {
	case ours == nil:
		return theirs.parent
	case theirs == nil:
		return ours.parent
	case base == nil, ours.parent == theirs.parent, base.parent == theirs.parent:
		return ours.parent
	case base.parent == ours.parent:
		return theirs.parent
	}
	m.conflicts = append(m.conflicts, Conflict{Kind: Moved, Block: id, Base: base.parent, Ours: ours.parent, Their: theirs.parent})
	if m.choice == TakeTheirs {
		return theirs.parent
	}
	return ours.parent
}

// breakCircles puts blocks back that were moved below one another.
func (m *merger) breakCircles() {
	for _, id := range m.order {
		if m.blocks[id].parent == tree.RootID {
			continue
		}
		seen := map[string]bool{}
		for at := id; at != "" && at != tree.RootID && m.blocks[at] != nil; at = m.blocks[at].parent {
			if !seen[at] {
				seen[at] = true
				continue
			}
			for circled := range seen {
				m.blocks[circled].parent = tree.RootID
				if ours := m.ours.blocks[circled]; ours != nil {
					m.blocks[circled].parent = ours.parent
				}
			}
			m.conflicts = append(m.conflicts, Conflict{Kind: Moved, Block: at})
			break
		}
	}
}

// orderChildren gives the blocks below one in their order: ours, with those that only theirs
// has there behind the one that they follow. An order that only theirs changed is theirs.
// Those in all whose own parent is gone come last.
func (m *merger) orderChildren(parent string, all []string) []string {
	here := func(x *index) []string {
		var ids []string
		if b := x.blocks[parent]; b != nil {
			for _, id := range b.children {
				if kept := m.blocks[id]; kept != nil && kept.parent == parent {
					ids = append(ids, id)
				}
			}
		}
		return ids
	}
	ours, theirs, base := here(m.ours), here(m.theirs), here(m.base)
	first, second := ours, theirs
	if isSameOrder(base, ours) && !isSameOrder(base, theirs) {
		first, second = theirs, ours
	}
	merged := unionOrder(first, second, base)
	if len(merged) == len(all) {
		return merged
	}
	known := make(map[string]bool)
	for _, id := range merged {
		known[id] = true
	}
	for _, id := range all {
		if !known[id] {
			merged = append(merged, id)
		}
	}
	return merged
}

// isSameOrder tells whether those that both lists have come in the same order.
func isSameOrder(a, b []string) bool {
	inA, inB := make(map[string]bool), make(map[string]bool)
	for _, id := range a {
		inA[id] = true
	}
	for _, id := range b {
		inB[id] = true
	}
	left := slices.DeleteFunc(slices.Clone(a), func(id string) bool { return !inB[id] })
	right := slices.DeleteFunc(slices.Clone(b), func(id string) bool { return !inA[id] })
	return slices.Equal(left, right)
}

// build makes the tree below a block. A block that can't stand where it came to stand, such
// as an item whose list is gone, is put into what it needs.
func (m *merger) build(id string) *tree.Node {
	b := m.blocks[id]
	n := *b.node
	n.Children = nil
	for _, inline := range b.line {
		n.Children = append(n.Children, inline.Clone())
	}
	if n.Kind == tree.Paragraph || n.Kind == tree.Heading || n.Kind == tree.Code {
		return &n // blocks below are lifted by buildAll
	}
	for _, child := range b.children {
		n.Children = append(n.Children, m.fit(n.Kind, m.build(child))...)
		n.Children = append(n.Children, m.lifted(child)...)
	}
	return &n
}

// lifted gives the blocks that came to stand below one that holds none.
func (m *merger) lifted(id string) []*tree.Node {
	b := m.blocks[id]
	if kind := b.node.Kind; kind != tree.Paragraph && kind != tree.Heading && kind != tree.Code {
		return nil
	}
	var nodes []*tree.Node
	for _, child := range b.children {
		nodes = append(nodes, m.build(child))
		nodes = append(nodes, m.lifted(child)...)
	}
	return nodes
}

// fit gives a block as it may stand in a parent of a kind.
func (m *merger) fit(parent tree.Kind, n *tree.Node) []*tree.Node {
	switch {
	case n.Kind == tree.TableCell && parent != tree.TableRow:
		return n.Children
	case n.Kind == tree.TableRow && parent != tree.Table:
		return []*tree.Node{tree.NewBlock(tree.Table, n)}
	case parent == tree.TableRow && n.Kind != tree.TableCell:
		return []*tree.Node{tree.NewBlock(tree.TableCell, n)}
	case parent == tree.Table && n.Kind != tree.TableRow:
		return []*tree.Node{tree.NewBlock(tree.TableRow, tree.NewBlock(tree.TableCell, n))}
	}
	return []*tree.Node{n}
}
