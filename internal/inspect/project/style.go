package project

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

// Style is one value that a widget's look has from one place.
type Style struct {
	Widget string `json:"widget"`
	Class  string `json:"class"` // "btn-primary", "app-button"; Inline where the widget has it itself
	Part   string `json:"part"`  // of the widget: "root", "text"
	Name   string `json:"name"`  // "backgroundColor"
	Value  string `json:"value"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Wins   bool   `json:"wins,omitempty"` // no stronger place sets it
}

// Inline is the class of styles that stand at the widget itself.
const Inline = "inline"

// Styles maps the styles of the widgets of a name, the strongest first: those at the widget,
// then the page's, the app's and the theme's, and in one file the widget's classes before what
// holds for all widgets of its kind. "" stands for all widgets, with their own styles alone.
func (s *Sources) Styles(name string) []Style {
	styles := []Style{}
	for _, w := range s.widgets() {
		label := labelOf(w.element)
		if name != "" && label != name {
			continue
		}
		var own []Style
		if inline, ok := w.element.Prop("styles"); ok {
			own = flatten(own, Style{Widget: label, Class: Inline, File: w.file.Path}, inline)
		}
		if inline, ok := w.element.Prop("style"); ok {
			own = flatten(own, Style{Widget: label, Class: Inline, File: w.file.Path, Part: "root"}, inline)
		}
		if name != "" {
			own = s.addClasses(own, w, label)
		}
		styles = append(styles, markWinners(own)...)
	}
	return styles
}

func (s *Sources) addClasses(styles []Style, w widget, label string) []Style {
	classes := append(slices.Collect(strings.FieldsSeq(w.element.Text("classname")+" "+w.element.Text("className"))), defaultClasses(w.element.Tag)...)
	for _, name := range append(slices.Clone(s.pageOf(w.file.Path).Styles), s.Shared.Styles...) {
		file := s.Files[name]
		if file == nil {
			continue
		}
		for _, class := range classes {
			if value, ok := file.Default.Get(class); ok {
				styles = flatten(styles, Style{Widget: label, Class: class, File: name}, value)
			}
		}
	}
	return styles
}

// defaultClasses are the classes of all widgets of a kind: "app-button" of WmButton.
func defaultClasses(tag string) []string {
	kind, ok := strings.CutPrefix(tag, "Wm")
	if !ok || kind == "" {
		return nil
	}
	var dashed strings.Builder
	for i, r := range kind {
		if unicode.IsUpper(r) && i > 0 {
			dashed.WriteByte('-')
		}
		dashed.WriteRune(unicode.ToLower(r))
	}
	joined, apart := "app-"+strings.ToLower(kind), "app-"+dashed.String()
	if joined == apart {
		return []string{joined}
	}
	return []string{joined, apart}
}

// maxStyles is how many values of one widget are kept.
const maxStyles = 200

// flatten lists the values of an object of styles; a value in an object belongs to that part.
func flatten(styles []Style, from Style, value jsx.Value) []Style {
	for _, field := range value.Fields {
		if len(styles) == maxStyles {
			return styles
		}
		if field.Value.Kind == jsx.Object {
			inner := from
			inner.Part = strings.TrimPrefix(from.Part+"."+field.Name, ".")
			styles = flatten(styles, inner, field.Value)
			continue
		}
		style := from
		style.Name, style.Value, style.Line = field.Name, field.Value.Text, field.Line
		styles = append(styles, style)
	}
	return styles
}

// markWinners marks the first value of each part and name: the strongest come first.
func markWinners(styles []Style) []Style {
	set := make(map[string]bool)
	for i, style := range styles {
		key := style.Part + "\x00" + style.Name
		styles[i].Wins = !set[key]
		set[key] = true
	}
	return styles
}

// ThemeStyles lists the styles that all widgets of a kind have, by the app's files and its
// theme: Class and Widget are the class.
func (s *Sources) ThemeStyles() []Style {
	var styles []Style
	for _, name := range s.Shared.Styles {
		file := s.Files[name]
		if file == nil {
			continue
		}
		for _, field := range file.Default.Fields {
			styles = flattenAll(styles, Style{Widget: field.Name, Class: field.Name, Part: field.Name, File: name}, field.Value)
		}
	}
	return markWinners(styles)
}

// flattenAll is flatten without its bound on one widget.
func flattenAll(styles []Style, from Style, value jsx.Value) []Style {
	return append(styles, flatten(nil, from, value)...)
}
