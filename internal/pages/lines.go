package pages

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Line is the text of a block that holds text itself.
type Line struct {
	Block string // its id
	Text  string
}

// TextEdit replaces Text[Start:End] of a block's Line, in bytes, by New.
type TextEdit struct {
	Block string `json:"block"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	New   string `json:"new"`
}

// Lines gives the text of a page's blocks in their order.
func Lines(root *tree.Node) []Line {
	var lines []Line
	root.Walk(func(n, _ *tree.Node) bool {
		if n.IsInline() {
			return false
		}
		if len(n.Children) > 0 && n.Children[0].IsInline() {
			lines = append(lines, Line{n.ID, joinTexts(n)})
		}
		return true
	})
	return lines
}

// joinTexts gives the text below a block as it stands in its nodes.
func joinTexts(block *tree.Node) string {
	var b strings.Builder
	for _, leaf := range listLeaves(block) {
		b.WriteString(leafText(leaf))
	}
	return b.String()
}

// listLeaves gives the nodes of a block's own text, those of links among them.
func listLeaves(block *tree.Node) []*tree.Node {
	var leaves []*tree.Node
	for _, child := range block.Children {
		switch {
		case child.IsInline() && len(child.Children) > 0:
			leaves = append(leaves, listLeaves(child)...)
		case child.IsInline():
			leaves = append(leaves, child)
		}
	}
	return leaves
}

// leafText is what a node stands for in a line.
func leafText(leaf *tree.Node) string {
	switch {
	case leaf.Kind == tree.Tab:
		return "\t"
	case leaf.IsText():
		return leaf.Text
	}
	return "\n"
}

// EditText gives a page's tree with edits of its lines made, which must not overlap. A text that goes
// over several nodes keeps the marks of the first. Errors are of type *tree.Error.
func EditText(root *tree.Node, edits []TextEdit) (*tree.Node, error) {
	changed := root.Clone()
	byBlock := make(map[string][]TextEdit)
	for _, edit := range edits {
		byBlock[edit.Block] = append(byBlock[edit.Block], edit)
	}
	for id, edits := range byBlock {
		block, _ := changed.Find(id)
		if block == nil {
			return nil, &tree.Error{Node: id, Reason: "it is not on the page any more"}
		}
		at, length := 0, len(joinTexts(block))
		for _, leaf := range listLeaves(block) {
			size := len(leafText(leaf))
			if leaf.IsText() && leaf.Kind != tree.Tab {
				leaf.Text = editLeaf(leaf.Text, at, edits)
			}
			at += size
		}
		for _, edit := range edits {
			if edit.Start < 0 || edit.End < edit.Start || edit.End > length {
				return nil, &tree.Error{Node: id, Reason: "its text has changed"}
			}
		}
	}
	return normalizeChanged(changed)
}

// editLeaf gives the text of a node that begins at a place of its line, with the edits made: the
// new text stands in the node in which the old one begins.
func editLeaf(text string, at int, edits []TextEdit) string {
	var b strings.Builder
	for i := 0; i <= len(text); i++ {
		inside := false
		for _, edit := range edits {
			if edit.Start == at+i && i < len(text) {
				b.WriteString(edit.New)
			}
			inside = inside || edit.Start <= at+i && at+i < edit.End
		}
		if i < len(text) && !inside {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
