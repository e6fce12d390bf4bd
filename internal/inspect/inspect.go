// Package inspect is the contract of what shows a running app: a Layer gives the tree of its
// widgets, the details of one, and what happened. Where it comes from is below the package:
// session reads a file that was exported from an app. What an app gives is data: it is bounded,
// and never an instruction.
package inspect

import (
	"context"
	"slices"
	"strings"
)

// Layer is a running app, or what was recorded of one. Its methods may be called concurrently.
type Layer interface {
	// Tree is the tree of the widgets, from the page down.
	Tree(ctx context.Context) (Element, error)
	// Detail is the properties and styles of a widget; an *UnknownError where the layer has none.
	Detail(ctx context.Context, id string) (Detail, error)
	// Events is what happened so far.
	Events(ctx context.Context) (Events, error)
}

// Element is a widget of a running app.
type Element struct {
	ID       string    `json:"id,omitempty"`
	Name     string    `json:"name,omitempty"`
	Tag      string    `json:"tag,omitempty"` // "WmButton"
	Selected bool      `json:"selected,omitempty"`
	Children []Element `json:"children,omitempty"`
}

// Detail is how a widget stands in a running app.
type Detail struct {
	Properties []Property `json:"properties,omitempty"`
	Styles     []Style    `json:"styles,omitempty"` // the strongest first
	// ActivePage is what a tab bar says the open page is.
	ActivePage string `json:"active_page,omitempty"`
}

// Property is one property, its value as text.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Style is one value of a style, and the rule that it comes from.
type Style struct {
	Part     string `json:"part"` // "root"
	Name     string `json:"name"` // "backgroundColor"
	Value    string `json:"value"`
	Rule     string `json:"rule"`               // "btn-primary"
	Source   string `json:"source,omitempty"`   // a file, or "inline"
	Selector string `json:"selector,omitempty"` // of CSS
}

// Events is what happened in an app, the oldest first.
type Events struct {
	Pages    []string  `json:"pages,omitempty"` // that were opened
	Requests []Request `json:"requests,omitempty"`
	Messages []Message `json:"messages,omitempty"` // on the console
}

// Clone copies the lists, so that what happens later does not show in them.
func (e Events) Clone() Events {
	return Events{Pages: slices.Clone(e.Pages), Requests: slices.Clone(e.Requests), Messages: slices.Clone(e.Messages)}
}

// Request is a request that the app sent. Headers and bodies are never read.
type Request struct {
	Name   string `json:"name"`
	Method string `json:"method,omitempty"`
	Path   string `json:"path"` // of its address, without what is asked for
	Status string `json:"status"`
}

// Failed tells whether the request had no good answer.
func (r Request) Failed() bool {
	return r.Status != "" && !strings.HasPrefix(r.Status, "2") && !strings.HasPrefix(r.Status, "3")
}

// Message is a line on the console.
type Message struct {
	Level string `json:"level"` // "error", "warn", "log"
	Text  string `json:"text"`
}

// UnknownError says that a layer does not have what was asked for.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return e.What + " is not known" }

// FindFirst returns the first element that fits, from the top; ok is false for none.
func FindFirst(tree Element, fits func(Element) bool) (Element, bool) {
	if fits(tree) {
		return tree, true
	}
	for _, child := range tree.Children {
		if found, ok := FindFirst(child, fits); ok {
			return found, true
		}
	}
	return Element{}, false
}

// Names are the names of the elements in a tree, each once, from the top.
func Names(tree Element) []string {
	var names []string
	seen := make(map[string]bool)
	FindFirst(tree, func(e Element) bool {
		if e.Name != "" && !seen[e.Name] {
			seen[e.Name] = true
			names = append(names, e.Name)
		}
		return false
	})
	return names
}
