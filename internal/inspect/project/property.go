package project

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

// Property is one property of a widget in the code.
type Property struct {
	Widget string `json:"widget"`
	Name   string `json:"name"`
	Value  string `json:"value"`           // as text; of a computed one its code
	Bound  bool   `json:"bound,omitempty"` // it is computed when the page is shown
	// Set is where code of the page sets it later, false where the widget has it from the start.
	Set  bool   `json:"set,omitempty"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// wiring are attributes that generators add to each widget.
var wiring = map[string]bool{"listener": true, "name": true, "children": true, "styles": true, "style": true, "...": true, "id": true, "key": true}

// Properties maps the properties of the widgets of a name; "" stands for all widgets.
func (s *Sources) Properties(name string) []Property {
	properties := []Property{}
	for _, w := range s.widgets() {
		label := labelOf(w.element)
		if name != "" && label != name {
			continue
		}
		for _, prop := range w.element.Props {
			if wiring[prop.Name] || isEvent(prop.Name) || prop.Value.Kind == jsx.Func {
				continue
			}
			properties = append(properties, Property{
				Widget: label, Name: prop.Name, Value: describeValue(prop.Value), Bound: !prop.Value.IsLiteral(), File: w.file.Path, Line: prop.Line,
			})
		}
	}
	return append(properties, s.laterProperties(name)...)
}

// laterProperties are those that scripts set: Page.Widgets.label3.caption = 'Done'.
func (s *Sources) laterProperties(name string) []Property {
	var properties []Property
	for _, page := range append([]Page{s.Page}, s.Parts...) {
		script := s.Files[page.Script]
		if script == nil {
			continue
		}
		for _, function := range script.Functions {
			for _, assign := range function.Assigns {
				widget, property, ok := widgetMember(assign.Path)
				if !ok || assign.Deferred || name != "" && widget != name {
					continue
				}
				properties = append(properties, Property{
					Widget: widget, Name: property, Value: describeValue(assign.Value), Bound: !assign.Value.IsLiteral(), Set: true, File: script.Path, Line: assign.Line,
				})
			}
		}
	}
	return properties
}

// widgetMember parts "Page.Widgets.label3.caption" into widget and property.
func widgetMember(path string) (widget, property string, ok bool) {
	_, rest, ok := strings.Cut(path, ".Widgets.")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ".")
}

// describeValue writes a value as people read it.
func describeValue(value jsx.Value) string {
	switch value.Kind {
	case jsx.List:
		return "a list"
	case jsx.Object:
		var fields []string
		for _, field := range value.Fields {
			fields = append(fields, field.Name+": "+describeValue(field.Value))
			if len(fields) == maxFields {
				break
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case jsx.Func:
		return "a function"
	case jsx.Rendered:
		return "<" + value.Element.Tag + ">"
	case jsx.Called:
		if len(value.Items) == 1 && value.Items[0].Function != nil && len(value.Items[0].Function.Returns) == 1 {
			return value.Text + "(" + describeValue(value.Items[0].Function.Returns[0]) + ")"
		}
		return value.Text + "(…)"
	case jsx.Made:
		return "new " + value.Text
	}
	return value.Text
}

// maxFields is how many fields of an object are written.
const maxFields = 6
