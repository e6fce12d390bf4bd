package modules

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels.
const (
	letter     = 7.6 // width
	boxHeight  = 40.0
	gapX, gapY = 22.0, 26.0
	border     = 16.0
	padding    = 12.0
	widest     = 1800.0 // of a row
	longest    = 30     // letters of a name
)

// style has the colours of the pictures of graphs, and one of its own for cycles.
const style = `<style>
.modules{--ink:var(--graph-ink,#1f2328);--paper:var(--graph-paper,#ffffff);--box:var(--graph-box,#f3f5f8);--cycle:var(--graph-cycle,#c4291c);font:12px system-ui,sans-serif}
@media (prefers-color-scheme:dark){.modules{--ink:var(--graph-ink,#e6e9ee);--paper:var(--graph-paper,#14171c);--box:var(--graph-box,#232830);--cycle:var(--graph-cycle,#ff7b6e)}}
.modules text{fill:var(--ink);text-anchor:middle}
.modules .name{font-weight:600;font-size:13px}
.modules .description{opacity:.8}
.modules .box{fill:var(--box);stroke:var(--ink);stroke-width:1}
.modules .in-cycle>.box{stroke:var(--cycle)}
.modules .edge{fill:none;stroke:var(--ink);stroke-width:1.2;opacity:.6}
.modules .arrow{fill:var(--ink);opacity:.75}
.modules .edge.cycle{stroke:var(--cycle);stroke-width:2.4;opacity:1}
.modules .arrow.cycle{fill:var(--cycle);opacity:1}
</style>
`

// SVG draws the map from top to bottom: who imports stands above what is imported. Where
// there are too many modules a box is a folder with several. A cycle is drawn thick, and
// in red where there are colours; its boxes say so. It is made of the shapes that pictures
// of flows are made of, so that what shows one shows the other.
func (m Map) SVG(title string) string {
	view := m.summarizeModules()
	view.rankGroups()
	width, height := view.placeGroups()
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="modules" role="img" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">`+"\n", width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n%s", escapeXML(title), style)
	for _, a := range view.arrows {
		a.drawArrow(&out)
	}
	for _, g := range view.groups {
		g.drawGroup(&out)
	}
	if view.left > 0 {
		fmt.Fprintf(&out, `<text class="description" x="%.1f" y="%.1f">%d smaller folders are not drawn</text>`+"\n", width/2, height-border/2, view.left)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// placeGroups gives every group its place in rows, and the size of the whole.
func (v overview) placeGroups() (width, height float64) {
	var rows [][]*group
	layer, row := -1, 0.0
	ordered := slices.Clone(v.groups)
	slices.SortStableFunc(ordered, func(a, b *group) int { return cmp.Compare(a.layer, b.layer) })
	for _, g := range ordered {
		g.width = letter*float64(max(utf8.RuneCountInString(shortenPath(g.label())), utf8.RuneCountInString(g.describeGroup()))) + 2*padding
		if g.layer != layer || row+gapX+g.width > widest {
			rows = append(rows, nil)
			layer, row = g.layer, 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], g)
		row += gapX + g.width
		width = max(width, row)
	}
	width += 2 * border
	for i, row := range rows {
		above := v.importerPositions(row)
		slices.SortStableFunc(row, func(a, b *group) int { return cmp.Compare(above[a], above[b]) })
		free := width - 2*border
		for _, g := range row {
			free -= g.width
		}
		gap := free / float64(len(row)+1)
		x := border + gap
		for _, g := range row {
			g.x, g.y = x+g.width/2, border+float64(i)*(boxHeight+gapY)+boxHeight/2
			x += g.width + gap
		}
	}
	height = 2*border + float64(len(rows))*(boxHeight+gapY)
	return width, height
}

// importerPositions returns for each group of a row where those that import it stand on average.
func (v overview) importerPositions(row []*group) map[*group]float64 {
	sums := make(map[*group]float64)
	counts := make(map[*group]float64)
	for _, a := range v.arrows {
		if slices.Contains(row, a.to) && a.from.x > 0 {
			sums[a.to] += a.from.x
			counts[a.to]++
		}
	}
	for g := range sums {
		sums[g] /= counts[g]
	}
	return sums
}

// label is what a box is called: the root has no path of its own.
func (g *group) label() string {
	if g.path == "." {
		return "(root)"
	}
	return g.path
}

func (g *group) describeGroup() string {
	text := fmt.Sprintf("%d files", g.files)
	if g.files == 1 {
		text = "1 file"
	}
	if g.modules > 1 {
		text = fmt.Sprintf("%d modules, %s", g.modules, text)
	}
	if g.cycle {
		text += " · cycle"
	}
	return text
}

func (g *group) drawGroup(out *strings.Builder) {
	class := "node"
	if g.cycle {
		class += " in-cycle"
	}
	left, top := g.x-g.width/2, g.y-boxHeight/2
	fmt.Fprintf(out, `<g class="%s" data-node="%s">`+"\n", class, escapeXML(g.path))
	fmt.Fprintf(out, `<rect class="box" x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="6"/>`+"\n", left, top, g.width, boxHeight)
	fmt.Fprintf(out, `<text class="name" x="%.1f" y="%.1f">%s</text>`+"\n", g.x, top+17, escapeXML(shortenPath(g.label())))
	fmt.Fprintf(out, `<text class="description" x="%.1f" y="%.1f">%s</text>`+"\n</g>\n", g.x, top+32, escapeXML(g.describeGroup()))
}

// drawArrow draws an arrow: downwards from the bottom of a box to the top of the other, or,
// where it leads to the same row or up, from the top to the bottom.
func (a *arrow) drawArrow(out *strings.Builder) {
	class, arrowhead := "edge", "arrow"
	if a.cycle {
		class, arrowhead = "edge cycle join", "arrow cycle"
	}
	down := 1.0
	if a.to.y <= a.from.y {
		down = -1
	}
	y1, y2 := a.from.y+down*boxHeight/2, a.to.y-down*boxHeight/2
	if a.to.y == a.from.y {
		y2 = a.to.y - boxHeight/2 // over the top of the row
	}
	bend := gapY
	x2 := a.to.x
	if a.to.y == a.from.y {
		fmt.Fprintf(out, `<path class="%s" data-from="%s" data-to="%s" d="M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f"/>`+"\n",
			class, escapeXML(a.from.path), escapeXML(a.to.path), a.from.x, y1, a.from.x, y1-bend, x2, y2-bend, x2, y2)
		down = 1
	} else {
		fmt.Fprintf(out, `<path class="%s" data-from="%s" data-to="%s" d="M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f"/>`+"\n",
			class, escapeXML(a.from.path), escapeXML(a.to.path), a.from.x, y1, a.from.x, y1+down*bend, x2, y2-down*bend, x2, y2)
	}
	fmt.Fprintf(out, `<polygon class="%s" points="%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
		arrowhead, x2, y2, x2-4, y2-down*8, x2+4, y2-down*8)
}

// shortenPath cuts a path to its end, which tells most.
func shortenPath(path string) string {
	letters := []rune(path)
	if len(letters) <= longest {
		return path
	}
	return "…" + string(letters[len(letters)-longest+1:])
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
