package tools

import (
	"context"
	"slices"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

func toggleListType(_ context.Context, e *edit, a struct {
	ListID     string
	TargetType tree.ListType
}) error {
	n, _, err := e.findKind(a.ListID, tree.List)
	if err != nil {
		return err
	}
	n.ListType = a.TargetType
	e.touch(n)
	return nil
}

// convertToList makes items of neighbouring blocks.
func convertToList(_ context.Context, e *edit, a struct {
	NodeIDs  []string
	ListType tree.ListType
}) error {
	nodes, parent, at, err := e.findNeighbours(a.NodeIDs)
	if err != nil {
		return err
	}
	list := tree.NewBlock(tree.List)
	list.ListType = a.ListType
	for _, n := range nodes {
		if n.Kind != tree.Paragraph && n.Kind != tree.Heading && (n.Kind != tree.Quote || n.ShadowRoot) {
			return &Error{Code: WrongKind, Node: n.ID, Reason: "only paragraphs, headings and quotes become items"}
		}
		item := tree.NewBlock(tree.ListItem, n.Children...)
		item.ID = n.ID
		list.Children = append(list.Children, item)
	}
	parent.Children = slices.Replace(parent.Children, at, at+len(nodes), list)
	e.touch(list)
	return nil
}

// nestedList gives the list that an item holds instead of a line, as Lexical nests lists; nil
// for any other item.
func nestedList(item *tree.Node) *tree.Node {
	if item.Kind == tree.ListItem && len(item.Children) == 1 && item.Children[0].Kind == tree.List {
		return item.Children[0]
	}
	return nil
}

// indentItem puts an item below the one before it: into the list that stands between them, or a
// new one.
func indentItem(_ context.Context, e *edit, a struct{ NodeID string }) error {
	item, list, err := e.findKind(a.NodeID, tree.ListItem)
	if err != nil {
		return err
	}
	at := slices.Index(list.Children, item)
	if at == 0 || nestedList(item) != nil {
		return &Error{Code: InvalidPlace, Node: a.NodeID, Reason: "there is no item before it that it could stand below"}
	}
	e.touch(item)
	e.remove(item, list)
	nested := nestedList(list.Children[at-1])
	if nested == nil || nested.ListType != list.ListType {
		nested = tree.NewBlock(tree.List)
		nested.ListType = list.ListType
		list.Children = slices.Insert(list.Children, at, tree.NewBlock(tree.ListItem, nested))
		at++
	}
	nested.Children = append(nested.Children, item)
	if at < len(list.Children) {
		if next := nestedList(list.Children[at]); next != nil && next.ListType == nested.ListType {
			nested.Children = append(nested.Children, next.Children...)
			list.Children = slices.Delete(list.Children, at, at+1)
		}
	}
	return nil
}

// outdentItem puts an item behind the one that its list stands below. Items behind it stay
// nested, below it.
func outdentItem(_ context.Context, e *edit, a struct{ NodeID string }) error {
	item, list, err := e.findKind(a.NodeID, tree.ListItem)
	if err != nil {
		return err
	}
	holder, err := e.findParent(list)
	if err != nil {
		return err
	}
	if holder.Kind != tree.ListItem {
		return &Error{Code: InvalidPlace, Node: a.NodeID, Reason: "it stands in no nested list"}
	}
	outer, err := e.findParent(holder)
	if err != nil {
		return err
	}
	at := slices.Index(list.Children, item)
	moved := []*tree.Node{item}
	if behind := list.Children[at+1:]; len(behind) > 0 {
		rest := tree.NewBlock(tree.List, slices.Clone(behind)...)
		rest.ListType = list.ListType
		moved = append(moved, tree.NewBlock(tree.ListItem, rest))
	}
	list.Children = slices.Clone(list.Children[:at])
	place := slices.Index(outer.Children, holder)
	outer.Children = slices.Insert(outer.Children, place+1, moved...)
	if at == 0 {
		holder.Children = slices.DeleteFunc(holder.Children, func(n *tree.Node) bool { return n == list })
		if len(holder.Children) == 0 {
			e.remove(holder, outer)
		}
	}
	e.touch(moved...)
	return nil
}
