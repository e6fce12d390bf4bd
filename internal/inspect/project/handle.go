package project

import (
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

// Handler is what a widget does on an event.
type Handler struct {
	Widget string `json:"widget"`
	Event  string `json:"event"` // "onTap"
	// Handler is what is called first: "fragment.button2Tap"; "" where the handler calls nothing.
	Handler string `json:"handler,omitempty"`
	Source  string `json:"source"` // the function's code, its first lines
	File    string `json:"file"`   // that the function stands in
	Line    int    `json:"line"`
	// Bound is where the widget names the handler.
	BoundFile string `json:"bound_file"`
	BoundLine int    `json:"bound_line"`
	Steps     []Step `json:"steps"` // that the event leads to, in the order of the code
}

// isEvent tells whether an attribute is one of an event: "onTap".
func isEvent(name string) bool {
	rest, ok := strings.CutPrefix(name, "on")
	return ok && rest != "" && unicode.IsUpper(rune(rest[0]))
}

// maxSource is how many lines of a function are kept.
const maxSource = 40

// Handlers maps the events of the widgets of a name; "" stands for all widgets.
func (s *Sources) Handlers(name string) []Handler {
	handlers := []Handler{}
	for _, w := range s.widgets() {
		label := labelOf(w.element)
		if name != "" && label != name {
			continue
		}
		for _, prop := range w.element.Props {
			if isEvent(prop.Name) {
				handlers = append(handlers, s.mapHandler(w, label, prop))
			}
		}
	}
	return handlers
}

func (s *Sources) mapHandler(w widget, label string, prop jsx.Field) Handler {
	handler := Handler{
		Widget: label, Event: prop.Name, File: w.file.Path, Line: prop.Line, BoundFile: w.file.Path, BoundLine: prop.Line, Steps: []Step{},
	}
	f := &follower{sources: s, seen: map[string]bool{}}
	var function *jsx.Function
	switch prop.Value.Kind {
	case jsx.Func:
		function = prop.Value.Function
		if len(function.Calls) > 0 {
			handler.Handler = function.Calls[0].Path
		}
		f.followFunction(w.file, function, 0)
	case jsx.Reference:
		handler.Handler = prop.Value.Text
		f.followCall(w.file, jsx.Call{Path: prop.Value.Text, Line: prop.Line}, 0)
	case jsx.Called:
		handler.Handler = prop.Value.Text
		f.followCall(w.file, jsx.Call{Path: prop.Value.Text, Line: prop.Line, Arguments: prop.Value.Items}, 0)
	}
	handler.Steps = append(handler.Steps, f.steps...)
	file := w.file
	if named, in := s.definitionOf(w.file, handler.Handler); named != nil {
		function, file = named, in
	}
	if function != nil {
		handler.File, handler.Line = file.Path, function.Line
		handler.Source = file.Source(function.Line, function.End, maxSource)
	}
	return handler
}

// definitionOf finds the function that a call names: in the script of the page where it is a
// member of the page, else in the same file.
func (s *Sources) definitionOf(from *jsx.File, path string) (*jsx.Function, *jsx.File) {
	target := parseTarget(path)
	if target.of == ofPage || target.of == ofApp {
		script := s.Files[s.pageOf(from.Path).Script]
		if script == nil {
			return nil, nil
		}
		for _, function := range script.Functions {
			if dot := strings.IndexByte(function.Name, '.'); dot > 0 && function.Name[dot+1:] == target.name {
				return function, script
			}
		}
		return nil, nil
	}
	if target.of == ofFile {
		if function := from.FunctionNamed(target.name); function != nil {
			return function, from
		}
	}
	return nil, nil
}
