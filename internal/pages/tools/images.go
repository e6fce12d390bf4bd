package tools

import (
	"context"
	"encoding/json"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

func insertImage(_ context.Context, e *edit, a struct {
	Src, Alt        string
	Position        position
	ReferenceNodeID string
}) error {
	image := &tree.Node{Kind: tree.Image, Alt: a.Alt}
	if err := e.setSource(image, a.Src); err != nil {
		return err
	}
	nodes := []*tree.Node{image}
	if n, _ := e.root.Find(a.ReferenceNodeID); n == nil || !n.IsInline() && (a.Position == before || a.Position == after || a.Position == "") {
		nodes = []*tree.Node{tree.NewBlock(tree.Paragraph, image)} // beside blocks it stands in one of its own
	}
	e.touch(nodes...)
	return e.place(nodes, a.ReferenceNodeID, a.Position)
}

// setSource has an image show what is at an address.
func (e *edit) setSource(image *tree.Node, src string) error {
	if _, ok := tree.SafeURL(src); !ok {
		return &Error{Code: InvalidContent, Node: image.ID, Reason: "src is no address that a page may show"}
	}
	image.URL = src
	return nil
}

func updateImage(_ context.Context, e *edit, a struct{ NodeID, Src string }) error {
	image, _, err := e.findKind(a.NodeID, tree.Image)
	if err != nil {
		return err
	}
	e.touch(image)
	return e.setSource(image, a.Src)
}

func setImageAlt(_ context.Context, e *edit, a struct{ NodeID, Alt string }) error {
	image, _, err := e.findKind(a.NodeID, tree.Image)
	if err != nil {
		return err
	}
	image.Alt = a.Alt
	e.touch(image)
	return nil
}

func resizeImage(_ context.Context, e *edit, a struct {
	NodeID        string
	Width, Height json.RawMessage
}) error {
	image, _, err := e.findKind(a.NodeID, tree.Image)
	if err != nil {
		return err
	}
	e.touch(image)
	return setAttributes(image, map[string]json.RawMessage{"width": a.Width, "height": a.Height})
}
