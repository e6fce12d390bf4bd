package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// wrapNodes puts neighbours into a new node.
func wrapNodes(_ context.Context, e *edit, a struct {
	NodeIDs           []string
	WrapperType       tree.Kind
	WrapperAttributes map[string]json.RawMessage
}) error {
	nodes, parent, at, err := e.findNeighbours(a.NodeIDs)
	if err != nil {
		return err
	}
	inline := nodes[0].IsInline()
	if inline != (a.WrapperType == tree.Link) || nodes[0].Kind == tree.ListItem || nodes[0].Kind == tree.TableRow || nodes[0].Kind == tree.TableCell {
		return &Error{Code: WrongKind, Node: nodes[0].ID, Reason: fmt.Sprintf("a %s does not go around a %s", a.WrapperType, nodes[0].Kind)}
	}
	wrapper := tree.NewBlock(a.WrapperType, nodes...)
	wrapper.ShadowRoot = a.WrapperType == tree.Quote
	if err := setAttributes(wrapper, a.WrapperAttributes); err != nil {
		return err
	}
	if err := checkWhole(wrapper); err != nil {
		return err
	}
	parent.Children = slices.Replace(parent.Children, at, at+len(nodes), wrapper)
	e.touch(wrapper)
	return nil
}

// unwrapNode leaves what stands in a node in its place.
func unwrapNode(_ context.Context, e *edit, a struct{ NodeID string }) error {
	n, parent, err := e.findKind(a.NodeID, tree.Quote, tree.List, tree.Link, tree.AutoLink)
	if err != nil {
		return err
	}
	if n.Kind == tree.List && parent.Kind == tree.ListItem {
		return &Error{Code: WrongKind, Node: a.NodeID, Reason: "it is a nested list: outdent its items"}
	}
	inner := n.Children
	switch {
	case n.Kind == tree.List:
		inner = unwrapItems(n)
	case n.Kind == tree.Quote && !n.ShadowRoot:
		inner = []*tree.Node{tree.NewBlock(tree.Paragraph, n.Children...)}
	}
	at := slices.Index(parent.Children, n)
	parent.Children = slices.Replace(parent.Children, at, at+1, inner...)
	e.touch(inner...)
	return nil
}

// unwrapItems makes paragraphs of the items of a list. Lists in them stay lists.
func unwrapItems(list *tree.Node) []*tree.Node {
	var blocks []*tree.Node
	for _, item := range list.Children {
		var line []*tree.Node
		for _, child := range item.Children {
			if child.IsInline() {
				line = append(line, child)
				continue
			}
			if len(line) > 0 {
				blocks, line = append(blocks, tree.NewBlock(tree.Paragraph, line...)), nil
			}
			blocks = append(blocks, child)
		}
		if len(line) > 0 {
			blocks = append(blocks, tree.NewBlock(tree.Paragraph, line...))
		}
	}
	return blocks
}

// mergeNodes makes one node of neighbours of one kind. The first keeps its id.
func mergeNodes(_ context.Context, e *edit, a struct{ NodeIDs []string }) error {
	nodes, parent, at, err := e.findNeighbours(a.NodeIDs)
	if err != nil {
		return err
	}
	first := nodes[0]
	switch first.Kind {
	case tree.Paragraph, tree.Heading, tree.Quote, tree.ListItem, tree.List, tree.Code, tree.Text, tree.Link, tree.TableRow, tree.Table:
	default:
		return &Error{Code: WrongKind, Node: first.ID, Reason: fmt.Sprintf("nodes of type %s can't be merged", first.Kind)}
	}
	for _, next := range nodes[1:] {
		if next.Kind != first.Kind || next.ShadowRoot != first.ShadowRoot {
			return &Error{Code: WrongKind, Node: next.ID, Reason: fmt.Sprintf("it is of type %s, not %s as the first", next.Kind, first.Kind)}
		}
		switch {
		case first.Kind == tree.Text:
			first.Text += next.Text
		case first.Kind == tree.Code:
			first.Children = append(append(first.Children, &tree.Node{Kind: tree.LineBreak}), next.Children...)
		case len(first.Children) > 0 && len(next.Children) > 0 && first.Children[len(first.Children)-1].IsText() && next.Children[0].IsInline() && first.Kind != tree.Link:
			first.Children = append(append(first.Children, tree.NewText(" ", first.Children[len(first.Children)-1].Format)), next.Children...)
		default:
			first.Children = append(first.Children, next.Children...)
		}
	}
	parent.Children = slices.Replace(parent.Children, at, at+len(nodes), first)
	e.touch(first)
	return nil
}

// splitNode makes two nodes of one. The first keeps the id.
func splitNode(_ context.Context, e *edit, a struct {
	NodeID  string
	SplitAt int
}) error {
	n, parent, err := e.findKind(a.NodeID, tree.Paragraph, tree.Heading, tree.ListItem, tree.Quote, tree.List, tree.Text)
	if err != nil {
		return err
	}
	second := *n
	second.ID, second.Children, second.State = "", nil, nil
	var ok bool
	switch {
	case n.Kind == tree.Text:
		n.Text, second.Text, ok = cutText(n.Text, a.SplitAt)
	case n.Kind == tree.List:
		if ok = a.SplitAt < len(n.Children); ok {
			second.Children, n.Children = slices.Clone(n.Children[a.SplitAt:]), slices.Clone(n.Children[:a.SplitAt])
			second.Start = n.Start + a.SplitAt
		}
	case n.ShadowRoot:
		return &Error{Code: WrongKind, Node: n.ID, Reason: "a quote that holds blocks can't be split: unwrap it"}
	default:
		n.Children, second.Children, ok = cutLine(n.Children, a.SplitAt)
	}
	if !ok {
		return &Error{Code: InvalidContent, Node: a.NodeID, Reason: fmt.Sprintf("splitAt %d leaves nothing behind it", a.SplitAt)}
	}
	made := []*tree.Node{&second}
	if n.Kind == tree.List { // neighbouring lists are one again: a line goes between them
		made = []*tree.Node{tree.NewBlock(tree.Paragraph), &second}
	}
	parent.Children = slices.Insert(parent.Children, slices.Index(parent.Children, n)+1, made...)
	e.touch(append(made, n)...)
	return nil
}

// cutText cuts a text behind so many letters. ok is false where one part were empty.
func cutText(text string, letters int) (head, tail string, ok bool) {
	at := 0
	for range letters {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at], text[at:], at > 0 && at < len(text)
}

// cutLine cuts what stands in a line behind so many letters. What is no text counts as one.
func cutLine(nodes []*tree.Node, letters int) (head, tail []*tree.Node, ok bool) {
	for i, n := range nodes {
		length := 1
		switch {
		case n.IsText():
			length = utf8.RuneCountInString(n.Text)
		case len(n.Children) > 0:
			length = utf8.RuneCountInString(n.PlainText())
		}
		if letters > length {
			letters -= length
			continue
		}
		if letters == length || !n.IsText() {
			return slices.Clone(nodes[:i+1]), slices.Clone(nodes[i+1:]), i+1 < len(nodes)
		}
		second := *n
		second.ID = ""
		n.Text, second.Text, _ = cutText(n.Text, letters)
		second.Text = strings.TrimLeft(second.Text, " ")
		return slices.Clone(nodes[:i+1]), append([]*tree.Node{&second}, nodes[i+1:]...), second.Text != "" || i+1 < len(nodes)
	}
	return nil, nil, false
}
