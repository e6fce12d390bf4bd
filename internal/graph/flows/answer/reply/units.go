package reply

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
)

// reader makes units of blocks.
type reader struct {
	sources int
	reply   Reply
	groups  []group
}

// addGroup is units that lend each other their sources: those of a paragraph, or the rows of a
// table.
type group struct {
	units []int
	rows  bool
	lead  int // the unit that announces them, -1 for none
}

// place is where blocks stand.
type place struct {
	inItem bool
	lead   int // the unit right above, + 1; 0 for none
	list   int // the unit above the list that they are in, + 1; 0 for none
}

// addBlocks reads the units of blocks that follow each other.
func (r *reader) addBlocks(blocks []*block, at place) {
	outer := at.lead
	for i, b := range blocks {
		before := len(r.reply.Units)
		r.addBlock(b, at, i+1 < len(blocks) && canBeAnnounced(blocks[i+1]))
		at.lead = outer
		if b.kind == paragraph || b.kind == heading {
			if after := len(r.reply.Units); after > before && b.kind == paragraph {
				at.lead = after
			}
		}
	}
}

// canBeAnnounced says whether a lead-in may stand in front of a block.
func canBeAnnounced(b *block) bool { return b.kind != heading && b.kind != rule }

func (r *reader) addBlock(b *block, at place, followed bool) {
	switch b.kind {
	case paragraph:
		r.addParagraph(b, at, followed)
	case heading:
		text, found := r.withoutMarks(b.text)
		b.pieces = []piece{{unit: r.addUnit(Unit{Kind: Header, Text: text}, found)}}
	case code:
		unit := Unit{Kind: Code, Text: fenceCode(b), Under: r.textOf(at.lead)}
		b.pieces = []piece{{unit: r.addUnit(unit, nil)}}
		r.addGroup(at.lead-1, false, b.pieces[0].unit)
		r.hostLast(at.lead)
	case table:
		r.addTable(b, at)
	case list:
		var entries []*block
		for _, entry := range b.children {
			before := len(r.reply.Units)
			r.addBlocks(entry.children, place{inItem: true, lead: at.lead, list: at.lead})
			if len(r.reply.Units) > before || len(entry.children) == 0 || slices.ContainsFunc(entry.children, func(c *block) bool { return c.kind != paragraph }) {
				entries = append(entries, entry) // the others had nothing but marks
			}
		}
		b.children = entries
	case quote:
		r.addBlocks(b.children, place{inItem: at.inItem, lead: at.lead, list: at.list})
	}
}

func (r *reader) textOf(lead int) string {
	if lead == 0 {
		return ""
	}
	return r.reply.Units[lead-1].Text
}

// addUnit appends a unit and gives its position.
func (r *reader) addUnit(u Unit, found []mark) int {
	u.host, u.Next = -1, -1
	r.reply.written = append(r.reply.written, u.Text)
	u.Text = strings.ReplaceAll(u.Text, nounSign, "the source")
	for _, m := range found {
		u.Cites = append(u.Cites, m.cites...)
	}
	u.Cites = distinctSources(u.Cites)
	r.reply.Units = append(r.reply.Units, u)
	r.reply.marks = append(r.reply.marks, found)
	return len(r.reply.Units) - 1
}

func (r *reader) addGroup(lead int, rows bool, units ...int) {
	r.groups = append(r.groups, group{units: units, rows: rows, lead: lead})
}

// hostLast has the sources of the last unit named at the unit that announces it.
func (r *reader) hostLast(lead int) {
	if lead > 0 {
		r.reply.Units[len(r.reply.Units)-1].host = lead - 1
	}
}

func distinctSources(cites []int) []int {
	var once []int
	for _, c := range cites {
		if !slices.Contains(once, c) {
			once = append(once, c)
		}
	}
	return once
}

// boldLine is a paragraph that stands for a heading.
var boldLine = regexp.MustCompile(`^(?:\*\*[^*\n]+\*\*|__[^_\n]+__):?$`)

// addParagraph reads the sentences of a paragraph. Marks behind the end of a sentence belong
// to it.
func (r *reader) addParagraph(b *block, at place, followed bool) {
	clean, found := r.withoutMarks(b.text)
	if boldLine.MatchString(clean) && followed && !at.inItem {
		b.text = clean
		b.pieces = []piece{{unit: r.addUnit(Unit{Kind: Header, Text: clean}, found)}}
		return
	}
	b.text = clean
	sentences := sentence.Split(joinWrapped(clean))
	owned := ownedMarks(sentences, found)
	var units []int
	end := 0
	for i, s := range sentences {
		u := Unit{Kind: Sentence, Text: clean[s.Start:s.End], Under: r.textOf(at.list)}
		if at.inItem {
			u.Kind = Item
		}
		if i+1 == len(sentences) && followed && strings.HasSuffix(strings.TrimRight(u.Text, "*_ "), ":") {
			u.Kind = Lead
		}
		if i+1 < len(sentences) && i == 0 && at.inItem && boldLine.MatchString(strings.TrimSpace(u.Text)) && len(owned[i]) == 0 {
			u.Kind = Header // of the item
		}
		unit := r.addUnit(u, owned[i])
		b.pieces = append(b.pieces, piece{before: clean[end:s.Start], unit: unit})
		units = append(units, unit)
		end = s.End
	}
	if len(units) == 0 && len(found) > 0 { // marks on a line of their own
		r.citeAbove(found)
	}
	r.addGroup(at.list-1, false, units...)
}

// ownedMarks gives each sentence its marks, with their places in it. One behind the end of a
// sentence belongs to that.
func ownedMarks(sentences []sentence.Sentence, found []mark) [][]mark {
	owned := make([][]mark, len(sentences))
	for _, m := range found {
		owner := 0
		for i, s := range sentences {
			if s.Start < m.at || s.Start == m.at && m.noun {
				owner = i
			}
		}
		if len(sentences) > 0 {
			s := sentences[owner]
			m.at = min(max(m.at, s.Start), s.End) - s.Start
			owned[owner] = append(owned[owner], m)
		}
	}
	return owned
}

// citeAbove gives marks that stand alone to the last unit.
func (r *reader) citeAbove(found []mark) {
	last := len(r.reply.Units) - 1
	if last < 0 {
		return
	}
	u := &r.reply.Units[last]
	if u.Kind == Code && u.host >= 0 {
		last = u.host
		u = &r.reply.Units[last]
	}
	for _, m := range found {
		u.Cites = distinctSources(append(u.Cites, m.cites...))
		m.at, m.noun = len(strings.TrimRight(strings.TrimSuffix(r.reply.written[last], "|"), " ")), false
		r.reply.marks[last] = append(r.reply.marks[last], m)
	}
}

// joinWrapped makes a space of a line break inside a sentence; the length stays.
func joinWrapped(text string) string {
	joined := []byte(text)
	for i, c := range joined {
		if c != '\n' || i == 0 || i+1 == len(joined) || strings.HasSuffix(text[:i], "  ") || joined[i-1] == '\\' {
			continue
		}
		next := joined[i+1]
		if !strings.ContainsRune(".!?:;", rune(joined[i-1])) && (next >= 'a' && next <= 'z' || next == '`' || next >= 0x80) {
			joined[i] = ' '
		}
	}
	return string(joined)
}

// addTable reads the rows of a table.
func (r *reader) addTable(b *block, at place) {
	header, found := r.withoutMarks(b.text)
	b.text = header
	b.pieces = []piece{{unit: r.addUnit(Unit{Kind: Header, Text: header}, found)}}
	var rows []int
	for i, line := range b.lines {
		if i == 0 {
			continue
		}
		clean, found := r.withoutMarks(line)
		unit := r.addUnit(Unit{Kind: Row, Text: clean, Under: header}, found)
		r.hostLast(at.lead)
		b.pieces = append(b.pieces, piece{unit: unit})
		rows = append(rows, unit)
	}
	r.addGroup(at.lead-1, true, rows...)
	// Marks of the header are the table's.
	for _, row := range rows {
		r.reply.Units[row].Inherited = r.reply.Units[b.pieces[0].unit].Cites
	}
}

// bare are answers that state nothing without the sentence behind them.
var bare = regexp.MustCompile(`(?i)^\W*(?:yes|no|ja|nein|oui|non|sí|si|não|sim|nee|sì)\b\s*(?:[,–—-][^.!?]{0,24})?[.!]*\W*$`)

// inheritSources gives units without marks the sources of their group: in a paragraph those of the
// next marks, for one stands for all in front of it, else of those before; else of the
// lead-in.
func (r *reader) inheritSources() {
	for i := range r.reply.Units {
		if u := r.reply.Units[i]; (u.Kind == Sentence || u.Kind == Item) && bare.MatchString(u.Text) && i+1 < len(r.reply.Units) {
			r.reply.Units[i].Next = i + 1
		}
	}
	for _, g := range r.groups {
		for i, at := range g.units {
			u := &r.reply.Units[at]
			if len(u.Cites) > 0 || len(u.Inherited) > 0 {
				continue
			}
			if !g.rows {
				u.Inherited = r.lentSources(g.units, i)
			}
			if len(u.Inherited) == 0 && g.lead >= 0 {
				lead := r.reply.Units[g.lead]
				u.Inherited = lead.Cites
				if len(u.Inherited) == 0 {
					u.Inherited = lead.Inherited
				}
			}
		}
	}
}

// lentSources gives the sources of the next unit of a group that has marks, else of the last one
// before.
func (r *reader) lentSources(units []int, i int) []int {
	for _, at := range units[i+1:] {
		if cites := r.reply.Units[at].Cites; len(cites) > 0 {
			return cites
		}
	}
	for _, at := range slices.Backward(units[:i]) {
		if cites := r.reply.Units[at].Cites; len(cites) > 0 {
			return cites
		}
	}
	return nil
}
