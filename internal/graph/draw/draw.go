// Package draw shows the shape of a graph: as Mermaid for Markdown, as DOT for
// Graphviz, and as an SVG that needs no other program.
//
// In all three a question is a hexagon, a nested graph is a box around its nodes, an
// edge that a route may choose is dashed, and an edge of a join is thick.
package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
)

// Mermaid returns the shape as a Mermaid flowchart.
func Mermaid(shape graph.Shape) string {
	var out strings.Builder
	out.WriteString("flowchart TD\n")
	mermaidGraph(&out, shape, "n", "  ")
	return out.String()
}

func mermaidGraph(out *strings.Builder, shape graph.Shape, prefix, indent string) {
	ids := assignIDs(shape, prefix)
	for _, n := range shape.Nodes {
		id, words := ids[n.Name], mermaidText(n.Name)
		if n.Description != "" {
			words += "<br/>" + mermaidText(n.Description)
		}
		switch n.Kind {
		case graph.KindNested:
			fmt.Fprintf(out, "%ssubgraph %s[\"%s\"]\n", indent, id, words)
			mermaidGraph(out, *n.Nested, id+"_", indent+"  ")
			fmt.Fprintf(out, "%send\n", indent)
		case graph.KindQuestion:
			fmt.Fprintf(out, "%s%s{{\"%s\"}}\n", indent, id, words)
		default:
			fmt.Fprintf(out, "%s%s[\"%s\"]\n", indent, id, words)
		}
	}
	fmt.Fprintf(out, "%s%s((\" \"))\n%s%s(((\" \")))\n", indent, ids[begin], indent, ids[graph.End])
	fmt.Fprintf(out, "%s%s --> %s\n", indent, ids[begin], ids[shape.Start])
	for _, e := range shape.Edges {
		arrow := "-->"
		switch {
		case e.Conditional:
			arrow = "-.->"
		case e.Join:
			arrow = "==>"
		}
		if e.Label != "" {
			arrow += `|"` + mermaidText(e.Label) + `"|`
		}
		fmt.Fprintf(out, "%s%s %s %s\n", indent, ids[e.From], arrow, ids[e.To])
	}
}

// begin stands for the dot before the first node. No node has this name: it is empty.
const begin = ""

// assignIDs gives every node, the beginning and the end an id that is safe anywhere.
func assignIDs(shape graph.Shape, prefix string) map[string]string {
	ids := map[string]string{begin: prefix + "begin", graph.End: prefix + "end"}
	for i, n := range shape.Nodes {
		ids[n.Name] = prefix + strconv.Itoa(i)
	}
	return ids
}

var mermaidEscapes = strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\n", " ", "\r", " ")

func mermaidText(s string) string { return mermaidEscapes.Replace(s) }

// DOT returns the shape in the language of Graphviz.
func DOT(shape graph.Shape) string {
	var out strings.Builder
	fmt.Fprintf(&out, "digraph %s {\n", dotText(shape.Name))
	out.WriteString("  compound=true\n  node [shape=box style=rounded fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\"]\n")
	dotGraph(&out, shape, "n", "  ")
	out.WriteString("}\n")
	return out.String()
}

func dotGraph(out *strings.Builder, shape graph.Shape, prefix, indent string) {
	ids := assignIDs(shape, prefix)
	nested := map[string]bool{}
	for _, n := range shape.Nodes {
		id, words := ids[n.Name], n.Name
		if n.Description != "" {
			words += "\n" + n.Description
		}
		switch n.Kind {
		case graph.KindNested:
			nested[n.Name] = true
			fmt.Fprintf(out, "%ssubgraph cluster_%s {\n%s  label=%s\n", indent, id, indent, dotText(words))
			dotGraph(out, *n.Nested, id+"_", indent+"  ")
			fmt.Fprintf(out, "%s}\n", indent)
		case graph.KindQuestion:
			fmt.Fprintf(out, "%s%s [label=%s shape=hexagon style=solid]\n", indent, id, dotText(words))
		default:
			fmt.Fprintf(out, "%s%s [label=%s]\n", indent, id, dotText(words))
		}
	}
	fmt.Fprintf(out, "%s%s [label=\"\" shape=circle width=.15 style=filled]\n", indent, ids[begin])
	fmt.Fprintf(out, "%s%s [label=\"\" shape=doublecircle width=.12 style=filled]\n", indent, ids[graph.End])
	edges := append([]graph.ShapeEdge{{From: begin, To: shape.Start}}, shape.Edges...)
	for _, e := range edges {
		from, to := ids[e.From], ids[e.To]
		var attributes []string
		// Graphviz draws edges between nodes alone: to and from a cluster they are
		// cut off at its border.
		if nested[e.From] {
			attributes = append(attributes, "ltail=cluster_"+from)
			from += "_end"
		}
		if nested[e.To] {
			attributes = append(attributes, "lhead=cluster_"+to)
			to += "_begin"
		}
		switch {
		case e.Conditional:
			attributes = append(attributes, "style=dashed")
		case e.Join:
			attributes = append(attributes, "penwidth=2")
		}
		if e.Label != "" {
			attributes = append(attributes, "label="+dotText(e.Label))
		}
		fmt.Fprintf(out, "%s%s -> %s", indent, from, to)
		if len(attributes) > 0 {
			fmt.Fprintf(out, " [%s]", strings.Join(attributes, " "))
		}
		out.WriteString("\n")
	}
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", " ")

func dotText(s string) string { return `"` + dotEscapes.Replace(s) + `"` }
