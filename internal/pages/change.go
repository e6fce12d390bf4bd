package pages

import (
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Append gives a page's tree with Markdown at its end. A page that is empty has that alone.
func Append(root *tree.Node, markdown string) (*tree.Node, error) {
	added, err := tree.ParseMarkdown(markdown)
	if err != nil {
		return nil, err
	}
	changed := root.Clone()
	if changed.PlainText() == "" && len(changed.Children) == 1 && changed.Children[0].Kind == tree.Paragraph {
		changed.Children = nil
	}
	changed.Children = append(changed.Children, added.Children...)
	return normalizeChanged(changed)
}

// Replace gives a page's tree with Markdown in the place of a block, whose id the first block
// of the same kind keeps. Empty Markdown removes the block. Text in an item of a list, a cell
// or a heading replaces what stands in it. Errors are of type *tree.Error.
func Replace(root *tree.Node, id, markdown string) (*tree.Node, error) {
	changed := root.Clone()
	block, parent := changed.Find(id)
	if block == nil {
		return nil, &tree.Error{Node: id, Reason: "it is not on the page: see `page: show ids`"}
	}
	added, err := tree.ParseMarkdown(markdown)
	if err != nil {
		return nil, err
	}
	made := added.Children
	if added.PlainText() == "" && len(made) == 1 && made[0].Kind == tree.Paragraph {
		made = nil
	}
	switch {
	case block.IsInline():
		if made, err = inlineOf(block, made); err != nil {
			return nil, err
		}
	case len(made) > 0 && (block.Kind == tree.ListItem || block.Kind == tree.TableCell):
		block.Children = made
		return normalizeChanged(changed)
	case len(made) == 1 && block.Kind == tree.Heading && made[0].Kind == tree.Paragraph:
		block.Children = made[0].Children
		return normalizeChanged(changed)
	}
	keepID(block, made)
	at := slices.Index(parent.Children, block)
	parent.Children = slices.Replace(parent.Children, at, at+1, made...)
	return normalizeChanged(changed)
}

// inlineOf gives what stands in the one paragraph that takes the place of a text.
func inlineOf(block *tree.Node, made []*tree.Node) ([]*tree.Node, error) {
	if len(made) == 0 {
		return nil, nil
	}
	if len(made) > 1 || made[0].Kind != tree.Paragraph {
		return nil, &tree.Error{Node: block.ID, Reason: "it stands in a line of text: only a line can take its place"}
	}
	return made[0].Children, nil
}

// keepID gives the id of a block to the first of those that take its place and are alike.
func keepID(block *tree.Node, made []*tree.Node) {
	for _, n := range made {
		if n.Kind == block.Kind {
			n.ID = block.ID
			return
		}
	}
}

// normalizeChanged brings a changed tree into its form, with ids.
func normalizeChanged(root *tree.Node) (*tree.Node, error) {
	if err := tree.Normalize(root); err != nil {
		return nil, fmt.Errorf("change the page: %w", err)
	}
	tree.AssignIDs(root, tree.RandomID)
	return root, nil
}
