package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// position is where a node is put, seen from another.
type position string

const (
	before     position = "before"
	after      position = "after"
	prepend    position = "prepend"
	appended   position = "append"
	firstChild position = "firstChild" // as prepend
	lastChild  position = "lastChild"  // as append
)

// find gives the node of an id and its parent. The root is no node that can be changed.
func (e *edit) find(id string) (n, parent *tree.Node, err error) {
	if n, parent = e.root.Find(id); n == nil {
		return nil, nil, &Error{Code: NoSuchNode, Node: id, Reason: "it is not on the page: readPage shows what is"}
	}
	return n, parent, nil
}

// findKind gives the node of an id, which is of one of some kinds.
func (e *edit) findKind(id string, kinds ...tree.Kind) (n, parent *tree.Node, err error) {
	if n, parent, err = e.find(id); err == nil && !slices.Contains(kinds, n.Kind) {
		err = &Error{Code: WrongKind, Node: id, Reason: fmt.Sprintf("it is of type %s, not %s", n.Kind, kinds[0])}
	}
	return n, parent, err
}

// findNeighbours gives the nodes of ids, which stand one behind the other below one parent, in
// the order of the page, and the place of the first.
func (e *edit) findNeighbours(ids []string) (nodes []*tree.Node, parent *tree.Node, at int, err error) {
	for _, id := range ids {
		n, above, err := e.find(id)
		if err != nil {
			return nil, nil, 0, err
		}
		if parent != nil && above != parent || slices.Contains(nodes, n) {
			return nil, nil, 0, notNeighbours(id)
		}
		nodes, parent = append(nodes, n), above
	}
	at = slices.IndexFunc(parent.Children, func(n *tree.Node) bool { return slices.Contains(nodes, n) })
	if at+len(nodes) > len(parent.Children) {
		return nil, nil, 0, notNeighbours(ids[0])
	}
	inOrder := parent.Children[at : at+len(nodes)]
	for _, n := range inOrder {
		if !slices.Contains(nodes, n) {
			return nil, nil, 0, notNeighbours(n.ID)
		}
	}
	return slices.Clone(inOrder), parent, at, nil
}

func notNeighbours(id string) error {
	return &Error{Code: InvalidPlace, Node: id, Reason: "the nodes have to stand one behind the other below the same node"}
}

// place puts nodes beside or into another; "" stands for the page.
func (e *edit) place(nodes []*tree.Node, reference string, where position) error {
	if reference == "" || reference == tree.RootID {
		switch where {
		case prepend, firstChild:
			e.root.Children = slices.Insert(e.root.Children, 0, nodes...)
		case before, after:
			return &Error{Code: InvalidPlace, Reason: "before and after need the id of a node as reference"}
		default:
			e.dropEmptyStart()
			e.root.Children = append(e.root.Children, nodes...)
		}
		return nil
	}
	n, parent, err := e.find(reference)
	if err != nil {
		return err
	}
	at := slices.Index(parent.Children, n)
	switch where {
	case before:
		parent.Children = slices.Insert(parent.Children, at, nodes...)
		return nil
	case after, "":
		parent.Children = slices.Insert(parent.Children, at+1, nodes...)
		return nil
	}
	if !n.HasChildren() {
		return &Error{Code: InvalidPlace, Node: reference, Reason: fmt.Sprintf("a %s holds no other nodes: use before or after", n.Kind)}
	}
	if where == prepend || where == firstChild {
		n.Children = slices.Insert(n.Children, 0, nodes...)
		return nil
	}
	n.Children = append(n.Children, nodes...)
	return nil
}

// isEmpty tells a page with nothing but an empty paragraph.
func (e *edit) isEmpty() bool {
	return len(e.root.Children) == 1 && e.root.Children[0].Kind == tree.Paragraph && len(e.root.Children[0].Children) == 0
}

// dropEmptyStart removes the empty paragraph that an empty page begins with.
func (e *edit) dropEmptyStart() {
	if e.isEmpty() {
		e.root.Children = nil
	}
}

// remove takes a node off the page.
func (e *edit) remove(n, parent *tree.Node) {
	at := slices.Index(parent.Children, n)
	parent.Children = slices.Delete(parent.Children, at, at+1)
}

// initPage writes an empty page.
func initPage(_ context.Context, e *edit, a struct{ Markdown string }) error {
	if !e.isEmpty() {
		return &Error{Code: NotEmpty, Reason: "the page has text already: change that, or add to it by createNode"}
	}
	nodes, err := spec{Type: markdownType, Content: &a.Markdown}.build()
	if err != nil {
		return err
	}
	e.root.Children = nodes
	e.touch(nodes...)
	return nil
}

func editTitle(_ context.Context, e *edit, a struct{ Title string }) error {
	title, err := pages.CleanTitle(a.Title)
	if err != nil {
		return &Error{Code: InvalidContent, Reason: err.Error()}
	}
	e.title, e.text = title, "the title is "+title
	return nil
}

// readPage gives the page, what follows a block of it, or nodes of it, as XML.
func readPage(_ context.Context, e *edit, a struct {
	NodeIDs     []string
	AfterNodeID string
}) error {
	shown := &tree.Node{Kind: tree.Root, Children: e.root.Children}
	if a.AfterNodeID != "" {
		n, parent, err := e.find(a.AfterNodeID)
		if err != nil {
			return err
		}
		if parent != e.root {
			return &Error{Code: InvalidPlace, Node: a.AfterNodeID, Reason: "it is no block right below the root"}
		}
		shown.Children = e.root.Children[slices.Index(e.root.Children, n)+1:]
	}
	if len(a.NodeIDs) > 0 {
		shown.Children = nil
		for _, id := range a.NodeIDs {
			n, _, err := e.find(id)
			if err != nil {
				return err
			}
			shown.Children = append(shown.Children, n)
		}
	}
	e.text, _ = tree.CutXML(shown, MaxResult)
	return nil
}

// writePage replaces the page by XML.
func writePage(_ context.Context, e *edit, a struct{ XML string }) error {
	root, err := tree.ParseXML(a.XML, e.root)
	if err != nil {
		return &Error{Code: InvalidContent, Reason: err.Error()}
	}
	e.root = root
	return nil
}

func createNode(_ context.Context, e *edit, a struct {
	spec
	Position        position
	ReferenceNodeID string
}) error {
	nodes, err := a.build()
	if err != nil {
		return err
	}
	e.touch(nodes...)
	return e.place(nodes, a.ReferenceNodeID, a.Position)
}

func updateNode(_ context.Context, e *edit, a struct {
	NodeID     string
	Content    *string
	Children   []spec
	Attributes map[string]json.RawMessage
}) error {
	if a.Content == nil && a.Children == nil && len(a.Attributes) == 0 {
		return &Error{Code: InvalidArguments, Node: a.NodeID, Reason: "content, children or attributes say what is to change"}
	}
	return e.update(a.NodeID, a.Content, a.Children, a.Attributes)
}

// update changes a node; what is nil stays.
func (e *edit) update(id string, content *string, children []spec, values map[string]json.RawMessage) error {
	n, _, err := e.find(id)
	if err != nil {
		return err
	}
	if content != nil && children != nil {
		return &Error{Code: InvalidContent, Node: id, Reason: "a node has content or children, not both"}
	}
	if content != nil {
		if err := setContent(n, *content); err != nil {
			return err
		}
	}
	if children != nil {
		if err := setChildren(n, children); err != nil {
			return err
		}
	}
	e.touch(n)
	return setAttributes(n, values)
}

func deleteNode(_ context.Context, e *edit, a struct{ NodeID string }) error {
	n, parent, err := e.find(a.NodeID)
	if err != nil {
		return err
	}
	e.remove(n, parent)
	e.text = a.NodeID + " is gone"
	return dropEmptied(e, parent)
}

// dropEmptied removes a list or table whose last part is gone.
func dropEmptied(e *edit, parent *tree.Node) error {
	for len(parent.Children) == 0 {
		switch parent.Kind {
		case tree.List, tree.Table, tree.TableRow, tree.Link, tree.AutoLink:
		default:
			return nil
		}
		above, err := e.findParent(parent)
		if err != nil {
			return err
		}
		e.remove(parent, above)
		parent = above
	}
	return nil
}

// findParent gives the parent of a node that may have no id.
func (e *edit) findParent(n *tree.Node) (parent *tree.Node, err error) {
	e.root.Walk(func(at, above *tree.Node) bool {
		if at == n {
			parent = above
		}
		return parent == nil
	})
	if parent == nil {
		return nil, &Error{Code: NoSuchNode, Node: n.ID, Reason: "it is not on the page"}
	}
	return parent, nil
}

func moveNode(_ context.Context, e *edit, a struct {
	NodeID, TargetNodeID string
	Position             position
}) error {
	n, parent, err := e.find(a.NodeID)
	if err != nil {
		return err
	}
	if within, _ := n.Find(a.TargetNodeID); within != nil {
		return &Error{Code: InvalidPlace, Node: a.NodeID, Reason: "it can't be moved into itself"}
	}
	e.remove(n, parent)
	e.touch(n)
	if err := e.place([]*tree.Node{n}, a.TargetNodeID, a.Position); err != nil {
		return err
	}
	return dropEmptied(e, parent)
}

// modifyNodes does several operations on one copy of the page: all of them, or none.
func modifyNodes(_ context.Context, e *edit, a struct{ Operations []operation }) error {
	last := make(map[string]*tree.Node) // that was put behind a node
	for i, o := range a.Operations {
		if err := e.operate(o, last); err != nil {
			if refused, ok := err.(*Error); ok { //nolint:errorlint // nothing wraps it here
				refused.Reason = fmt.Sprintf("operation %d: %s; none was done", i+1, refused.Reason)
			}
			return err
		}
	}
	return nil
}

// operation is one of modifyNodes.
type operation struct {
	spec
	Action          string
	Position        position
	ReferenceNodeID string
	NodeIDs         []string
}

func (e *edit) operate(o operation, last map[string]*tree.Node) error {
	switch o.Action {
	case "insert":
		nodes, err := o.build()
		if err != nil || len(nodes) == 0 {
			return err
		}
		e.touch(nodes...)
		if behind := last[o.ReferenceNodeID]; behind != nil && o.Position == after {
			parent, err := e.findParent(behind)
			if err != nil {
				return err
			}
			parent.Children = slices.Insert(parent.Children, slices.Index(parent.Children, behind)+1, nodes...)
		} else if err := e.place(nodes, o.ReferenceNodeID, o.Position); err != nil {
			return err
		}
		if o.Position == after {
			last[o.ReferenceNodeID] = nodes[len(nodes)-1]
		}
		return nil
	case "modify":
		for _, id := range o.NodeIDs {
			if err := e.update(id, o.Content, o.Children, o.Attributes); err != nil {
				return err
			}
		}
		return nil
	}
	for _, id := range o.NodeIDs {
		n, parent, err := e.find(id)
		if err != nil {
			return err
		}
		e.remove(n, parent)
		if err := dropEmptied(e, parent); err != nil {
			return err
		}
	}
	return nil
}
