package reply

import (
	"fmt"
	"slices"
	"strings"
)

// Write gives what stays of a reply as Markdown. decisions are by unit; number gives the number
// under which a source that the reply cites is shown. It is asked in the order of the marks
// that the reply itself has, then for the sources that were added.
func (r Reply) Write(decisions []Decision, number func(source int) int) string {
	w := writer{reply: r, decisions: slices.Clone(decisions), number: number, added: make(map[int][]int), alive: make(map[*block]bool)}
	for _, d := range decisions {
		w.removed = w.removed || d.Remove
	}
	w.settleBlocks(r.blocks)
	for i := range r.Units {
		if !w.decisions[i].Remove {
			for _, m := range r.marks[i] {
				w.giveNumbers(m.cites)
			}
		}
	}
	for i := range r.Units {
		if d := w.decisions[i]; !d.Remove && len(d.Add) > 0 {
			host := i
			if r.Units[i].host >= 0 {
				host = r.Units[i].host
			}
			w.added[host] = distinctSources(append(w.added[host], d.Add...))
		}
	}
	return strings.Join(w.writeLines(r.blocks, context{}), "\n")
}

// Removed says of each unit whether nothing of it is shown, after what stands or falls with
// others was settled.
func (r Reply) Removed(decisions []Decision) []bool {
	w := writer{reply: r, decisions: slices.Clone(decisions), alive: make(map[*block]bool)}
	w.settleBlocks(r.blocks)
	gone := make([]bool, len(r.Units))
	for i, d := range w.decisions {
		gone[i] = d.Remove
	}
	return gone
}

type writer struct {
	reply     Reply
	decisions []Decision
	number    func(int) int
	added     map[int][]int // sources to name, by unit
	alive     map[*block]bool
	removed   bool // anything was
}

// context is what blocks stand in.
type context struct {
	inList bool
	tight  bool
	marker byte // of the list in whose item they begin
}

func (w *writer) isShown(unit int) bool {
	d := w.decisions[unit]
	kind := w.reply.Units[unit].Kind
	return !d.Remove || d.Instead != "" && (kind == Sentence || kind == Item)
}

// settleBlocks finds out which blocks stay, and removes what announces nothing any more.
func (w *writer) settleBlocks(blocks []*block) bool {
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		switch b.kind {
		case list:
			for _, entry := range b.children {
				w.alive[entry] = w.settleBlocks(entry.children) || len(entry.children) == 0
				w.alive[b] = w.alive[b] || w.alive[entry]
			}
		case quote:
			w.alive[b] = w.settleBlocks(b.children) || len(b.children) == 0
		case rule:
			w.alive[b] = true
		case table:
			w.alive[b] = len(b.pieces) == 1
			for _, row := range b.pieces[1:] {
				w.alive[b] = w.alive[b] || w.isShown(row.unit)
			}
			w.decisions[b.pieces[0].unit] = Decision{Remove: !w.alive[b]}
		case heading:
			w.alive[b] = w.hasTextBelow(blocks, i, b.level)
			w.decisions[b.pieces[0].unit] = Decision{Remove: !w.alive[b]}
		case code, paragraph:
			w.settleText(blocks, i)
		}
	}
	for _, b := range blocks {
		if b.kind != rule && w.alive[b] {
			return true
		}
	}
	return !slices.ContainsFunc(blocks, func(b *block) bool { return b.kind != rule })
}

func (w *writer) settleText(blocks []*block, i int) {
	b := blocks[i]
	for _, p := range b.pieces {
		switch w.reply.Units[p.unit].Kind {
		case Lead:
			if i+1 < len(blocks) && !w.alive[blocks[i+1]] {
				w.decisions[p.unit] = Decision{Remove: true}
			} else {
				w.decisions[p.unit].Remove = false
			}
		case Header:
			if len(b.pieces) == 1 {
				w.decisions[p.unit] = Decision{Remove: !w.hasTextBelow(blocks, i, boldLevel)}
			} else {
				w.decisions[p.unit] = Decision{Remove: !w.anyShown(b.pieces[1:])}
			}
		}
		w.alive[b] = w.alive[b] || w.isShown(p.unit)
	}
}

func (w *writer) anyShown(pieces []piece) bool {
	return slices.ContainsFunc(pieces, func(p piece) bool { return w.isShown(p.unit) })
}

// boldLevel is the level of a line in bold that stands for a heading.
const boldLevel = 7

func (w *writer) levelOf(b *block) int {
	switch {
	case b.kind == heading:
		return b.level
	case b.kind == paragraph && len(b.pieces) == 1 && w.reply.Units[b.pieces[0].unit].Kind == Header:
		return boldLevel
	}
	return 0
}

// hasTextBelow says whether anything stays of what stands under a heading. One with nothing under
// it stays as it is.
func (w *writer) hasTextBelow(blocks []*block, i, level int) bool {
	found := false
	for _, b := range blocks[i+1:] {
		below := w.levelOf(b)
		if below > 0 && below <= level {
			break
		}
		if below > 0 || b.kind == rule {
			continue
		}
		found = true
		if w.alive[b] {
			return true
		}
	}
	return !found
}

func (w *writer) giveNumbers(cites []int) []int {
	var shown []int
	for _, c := range cites {
		shown = append(shown, w.number(c))
	}
	return distinctSources(shown)
}

func (w *writer) markText(cites []int) string {
	var b strings.Builder
	for _, n := range w.giveNumbers(cites) {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// unitText writes a unit with its marks, and what was added, in front of its last point.
func (w *writer) unitText(unit int) string {
	d := w.decisions[unit]
	if d.Remove {
		return d.Instead
	}
	text := w.withMarks(w.reply.written[unit], w.reply.marks[unit])
	return withEnding(text, w.reply.Units[unit].Kind, w.markText(w.added[unit]), d.Remark)
}

// withMarks puts marks back into a text, each once in a place.
func (w *writer) withMarks(text string, marks []mark) string {
	var b strings.Builder
	at, last := 0, ""
	for _, m := range marks {
		if m.at > at {
			last = ""
		}
		b.WriteString(text[at:m.at])
		at = m.at
		written := w.markText(m.cites)
		switch {
		case m.noun:
			b.WriteString(written)
			at += len(nounSign)
			last = ""
			continue
		case written == last:
			continue
		case last == "" && b.Len() > 0:
			b.WriteString(" ")
		}
		b.WriteString(written)
		last = written
	}
	return b.String() + text[at:]
}

// withEnding puts marks and a remark in front of the end of a sentence, or into the last cell
// of a row.
func withEnding(text string, kind Kind, marks, remark string) string {
	ending := strings.TrimSpace(marks + " " + remark)
	if ending == "" || kind == Code {
		return text
	}
	if cells, ok := strings.CutSuffix(text, "|"); ok && kind == Row && !strings.HasSuffix(cells, `\`) {
		return strings.TrimRight(cells, " ") + " " + ending + " |"
	}
	end := len(strings.TrimRight(text, ".!?:。！？"))
	if strings.HasSuffix(text, "…") || strings.HasSuffix(text, "...") || end == 0 {
		end = len(text)
	}
	return strings.TrimRight(text[:end], " ") + " " + ending + text[end:]
}

// writeLines writes blocks one below the other.
func (w *writer) writeLines(blocks []*block, in context) []string {
	var out []string
	var before *block
	for i, b := range blocks {
		if !w.alive[b] || b.kind == rule && w.removed && !w.partsBlocks(blocks, i) {
			continue
		}
		written := w.writeBlock(b, before, in)
		if before != nil && (!in.tight || !standsTight(before, b, w)) {
			out = append(out, "")
		}
		out = append(out, written...)
		before = b
	}
	return out
}

// partsBlocks says whether a rule still parts something.
func (w *writer) partsBlocks(blocks []*block, i int) bool {
	stays := func(b *block) bool { return w.alive[b] && b.kind != rule }
	after := slices.IndexFunc(blocks[i+1:], func(b *block) bool { return w.alive[b] })
	return slices.ContainsFunc(blocks[:i], stays) && after >= 0 && blocks[i+1+after].kind != rule
}

// standsTight says whether a block may follow another in a tight list without an empty line.
func standsTight(before, b *block, w *writer) bool {
	if before.kind != paragraph {
		return false
	}
	if b.kind != list {
		return b.kind == code
	}
	first := slices.IndexFunc(b.children, func(entry *block) bool { return w.alive[entry] })
	return (!b.ordered || b.start == 1) && first >= 0 && len(b.children[first].children) > 0
}

func (w *writer) writeBlock(b, before *block, in context) []string {
	switch b.kind {
	case paragraph:
		return asParagraph(w.paragraphText(b))
	case heading:
		return []string{headingLine(b.level, w.unitText(b.pieces[0].unit))}
	case code:
		return w.writeCode(b)
	case table:
		return w.writeTable(b)
	case list:
		return w.writeList(b, before, in)
	case quote:
		var out []string
		for _, line := range w.writeLines(b.children, context{inList: in.inList}) {
			out = append(out, strings.TrimRight("> "+line, " "))
		}
		if len(out) == 0 {
			return []string{">"}
		}
		return out
	}
	if in.inList {
		return []string{"___"}
	}
	return []string{"---"}
}

func headingLine(level int, text string) string {
	if strings.HasSuffix(text, "#") {
		text = text[:len(text)-1] + `\#`
	}
	return strings.TrimRight(strings.Repeat("#", level)+" "+text, " ")
}

// paragraphText joins what stays of a paragraph.
func (w *writer) paragraphText(b *block) string {
	var out strings.Builder
	gap := ""
	for _, p := range b.pieces {
		gap += p.before
		if !w.isShown(p.unit) {
			continue
		}
		if out.Len() > 0 {
			switch {
			case gap == p.before:
				out.WriteString(gap)
			case strings.Contains(gap, "\n"):
				out.WriteString("\n")
			default:
				out.WriteString(" ")
			}
		}
		out.WriteString(w.unitText(p.unit))
		gap = ""
	}
	return out.String()
}

// writeCode writes a code block. What is said of it stands below, where nothing announces it.
func (w *writer) writeCode(b *block) []string {
	unit := b.pieces[0].unit
	lines := strings.Split(fenceCode(b), "\n")
	if below := strings.TrimSpace(w.markText(w.added[unit]) + " " + w.decisions[unit].Remark); below != "" {
		lines = append(lines, "", below)
	}
	return lines
}

// fenceCode gives code between fences that it can't close.
func fenceCode(b *block) string {
	fence := "```"
	if strings.Contains(b.info, "`") {
		fence = "~~~"
	}
	for strings.Contains(b.text, fence) {
		fence += fence[:1]
	}
	text := strings.TrimSuffix(b.text, "\n")
	if text != "" || strings.HasSuffix(b.text, "\n") {
		text += "\n"
	}
	return fence + b.info + "\n" + text + fence
}

// writeTable writes the rows that stay under their header. Sources that no row and no lead-in
// names are named below.
func (w *writer) writeTable(b *block) []string {
	out := []string{addBar(w.unitText(b.pieces[0].unit)), addBar(b.lines[0])}
	var below []int
	for _, p := range b.pieces[1:] {
		if w.decisions[p.unit].Remove {
			continue
		}
		below = append(below, w.added[p.unit]...)
		delete(w.added, p.unit)
		out = append(out, addBar(w.unitText(p.unit)))
	}
	if len(below) > 0 {
		out = append(out, "", w.markText(distinctSources(below)))
	}
	return out
}

// addBar gives a row that begins with a bar, so that it can't be taken for another block.
func addBar(row string) string {
	if strings.HasPrefix(row, "|") {
		return row
	}
	return "| " + row
}

func (w *writer) writeList(b, before *block, in context) []string {
	marker := b.marker
	for (before != nil && before.kind == list && before.ordered == b.ordered && before.marker == marker) || !b.ordered && marker == in.marker {
		marker = otherMarker(marker)
	}
	b.marker = marker
	number := b.start
	var out []string
	for _, entry := range b.children {
		if !w.alive[entry] {
			continue
		}
		sign := string(marker)
		if b.ordered {
			sign = fmt.Sprintf("%d%c", number, marker)
		}
		number++
		inner := context{inList: true, tight: !b.loose}
		if !b.ordered {
			inner.marker = marker
		}
		if b.loose && len(out) > 0 {
			out = append(out, "")
		}
		lines := w.writeLines(entry.children, inner)
		if len(lines) == 0 {
			lines = []string{""}
		}
		for i, line := range lines {
			switch {
			case i == 0:
				line = sign + " " + line
			case line != "":
				line = strings.Repeat(" ", len(sign)+1) + line
			}
			out = append(out, strings.TrimRight(line, " "))
		}
	}
	return out
}

func otherMarker(marker byte) byte {
	switch marker {
	case '-':
		return '*'
	case '*':
		return '+'
	case '.':
		return ')'
	case ')':
		return '.'
	}
	return '-'
}
