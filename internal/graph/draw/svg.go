package draw

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/graph"
)

// Sizes of text in pixels.
const (
	nameWidth   = 8.0 // of a letter
	wordWidth   = 6.2
	lineHeight  = 16.0
	padding     = 12.0
	longestLine = 30  // letters of a description before it is wrapped
	mostLines   = 3   // of a description
	longestName = 40  // letters
	hexagon     = 12. // how far the tips of a question stick out
)

// words are the lines of text in a box.
type words struct {
	name        string
	description []string
}

// SVG draws the shape from top to bottom. Each node is a g of class "node" whose
// data-node is its path as in graph.Event.Node, each edge a path of class "edge" with
// data-from and data-to; a page marks the way that a run took by adding the class
// "taken". Colours are the CSS variables --graph-ink, --graph-paper, --graph-box and
// --graph-taken, with values for light and dark pages.
func SVG(shape graph.Shape) string {
	l := arrangeLayout(shape)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">`+"\n",
		l.width, l.height, l.width, l.height)
	fmt.Fprintf(&out, "<title>%s</title>\n%s", escapeXML(shape.Name), style)
	l.drawLayout(&out, "")
	out.WriteString("</svg>\n")
	return out.String()
}

const style = `<style>
.graph{--ink:var(--graph-ink,#1f2328);--paper:var(--graph-paper,#ffffff);--box:var(--graph-box,#f3f5f8);--taken:var(--graph-taken,#0a66d0);font:12px system-ui,sans-serif}
@media (prefers-color-scheme:dark){.graph{--ink:var(--graph-ink,#e6e9ee);--paper:var(--graph-paper,#14171c);--box:var(--graph-box,#232830);--taken:var(--graph-taken,#6cb0ff)}}
.graph text{fill:var(--ink);text-anchor:middle}
.graph .name{font-weight:600;font-size:13px}
.graph .description{opacity:.8}
.graph .label{font-size:11px;paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.graph .box{fill:var(--box);stroke:var(--ink);stroke-width:1}
.graph .nested>.box{fill:none;stroke-dasharray:2 3}
.graph .dot{fill:var(--ink)}
.graph .edge{fill:none;stroke:var(--ink);stroke-width:1.2;opacity:.75}
.graph .conditional{stroke-dasharray:5 4}
.graph .join{stroke-width:2.4}
.graph .arrow{fill:var(--ink);opacity:.75}
.graph .taken>.box{stroke:var(--taken);stroke-width:2.5}
.graph .edge.taken{stroke:var(--taken);opacity:1}
</style>
`

// measureBox returns the box of a node with its size.
func measureBox(n *graph.ShapeNode) *box {
	b := &box{name: n.Name, node: n, words: words{name: truncateText(n.Name, longestName), description: wrapText(n.Description)}}
	b.width = nameWidth * float64(utf8.RuneCountInString(b.words.name))
	for _, line := range b.words.description {
		b.width = max(b.width, wordWidth*float64(utf8.RuneCountInString(line)))
	}
	b.width += 2 * padding
	b.height = lineHeight*float64(1+len(b.words.description)) + padding
	switch n.Kind {
	case graph.KindQuestion:
		b.width += 2 * hexagon
	case graph.KindNested:
		b.inner = arrangeLayout(*n.Nested)
		b.width = max(b.width, b.inner.width)
		b.height += b.inner.height
	}
	return b
}

func truncateText(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// wrapText breaks text into at most mostLines lines.
func wrapText(text string) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		word = truncateText(word, longestLine)
		last := len(lines) - 1
		switch {
		case last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= longestLine:
			lines[last] += " " + word
		case len(lines) == mostLines:
			lines[last] = truncateText(lines[last]+" …", longestLine)
			return lines
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

func (l *layout) drawLayout(out *strings.Builder, prefix string) {
	ports := l.assignPorts()
	for _, line := range l.lines {
		line.drawLine(out, ports, prefix)
	}
	for _, b := range l.order {
		b.drawBox(out, prefix)
	}
}

func (b *box) drawBox(out *strings.Builder, prefix string) {
	if b.node == nil {
		fmt.Fprintf(out, `<circle class="dot" cx="%.1f" cy="%.1f" r="%.0f"/>`+"\n", b.x, b.y, dotRadius)
		if b.name == graph.End {
			fmt.Fprintf(out, `<circle class="edge" cx="%.1f" cy="%.1f" r="%.0f"/>`+"\n", b.x, b.y, dotRadius+3)
		}
		return
	}
	path := escapeXML(prefix + b.name)
	fmt.Fprintf(out, `<g class="node %s" id="node-%s" data-node="%s">`+"\n", b.node.Kind, path, path)
	left, top := b.x-b.width/2, b.y-b.height/2
	if b.node.Kind == graph.KindQuestion {
		right, bottom := left+b.width, top+b.height
		fmt.Fprintf(out, `<polygon class="box" points="%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
			left, b.y, left+hexagon, top, right-hexagon, top, right, b.y, right-hexagon, bottom, left+hexagon, bottom)
	} else {
		fmt.Fprintf(out, `<rect class="box" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6"/>`+"\n", left, top, b.width, b.height)
	}
	y := top + padding/2 + lineHeight*.75
	fmt.Fprintf(out, `<text class="name" x="%.1f" y="%.1f">%s</text>`+"\n", b.x, y, escapeXML(b.words.name))
	for _, text := range b.words.description {
		y += lineHeight
		fmt.Fprintf(out, `<text class="description" x="%.1f" y="%.1f">%s</text>`+"\n", b.x, y, escapeXML(text))
	}
	if b.inner != nil {
		fmt.Fprintf(out, `<g transform="translate(%.1f %.1f)">`+"\n", b.x-b.inner.width/2, y+padding/2)
		b.inner.drawLayout(out, prefix+b.name+"/")
		out.WriteString("</g>\n")
	}
	out.WriteString("</g>\n")
}

// end is where a line touches a box.
type end struct {
	line  *line
	lower bool // at the box's bottom
}

// assignPorts spreads the ends of lines over the sides of the boxes, in the order of what is
// at their other ends.
func (l *layout) assignPorts() map[end]point {
	sides := map[*box]map[bool][]*line{}
	touch := func(b *box, lower bool, l *line) {
		if sides[b] == nil {
			sides[b] = map[bool][]*line{}
		}
		sides[b][lower] = append(sides[b][lower], l)
	}
	for _, l := range l.lines {
		if l.from != l.to {
			touch(l.boxes[0], true, l)
			touch(l.boxes[len(l.boxes)-1], false, l)
		}
	}
	ports := map[end]point{}
	for b, side := range sides {
		for lower, lines := range side {
			next := func(l *line) float64 {
				if lower {
					return l.boxes[1].x
				}
				return l.boxes[len(l.boxes)-2].x
			}
			slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(next(a), next(b)) })
			y := b.y - b.height/2
			if lower {
				y = b.y + b.height/2
			}
			step := min(gapBend*2, b.width*.7/float64(len(lines)))
			for i, line := range lines {
				x := b.x + (float64(i)-float64(len(lines)-1)/2)*step
				ports[end{line, lower}] = point{x, y}
			}
		}
	}
	return ports
}

// linePoints returns the places that the line goes through, in its own direction.
func (l *line) linePoints(ports map[end]point) []point {
	points := []point{ports[end{l, true}]}
	for _, bend := range l.boxes[1 : len(l.boxes)-1] {
		points = append(points, point{bend.x, bend.y})
	}
	points = append(points, ports[end{l, false}])
	if l.back {
		slices.Reverse(points)
	}
	return points
}

func (l *line) drawLine(out *strings.Builder, ports map[end]point, prefix string) {
	class := "edge"
	if l.edge.Conditional {
		class += " conditional"
	}
	if l.edge.Join {
		class += " join"
	}
	from := l.edge.From
	if from != begin {
		from = prefix + from
	}
	fmt.Fprintf(out, `<path class="%s" data-from="%s" data-to="%s" d="`, class, escapeXML(from), escapeXML(prefix+l.edge.To))
	tip, up, label := l.tracePath(out, ports)
	out.WriteString("\"/>\n")
	base := -8.0
	if up {
		base = 8
	}
	fmt.Fprintf(out, `<polygon class="arrow" points="%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
		tip.x, tip.y, tip.x-4, tip.y+base, tip.x+4, tip.y+base)
	if l.edge.Label != "" {
		fmt.Fprintf(out, `<text class="label" x="%.1f" y="%.1f">%s</text>`+"\n", label.x, label.y, escapeXML(truncateText(l.edge.Label, longestLine)))
	}
}

// tracePath writes the curve and tells where it ends, whether upwards, and where a label
// stands.
func (l *line) tracePath(out *strings.Builder, ports map[end]point) (tip point, up bool, label point) {
	if l.from == l.to {
		b := l.from
		right, bottom := b.x+b.width/2, b.y+b.height/2
		fmt.Fprintf(out, "M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f", right, b.y,
			right+2*gapBend, b.y, right, bottom+2*gapBend, right-gapBend, bottom)
		return point{right - gapBend, bottom}, true, point{right, bottom + gapBend}
	}
	points := l.linePoints(ports)
	fmt.Fprintf(out, "M%.1f %.1f", points[0].x, points[0].y)
	for i, p := range points[1:] {
		before := points[i]
		half := (before.y + p.y) / 2
		fmt.Fprintf(out, " C%.1f %.1f %.1f %.1f %.1f %.1f", before.x, half, p.x, half, p.x, p.y)
	}
	first, second := points[0], points[1]
	return points[len(points)-1], l.back, point{(first.x + second.x) / 2, (first.y+second.y)/2 + 4}
}

// escapeXML makes text safe inside an element or a quoted attribute.
func escapeXML(s string) string {
	var out strings.Builder
	// Writing to a strings.Builder does not fail, and EscapeText has no other error.
	if err := xml.EscapeText(&out, []byte(s)); err != nil {
		panic(err)
	}
	return out.String()
}
