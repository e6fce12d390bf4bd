package browser

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/project"
)

// Control is a control of a page.
type Control struct {
	ID       string `json:"id"`   // in the tree of the same view
	Role     string `json:"role"` // "button"
	Name     string `json:"name"` // as people see or hear it
	Disabled bool   `json:"disabled,omitempty"`
	Alike    int    `json:"alike,omitempty"` // further controls of that name; this is the first
	// Components are those of React that it stands in, from the inside. In a minified build their
	// names are short.
	Components []string  `json:"components,omitempty"`
	Handlers   []Handler `json:"handlers,omitempty"` // of the control itself, else of what it stands in, the nearest first
	// Properties are what the page and the browser say of it; a field's value is not among them.
	Properties []inspect.Property `json:"properties,omitempty"`
	Styles     []Style            `json:"styles,omitempty"`
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

// foundControl is the control that is meant. Where none is, or several of different names, near
// are the names that may be meant.
type foundControl struct {
	node     *axNode
	near     []string
	several  bool
	alike    int
	controls []axNode        // that have a name
	tree     inspect.Element // the page with its controls
}

// maxTree is how many controls of a page are listed.
const maxTree = 500

// findControl finds the control that is meant.
func (l *look) findControl(ctx context.Context, target Target) (foundControl, error) {
	tree, err := execute[struct {
		Nodes []axNode `json:"nodes"`
	}](ctx, "Accessibility.getFullAXTree", map[string]any{})
	if err != nil {
		return foundControl{}, err
	}
	found := foundControl{tree: inspect.Element{Tag: "page"}}
	var controls []axNode
	var names []string
	for _, node := range tree.Nodes {
		name := l.cut(node.Name.String())
		if node.Ignored || node.Backend == 0 || name == "" || !slices.Contains(controlRoles, node.Role.String()) {
			continue
		}
		controls, names = append(controls, node), append(names, name)
		if len(found.tree.Children) < maxTree {
			found.tree.Children = append(found.tree.Children, inspect.Element{ID: node.id(), Name: name, Tag: l.cut(node.Role.String())})
		}
	}
	found.controls = controls
	switch {
	case target.At != nil:
		found.node, err = findAt(ctx, *target.At)
		return found, err
	case target.isZero():
		return found, nil
	}
	fitting := matchControls(target, controls, names)
	differ := slices.ContainsFunc(fitting, func(i int) bool { return names[i] != names[fitting[0]] })
	switch {
	case len(fitting) > 0 && !differ:
		found.node, found.alike = &controls[fitting[0]], len(fitting)-1
	case len(fitting) > 0:
		found.several = true
		for _, i := range fitting[:min(len(fitting), maxNearNames)] {
			found.near = append(found.near, names[i])
		}
	default:
		found.near = project.Nearest(target.Name, names)
		found.near = found.near[:min(len(found.near), maxNearNames)]
	}
	return found, nil
}

// matchControls are the controls that may be meant: those that fit best, and of them those of the
// role that is meant, where there are any.
func matchControls(target Target, controls []axNode, names []string) []int {
	hasRole := func(i int) bool { return target.Role != "" && controls[i].Role.String() == target.Role }
	var fitting []int
	for _, fits := range matchers(target) {
		for i, name := range names {
			if (target.Except == "" || fold(name) != fold(target.Except)) && fits(i, name) {
				fitting = append(fitting, i)
			}
		}
		if len(fitting) > 0 {
			break
		}
	}
	if target.Exact || slices.ContainsFunc(fitting, hasRole) {
		fitting = slices.DeleteFunc(fitting, func(i int) bool { return !hasRole(i) })
	}
	return longestNames(target, fitting, names)
}

// matchers tell which controls may be meant, those that say so more plainly first.
func matchers(target Target) []func(i int, name string) bool {
	if target.Name == "" { // the other one
		return []func(int, string) bool{func(int, string) bool { return true }}
	}
	isNamed := func(_ int, name string) bool { return name == target.Name }
	if target.Exact {
		return []func(int, string) bool{isNamed}
	}
	return []func(int, string) bool{
		isNamed,
		func(_ int, name string) bool { return fold(name) == fold(target.Name) },
		func(_ int, name string) bool { return isIn(name, target.Text) },
		func(_ int, name string) bool { return strings.HasPrefix(fold(name), fold(target.Name)) },
		func(_ int, name string) bool { return project.IsNear(target.Name, name) },
	}
}

// longestNames leaves out controls whose name is only a part of another one's, where both stand in
// the question: "Save order" is meant, not "Save".
func longestNames(target Target, fitting []int, names []string) []int {
	return slices.DeleteFunc(slices.Clone(fitting), func(i int) bool {
		return slices.ContainsFunc(fitting, func(other int) bool {
			return len(names[other]) > len(names[i]) && isIn(names[i], names[other]) && isIn(names[other], target.Text)
		})
	})
}

// isIn tells whether a name stands in a text, as whole words.
func isIn(name, text string) bool {
	words := func(text string) string {
		return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
	}
	within := words(name)
	return len(within) > len("  x") && strings.Contains(words(text), within)
}

// id is how the node is called in the tree of a view.
func (n axNode) id() string { return strconv.FormatInt(n.Backend, 10) }

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
	object, err := resolveNode(ctx, node.Backend)
	if err != nil {
		return nil, err
	}
	made := &Control{ID: node.id(), Role: l.cut(node.Role.String()), Name: l.cut(node.Name.String())}
	for _, property := range node.Properties {
		made.Disabled = made.Disabled || property.Name == "disabled" && property.Value.String() == "true"
	}
	if made.Handlers, made.Components, err = l.findHandlers(ctx, object); err != nil {
		return nil, err
	}
	if made.Properties, err = l.readProperties(ctx, node); err != nil {
		return nil, err
	}
	made.Styles, err = l.readStyles(ctx, node.Backend)
	return made, err
}

// maxProperties is how many properties of a control are told.
const maxProperties = 30

// readProperties are what the accessibility tree and the element's attributes say of a control.
func (l *look) readProperties(ctx context.Context, node axNode) ([]inspect.Property, error) {
	described, err := execute[struct {
		Node struct {
			Name       string   `json:"localName"`
			Attributes []string `json:"attributes"` // name, value, name, …
		} `json:"node"`
	}](ctx, "DOM.describeNode", map[string]any{"backendNodeId": node.Backend})
	if err != nil {
		return nil, err
	}
	properties := []inspect.Property{{Name: "element", Value: l.cut(described.Node.Name)}}
	for i := 0; i+1 < len(described.Node.Attributes) && len(properties) < maxProperties; i += 2 {
		if name := described.Node.Attributes[i]; name != "value" && name != "style" && !strings.HasPrefix(name, "on") {
			properties = append(properties, inspect.Property{Name: l.cut(name), Value: l.cut(described.Node.Attributes[i+1])})
		}
	}
	for _, property := range node.Properties {
		if value := property.Value.String(); value != "" && value != "false" && len(properties) < maxProperties {
			properties = append(properties, inspect.Property{Name: l.cut(property.Name), Value: l.cut(value)})
		}
	}
	return properties, nil
}

// objectGroup is the group of what is looked at in a page: of objects in none, Chromium does not
// tell the functions that listen.
const objectGroup = "look"

// resolveNode gives the object of an element in the page.
func resolveNode(ctx context.Context, backend int64) (object string, err error) {
	resolved, err := execute[struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}](ctx, "DOM.resolveNode", map[string]any{"backendNodeId": backend, "objectGroup": objectGroup})
	return resolved.Object.ID, err
}

// AllHandlers are the handlers of the control, or where there is none those of the page's first
// controls.
func (v View) AllHandlers() []Handler {
	if v.Control != nil {
		return v.Control.Handlers
	}
	return v.Behind
}
