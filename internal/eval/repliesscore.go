package eval

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// unitCounts counts verdicts on right and on wrong units.
type unitCounts struct{ right, wrong map[Verdict]int }

func newUnitCounts() unitCounts {
	return unitCounts{right: make(map[Verdict]int), wrong: make(map[Verdict]int)}
}

func (c unitCounts) add(u ReplyUnit, verdict Verdict) {
	if u.Wrong() {
		c.wrong[verdict]++
		return
	}
	c.right[verdict]++
}

func total(counts map[Verdict]int) int {
	return counts[UnitKept] + counts[UnitMarked] + counts[UnitRemoved]
}

// ReplyScores measure a checker of replies.
type ReplyScores struct {
	all                         unitCounts
	kind, lang, cited, hardness map[string]unitCounts
	before, after               form
	removed, lost               form
	guessed, dangling           int
	missing                     []string
}

// ScoreReplies measures outcomes against the labels of the replies' units.
func ScoreReplies(replies []Reply, outcomes []ReplyOutcome) ReplyScores {
	scores := ReplyScores{
		all: newUnitCounts(), kind: make(map[string]unitCounts), lang: make(map[string]unitCounts),
		cited: make(map[string]unitCounts), hardness: make(map[string]unitCounts),
	}
	byID := make(map[string]ReplyOutcome, len(outcomes))
	for _, outcome := range outcomes {
		byID[outcome.ID] = outcome
	}
	for _, reply := range replies {
		outcome, ok := byID[reply.ID]
		if !ok {
			scores.missing = append(scores.missing, reply.ID)
			continue
		}
		verdicts, guessed := verdictsOn(reply, outcome)
		scores.guessed += guessed
		scores.dangling += danglingMarks(outcome.Text, outcome.Sources)
		scores.addUnits(reply, verdicts)
		scores.addForm(reply, outcome, verdicts)
	}
	return scores
}

func (s *ReplyScores) addUnits(reply Reply, verdicts []Verdict) {
	for i, unit := range reply.Units {
		countIn(s.kind, string(unit.Kind), unit, verdicts[i])
		if unit.isForm() {
			continue
		}
		s.all.add(unit, verdicts[i])
		countIn(s.lang, reply.Lang, unit, verdicts[i])
		countIn(s.cited, unit.Cited, unit, verdicts[i])
		if unit.Wrong() {
			countIn(s.hardness, unit.Hardness, unit, verdicts[i])
		}
	}
}

func countIn(groups map[string]unitCounts, name string, unit ReplyUnit, verdict Verdict) {
	if _, ok := groups[name]; !ok {
		groups[name] = newUnitCounts()
	}
	groups[name].add(unit, verdict)
}

func (s *ReplyScores) addForm(reply Reply, outcome ReplyOutcome, verdicts []Verdict) {
	before, after := countForm(reply.plain()), countForm(outcome.Text)
	var removed form
	rows, rowsRemoved := 0, 0
	for i, unit := range reply.Units {
		if unit.Kind == UnitRow {
			rows++
		}
		if verdicts[i] != UnitRemoved {
			continue
		}
		switch unit.Kind {
		case UnitRow:
			removed.rows++
			rowsRemoved++
		case UnitItem:
			removed.items++
		case UnitCode:
			removed.blocks++
		}
	}
	if rows > 0 && rows == rowsRemoved {
		removed.tables = before.tables
	}
	s.before, s.after, s.removed = s.before.plus(before), s.after.plus(after), s.removed.plus(removed)
	s.lost = s.lost.plus(form{
		tables: max(0, before.tables-after.tables-removed.tables), rows: max(0, before.rows-after.rows-removed.rows),
		items: max(0, before.items-after.items-removed.items), blocks: max(0, before.blocks-after.blocks-removed.blocks),
	})
}

func (f form) plus(other form) form {
	return form{f.tables + other.tables, f.rows + other.rows, f.items + other.items, f.blocks + other.blocks}
}

var (
	unitSpace  = regexp.MustCompile(white + `+`)
	innerMark  = regexp.MustCompile(`[ \t]*\[\[[^\]\s]*\]\]`)
	squashMark = regexp.MustCompile(`\[\^?\d+(?:, ?\d+)*\]|【[^】]*】`)
)

func normalizedUnit(text string) string {
	return strings.TrimSpace(unitSpace.ReplaceAllString(innerMark.ReplaceAllString(text, ""), " "))
}

// SquashUnit gives the letters and digits of a text, citation marks left out, to find a
// unit in another text.
func SquashUnit(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return -1
	}, squashMark.ReplaceAllString(text, "")))
}

// verdictsOn gives a verdict on each unit; one that has none is looked for in the final text.
func verdictsOn(reply Reply, outcome ReplyOutcome) (verdicts []Verdict, guessed int) {
	given := make(map[string][]Verdict)
	for _, unit := range outcome.Units {
		key := normalizedUnit(unit.Text)
		given[key] = append(given[key], unit.Verdict)
	}
	final := SquashUnit(outcome.Text)
	for _, unit := range reply.Units {
		key := normalizedUnit(unit.Text)
		if left := given[key]; len(left) > 0 {
			verdicts = append(verdicts, left[0])
			if len(left) > 1 {
				given[key] = left[1:]
			}
			continue
		}
		guessed++
		verdict := UnitRemoved
		if squashed := SquashUnit(unit.Text); squashed != "" && strings.Contains(final, squashed) {
			verdict = UnitKept
		}
		verdicts = append(verdicts, verdict)
	}
	return verdicts, guessed
}

// shareText is the part of a whole as the scorer of the set prints it.
func shareText(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(part)/float64(whole))
}

// Table renders the scores as the set's own scorer does.
func (s ReplyScores) Table() string {
	var b strings.Builder
	if len(s.missing) > 0 {
		fmt.Fprintf(&b, "no outcome for %d replies: %s\n", len(s.missing), strings.Join(s.missing[:min(len(s.missing), 12)], " "))
	}
	hits := s.all.wrong[UnitMarked] + s.all.wrong[UnitRemoved]
	falseHits := s.all.right[UnitMarked] + s.all.right[UnitRemoved]
	b.WriteString(countsLine("units", s.all) + "\n")
	fmt.Fprintf(&b, "detection of wrong units (marked or removed): precision %s, recall %s; wrong units shown as checked: %d\n",
		shareText(hits, hits+falseHits), shareText(hits, total(s.all.wrong)), s.all.wrong[UnitKept])
	if s.guessed > 0 {
		fmt.Fprintf(&b, "%d units had no verdict and were looked for in the final text\n", s.guessed)
	}
	b.WriteString("structure          before  after  removed by verdict  lost otherwise\n")
	for _, row := range []struct {
		name                         string
		before, after, removed, lost int
	}{
		{"tables", s.before.tables, s.after.tables, s.removed.tables, s.lost.tables},
		{"table rows", s.before.rows, s.after.rows, s.removed.rows, s.lost.rows},
		{"list items", s.before.items, s.after.items, s.removed.items, s.lost.items},
		{"code blocks", s.before.blocks, s.after.blocks, s.removed.blocks, s.lost.blocks},
	} {
		fmt.Fprintf(&b, "  %-16s %6d %6d %19d %15d\n", row.name, row.before, row.after, row.removed, row.lost)
	}
	fmt.Fprintf(&b, "citations left without a source: %d\n", s.dangling)
	for _, group := range []struct {
		title  string
		counts map[string]unitCounts
	}{{"kind", s.kind}, {"language", s.lang}, {"citation", s.cited}} {
		fmt.Fprintf(&b, "by %s\n", group.title)
		for _, name := range slices.Sorted(maps.Keys(group.counts)) {
			b.WriteString("  " + countsLine(name, group.counts[name]) + "\n")
		}
	}
	b.WriteString("by hardness\n")
	for _, name := range slices.Sorted(maps.Keys(s.hardness)) {
		w := s.hardness[name].wrong
		fmt.Fprintf(&b, "  %-14s %3d: kept %3d marked %3d removed %3d\n", name, total(w), w[UnitKept], w[UnitMarked], w[UnitRemoved])
	}
	return b.String()
}

// Summary gives the two shares that a checker is judged by: right units kept unmarked, and
// wrong ones shown as checked.
func (s ReplyScores) Summary() string {
	return fmt.Sprintf("right units kept unmarked %s of %d, wrong units shown as checked %s of %d",
		shareText(s.all.right[UnitKept], total(s.all.right)), total(s.all.right), shareText(s.all.wrong[UnitKept], total(s.all.wrong)), total(s.all.wrong))
}

func countsLine(name string, c unitCounts) string {
	return fmt.Sprintf("%-16s right %4d: kept %4d marked %4d removed %4d | wrong %4d: kept %4d marked %4d removed %4d", name,
		total(c.right), c.right[UnitKept], c.right[UnitMarked], c.right[UnitRemoved],
		total(c.wrong), c.wrong[UnitKept], c.wrong[UnitMarked], c.wrong[UnitRemoved])
}
