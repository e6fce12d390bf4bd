package project

import (
	"path"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

func joinPaths(from, written string) string { return path.Join(path.Dir(from), written) }

// Place is where an element stands.
type Place struct {
	Tag  string `json:"tag"`
	Name string `json:"name,omitempty"`
	Line int    `json:"line"`
}

// Location is where a widget stands in the code.
type Location struct {
	Widget  string `json:"widget"` // its name, or its caption where it has none
	Tag     string `json:"tag"`    // "WmButton"
	Caption string `json:"caption,omitempty"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	// Hierarchy is what the widget stands in, from the page down; it goes on across components.
	Hierarchy []Place `json:"hierarchy"`
	Repeated  bool    `json:"repeated,omitempty"` // it is in a template, shown once for each item
}

// names are the attributes that name an element, and captions those that people read.
var (
	nameProps    = []string{"name", "id", "testID", "data-testid"}
	captionProps = []string{"caption", "title", "label", "placeholder", "aria-label", "accessibilityLabel"}
)

// widgetName is what an element is called, "" for one without a name.
func widgetName(element *jsx.Element) string {
	for _, prop := range nameProps {
		if name := element.Text(prop); name != "" {
			return name
		}
	}
	return ""
}

func captionOf(element *jsx.Element) string {
	for _, prop := range captionProps {
		if caption := element.Text(prop); caption != "" {
			return caption
		}
	}
	if children, ok := element.Prop("children"); ok && children.Kind == jsx.String {
		return strings.TrimSpace(children.Text)
	}
	return ""
}

// widget is an element that has a name or a caption.
type widget struct {
	element *jsx.Element
	file    *jsx.File
}

// widgets are the elements of the page that have a name, those without one that have a caption
// and a handler.
func (s *Sources) widgets() []widget {
	var all []widget
	for _, file := range s.components() {
		for _, element := range file.Elements {
			if labelOf(element) != "" {
				all = append(all, widget{element, file})
			}
		}
	}
	return all
}

func labelOf(element *jsx.Element) string {
	if name := widgetName(element); name != "" {
		return name
	}
	if slices.ContainsFunc(element.Props, func(p jsx.Field) bool { return isEvent(p.Name) }) {
		return captionOf(element)
	}
	return ""
}

// Widgets locates the widgets of the page, in the order of the code.
func (s *Sources) Widgets() []Location {
	locations := []Location{}
	for _, w := range s.widgets() {
		location := Location{
			Widget: labelOf(w.element), Tag: w.element.Tag, Caption: captionOf(w.element), File: w.file.Path, Line: w.element.Line,
		}
		location.Hierarchy, location.Repeated = w.hierarchy()
		locations = append(locations, location)
	}
	return locations
}

// maxHierarchy is how many elements a hierarchy has: components may show themselves.
const maxHierarchy = 60

// hierarchy climbs from an element to the page: out of a component to where that is shown.
func (w widget) hierarchy() (places []Place, repeated bool) {
	passed := map[*jsx.Function]bool{}
	for element := w.element; element != nil && len(places) < maxHierarchy; {
		next := element.Parent
		if next == nil && element.Function != nil && !passed[element.Function] {
			passed[element.Function] = true
			repeated = repeated || slices.Contains(element.Function.Params, "$item")
			next = shownIn(w.file, element.Function.Name)
		}
		if next != nil && next.Tag != jsx.Fragment {
			places = append(places, Place{Tag: next.Tag, Name: widgetName(next), Line: next.Line})
		}
		element = next
	}
	slices.Reverse(places)
	return places, repeated
}

// shownIn is the first element that shows a component.
func shownIn(file *jsx.File, component string) *jsx.Element {
	for _, element := range file.Elements {
		if element.Tag == component {
			return element
		}
	}
	return nil
}

// Find finds the widgets that a person may mean by a name or a caption: those of that name, else
// of that caption, else of that kind, else with that as a part of the caption. None is found for "".
func Find(locations []Location, meant string) []Location {
	meant = foldName(meant)
	if meant == "" {
		return nil
	}
	for _, fits := range []func(Location) bool{
		func(l Location) bool { return foldName(l.Widget) == meant },
		func(l Location) bool { return foldName(l.Caption) == meant },
		func(l Location) bool {
			return withoutKind(foldName(l.Widget)) == meant || foldName(l.Caption) == withoutKind(meant)
		},
		func(l Location) bool { return strings.ToLower(strings.TrimPrefix(l.Tag, "Wm")) == meant },
		func(l Location) bool {
			return len(meant) > 2 && !slices.Contains(kinds, meant) && strings.Contains(foldName(l.Caption), meant)
		},
	} {
		var found []Location
		for _, location := range locations {
			if fits(location) {
				found = append(found, location)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// foldName writes a name as it is compared: "Button 2" and "button_2" are "button2".
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '\u00A0' {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
}

// kinds are what people call widgets behind their captions: "the Submit button".
var kinds = []string{"button", "btn", "label", "link", "field", "input", "widget", "icon", "tab", "list", "image", "checkbox", "toggle", "form", "card", "carousel", "search", "table", "chart", "tabbar", "panel"}

func withoutKind(name string) string {
	for _, kind := range kinds {
		if rest, ok := strings.CutSuffix(name, kind); ok && rest != "" {
			return rest
		}
	}
	return name
}

// IsLayout tells whether a widget only arranges others.
func (l Location) IsLayout() bool {
	for _, kind := range []string{"Page", "PageContent", "Content", "Layoutgrid", "Gridrow", "Gridcolumn", "Linearlayout", "LinearLayout", "Linearlayoutitem", "LinearLayoutItem", "Container", "ListTemplate"} {
		if l.Tag == "Wm"+kind {
			return true
		}
	}
	return false
}

// maxNearest is how many names are offered in the place of one that is unknown.
const maxNearest = 8

// Nearest orders names by how near they are to what was meant, the nearest first, at most
// maxNearest of them.
func Nearest(meant string, names []string) []string {
	meant = foldName(meant)
	distance := make(map[string]int, len(names))
	var unique []string
	for _, name := range names {
		if _, ok := distance[name]; ok || name == "" {
			continue
		}
		folded := foldName(name)
		distance[name] = editDistance(meant, folded)
		if meant != "" && (strings.Contains(folded, meant) || strings.Contains(meant, folded)) {
			distance[name] = min(distance[name], 1)
		}
		unique = append(unique, name)
	}
	slices.SortStableFunc(unique, func(a, b string) int { return distance[a] - distance[b] })
	return unique[:min(len(unique), maxNearest)]
}

// IsNear tells whether a name is another one with a slip of the keyboard or two.
func IsNear(meant, name string) bool {
	meant, name = foldName(meant), foldName(name)
	return len(meant) > 3 && editDistance(meant, name) <= 1+len(meant)/8 && lastDigits(meant) == lastDigits(name)
}

// lastDigits is the number that a name ends with: button1 and button2 are no slip.
func lastDigits(name string) string {
	return name[len(strings.TrimRight(name, "0123456789")):]
}

// maxCompared is the length of names that are compared, in bytes.
const maxCompared = 64

// editDistance counts the letters to change, add or remove, and neighbours to swap.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
