package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/inspect"
	"cairn/internal/inspect/project"
)

// Control is a control of a page.
type Control struct {
	Role     string // "button"
	Name     string // as people see or hear it
	Disabled bool
	// Components are those of React that it stands in, from the inside. In a minified build their
	// names are short.
	Components []string
	Handlers   []Handler // of the control itself, else of what it stands in, the nearest first
}

// axValue is a value of the accessibility tree.
type axValue struct {
	Value any `json:"value"`
}

func (v axValue) String() string {
	if v.Value == nil {
		return ""
	}
	return fmt.Sprint(v.Value)
}

// axNode is a node of the accessibility tree.
type axNode struct {
	Ignored    bool    `json:"ignored"`
	Role       axValue `json:"role"`
	Name       axValue `json:"name"`
	Backend    int64   `json:"backendDOMNodeId"`
	Properties []struct {
		Name  string  `json:"name"`
		Value axValue `json:"value"`
	} `json:"properties"`
}

// controlRoles are what people use, and call by a name.
var controlRoles = []string{
	"button", "link", "textbox", "searchbox", "checkbox", "radio", "switch", "combobox", "listbox", "option", "menuitem", "menuitemcheckbox",
	"menuitemradio", "tab", "slider", "spinbutton", "treeitem", "image", "img", "DisclosureTriangle", "gridcell", "row", "listitem",
}

// findControl finds the control that is meant. Where none is, or several of different names,
// near are the names that may be meant.
func findControl(ctx context.Context, target Target) (node *axNode, near []string, several bool, err error) {
	if target.At != nil {
		node, err := findAt(ctx, *target.At)
		return node, nil, false, err
	}
	tree, err := execute[struct {
		Nodes []axNode `json:"nodes"`
	}](ctx, "Accessibility.getFullAXTree", map[string]any{})
	if err != nil {
		return nil, nil, false, err
	}
	var controls []axNode
	var names []string
	for _, node := range tree.Nodes {
		if name := inspect.Cut(node.Name.String()); !node.Ignored && node.Backend != 0 && name != "" && slices.Contains(controlRoles, node.Role.String()) {
			controls = append(controls, node)
			names = append(names, name)
		}
	}
	for _, fits := range []func(name string) bool{
		func(name string) bool { return name == target.Name },
		func(name string) bool { return fold(name) == fold(target.Name) },
		func(name string) bool { return strings.HasPrefix(fold(name), fold(target.Name)) },
		func(name string) bool { return project.IsNear(target.Name, name) },
	} {
		var found []int
		for i, name := range names {
			if fits(name) {
				found = append(found, i)
			}
		}
		if len(found) > 0 && !slices.ContainsFunc(found, func(i int) bool { return names[i] != names[found[0]] }) {
			return &controls[found[0]], nil, false, nil
		}
		if len(found) > 0 {
			for _, i := range found[:min(len(found), maxNearNames)] {
				near = append(near, names[i])
			}
			return nil, near, true, nil
		}
	}
	near = project.Nearest(target.Name, names)
	return nil, near[:min(len(near), maxNearNames)], false, nil
}

func fold(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// findAt finds what is at a place of a screenshot: the nearest control that it is a part of.
func findAt(ctx context.Context, at Point) (*axNode, error) {
	there, err := execute[struct {
		Backend int64 `json:"backendNodeId"`
	}](ctx, "DOM.getNodeForLocation", map[string]any{"x": at.X, "y": at.Y, "ignorePointerEventsNone": true})
	if err != nil {
		return nil, err
	}
	above, err := execute[struct {
		Nodes []axNode `json:"nodes"`
	}](ctx, "Accessibility.getPartialAXTree", map[string]any{"backendNodeId": there.Backend, "fetchRelatives": true})
	if err != nil {
		return nil, err
	}
	for _, node := range above.Nodes { // from the inside
		if !node.Ignored && node.Backend != 0 && slices.Contains(controlRoles, node.Role.String()) {
			return &node, nil
		}
	}
	return &axNode{Backend: there.Backend}, nil
}

// describe tells of a control.
func (l *look) describe(ctx context.Context, node axNode) (*Control, error) {
	resolved, err := execute[struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}](ctx, "DOM.resolveNode", map[string]any{"backendNodeId": node.Backend})
	if err != nil {
		return nil, err
	}
	made := &Control{Role: inspect.Cut(node.Role.String()), Name: inspect.Cut(node.Name.String())}
	for _, property := range node.Properties {
		made.Disabled = made.Disabled || property.Name == "disabled" && property.Value.String() == "true"
	}
	made.Handlers, made.Components, err = l.findHandlers(ctx, resolved.Object.ID)
	return made, err
}
