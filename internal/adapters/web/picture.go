package web

import (
	"encoding/xml"
	"errors"
	"fmt"
	stdhtml "html"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// way is how a run went through its flow's graph.
type way struct {
	steps  []chat.TraceStep
	over   bool
	passed []string // nodes of the picture in order, each once
}

func newWay(steps []chat.TraceStep, over bool) *way { return &way{steps: steps, over: over} }

// pictured are the elements and attributes that a picture of a graph is made of. All
// else is left out: the page's policy allows no styles in it, and ids would be there
// twice when two pictures are.
var pictured = map[string][]string{
	"svg":    {"viewBox", "width", "height", "class"},
	"g":      {"class", "data-node", "transform"},
	"path":   {"class", "data-from", "data-to", "d"},
	"rect":   {"class", "x", "y", "width", "height", "rx"},
	"circle": {"class", "cx", "cy", "r"}, "polygon": {"class", "points"},
	"text": {"class", "x", "y"}, "title": nil,
}

// plain is what the value of a picture's attribute looks like, but for names of nodes.
var plain = regexp.MustCompile(`^[A-Za-z0-9 ,.()_-]*$`)

// renderPicture gives a graph's SVG with the way that a run took marked by classes: "taken"
// and the step's status on nodes, "taken" on edges.
func renderPicture(svg string, taken *way) (template.HTML, error) {
	tokens, err := parseShapes(svg)
	if err != nil {
		return "", err
	}
	nodes := make(map[string]bool)
	for _, token := range tokens {
		if start, ok := token.(xml.StartElement); ok {
			if name, ok := findAttribute(start, "data-node"); ok {
				nodes[name] = true
			}
		}
	}
	taken.keepNodes(nodes)
	var out strings.Builder
	for _, token := range tokens {
		switch token := token.(type) {
		case xml.StartElement:
			taken.markElement(&token)
			writeShape(&out, token)
		case xml.EndElement:
			out.WriteString("</" + token.Name.Local + ">")
		case xml.CharData:
			out.WriteString(stdhtml.EscapeString(markup.Clean(string(token))))
		}
	}
	return template.HTML(out.String()), nil
}

// parseShapes reads an SVG element, without what a picture is not made of.
func parseShapes(svg string) ([]xml.Token, error) {
	decoder := xml.NewDecoder(strings.NewReader(svg))
	var tokens []xml.Token
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the picture: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			attributes, ok := pictured[token.Name.Local]
			if !ok {
				if err := decoder.Skip(); err != nil {
					return nil, fmt.Errorf("read the picture: %w", err)
				}
				continue
			}
			token.Attr = slices.DeleteFunc(slices.Clone(token.Attr), func(a xml.Attr) bool {
				return !slices.Contains(attributes, a.Name.Local) || a.Name.Space != "" ||
					!strings.HasPrefix(a.Name.Local, "data-") && !plain.MatchString(a.Value)
			})
			tokens = append(tokens, token)
		case xml.EndElement, xml.CharData:
			tokens = append(tokens, xml.CopyToken(token))
		}
	}
}

func writeShape(out *strings.Builder, element xml.StartElement) {
	out.WriteString("<" + element.Name.Local)
	if element.Name.Local == "svg" {
		out.WriteString(` aria-hidden="true" focusable="false"`) // the table tells the same
	}
	for _, a := range element.Attr {
		fmt.Fprintf(out, ` %s="%s"`, a.Name.Local, stdhtml.EscapeString(markup.CleanLine(a.Value)))
	}
	out.WriteString(">")
}

func findAttribute(element xml.StartElement, name string) (value string, ok bool) {
	for _, a := range element.Attr {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

func addClass(element *xml.StartElement, class string) {
	for i, a := range element.Attr {
		if a.Name.Local == "class" {
			element.Attr[i].Value += " " + class
			return
		}
	}
	element.Attr = append(element.Attr, xml.Attr{Name: xml.Name{Local: "class"}, Value: class})
}

// keepNodes leaves out the steps that are not in the picture.
func (w *way) keepNodes(nodes map[string]bool) {
	w.steps = slices.DeleteFunc(slices.Clone(w.steps), func(step chat.TraceStep) bool { return !nodes[step.Node] })
	for _, step := range w.steps {
		if !slices.Contains(w.passed, step.Node) {
			w.passed = append(w.passed, step.Node)
		}
	}
}

// markElement adds the classes that show what became of a node or an edge.
func (w *way) markElement(element *xml.StartElement) {
	if node, ok := findAttribute(*element, "data-node"); ok {
		if status := w.nodeStatus(node); status != "" {
			addClass(element, "taken "+status)
		}
	}
	from, isEdge := findAttribute(*element, "data-from")
	to, leads := findAttribute(*element, "data-to")
	if !isEdge || !leads {
		return
	}
	class, _ := findAttribute(*element, "class")
	if w.hasEdge(from, to, strings.Contains(class, "conditional")) {
		addClass(element, "taken")
	}
}

// nodeStatus is how a node stands, "" for one that was not passed. A nested graph works
// while one of its nodes does.
func (w *way) nodeStatus(node string) string {
	now := ""
	for _, step := range w.steps {
		switch {
		case step.Node == node:
			now = statusText(step.Status)
		case strings.HasPrefix(step.Node, node+"/") && (now == "" || step.Status == chat.Running):
			now = statusText(step.Status)
		}
	}
	return now
}

// levelNodes gives the nodes passed in one graph, in order: those at the top for "", those
// of a nested graph for its path and a slash. Repetitions in place are one.
func (w *way) levelNodes(prefix string) []string {
	var passed []string
	for _, step := range w.steps {
		inside, ok := strings.CutPrefix(step.Node, prefix)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(inside, "/")
		if len(passed) == 0 || passed[len(passed)-1] != prefix+name {
			passed = append(passed, prefix+name)
		}
	}
	return passed
}

// hasEdge tells whether the run took an edge, as far as the order of its steps tells: a
// conditional one leads to what came next, any other to what came later. The ends of a
// graph are "" and "end".
func (w *way) hasEdge(from, to string, conditional bool) bool {
	prefix := to[:strings.LastIndex(to, "/")+1]
	passed := w.levelNodes(prefix)
	if len(passed) == 0 {
		return false
	}
	if from == "" {
		return slices.Contains(passed, to)
	}
	if to == prefix+"end" {
		return w.over && passed[len(passed)-1] == from && w.nodeStatus(from) == string(chat.Completed)
	}
	for i, node := range passed {
		if node != from {
			continue
		}
		later := passed[i+1:]
		if conditional && len(later) > 0 {
			later = later[:1]
		}
		if slices.Contains(later, to) {
			return true
		}
	}
	return false
}
