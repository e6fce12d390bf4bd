package quoting

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// unit is a sentence or block of a passage with the chance that it states what was
// asked for.
type unit struct {
	sentence.Sentence
	plain     string // without the addresses of links
	kind      kind
	indent    int      // of an item, in bytes
	length    int      // characters, as it is read
	terms     []string // in order
	set       support.Set
	chance    float64
	isExample bool // a sentence of a paragraph that gives one
	// covered is the part of the question that it holds.
	covered float64
	// defines is how far it says what the words of the question are, 0 to 1.
	defines float64
}

// kind is what a unit is.
type kind int

const (
	prose kind = iota
	item
	row // of a table; the first one is the header with its delimiter
	code
)

func kindOf(s sentence.Sentence) kind {
	switch {
	case !s.Block:
		return prose
	case strings.HasPrefix(s.Text, "```"), strings.HasPrefix(s.Text, "~~~"):
		return code
	case strings.HasPrefix(s.Text, "|"):
		return row
	}
	return item
}

// passageUnits is a passage taken apart.
type passageUnits struct {
	passage  int // in the order of rank
	position int // in that of the search
	units    []unit
	titles   support.Set // terms of the page's title and the headings
	listed   bool        // the question asks for a list
	defining bool        // it asks for the meaning of something
	named    float64     // how far the heading is what is asked for, 0 to 1
	wholes   []whole
}

// whole is what is quoted together or not at all.
type whole struct {
	passage     int
	units       []int // positions, ascending
	first, last int   // the stretch it stands in
	leans       bool  // it says nothing without the unit in front of it
	length      int   // characters
	best, sum   float64
	set         support.Set
	about       support.Set // with title and headings
}

const (
	// longList and longTable are up to how many characters a list or table is taken whole.
	longList  = 700
	longTable = 600
	// longSteps is up to how many characters the steps of a list are quoted from the first.
	longSteps = 1200
	// longCode is the longest code that is quoted whole.
	longCode = 400
	// excerptLines is how many lines are quoted of longer code.
	excerptLines = 8
)

// proseWhole is the whole that a sentence begins: one that announces, or asks, is quoted with
// the sentence behind it, and labels, such as the alternative text of a picture, are not quoted,
// nor are questions that nothing follows.
func (p *passageUnits) proseWhole(at int) (whole, bool) {
	u := p.units[at]
	switch {
	case isLabel(u.plain):
		return whole{}, false
	case !announces(u.Text) && !asks(u.Text):
		return p.statement(at), true
	case at+1 < len(p.units) && p.isStatement(at+1):
		return p.whole(at, at+1), true
	case asks(u.Text) && at+1 < len(p.units):
		return p.statement(at), true // a list or code follows that something else announces
	}
	return whole{}, false
}

// isStatement tells whether a unit is a sentence that states something by itself.
func (p *passageUnits) isStatement(at int) bool {
	u := p.units[at]
	return u.kind == prose && !announces(u.Text) && !asks(u.Text) && !isLabel(u.plain)
}

// asks tells whether a sentence is a question, which states nothing by itself.
func asks(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "*_`)\"")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// isLabel tells whether a line of prose is a few words that state nothing.
func isLabel(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "*_)]\"'”»"))
	return len(strings.Fields(text)) <= labelWords && len(text) <= labelLength && !strings.ContainsRune(".!?…。！？:：`", last) &&
		!strings.ContainsAny(text, "`0123456789")
}

// A label has at most that many words, and bytes.
const (
	labelWords  = 6
	labelLength = 60
)

// statement is the whole of a sentence in prose, with the one before it where it can't
// be read without that, and that is short.
func (p *passageUnits) statement(at int) whole {
	if at > 0 && p.units[at-1].kind != prose && pronoun.MatchString(p.units[at].Text) {
		w := p.whole(at)
		w.leans = true
		return w
	}
	if at == 0 || !p.leans(at) || p.leans(at-1) && !pronoun.MatchString(p.units[at].Text) {
		return p.whole(at)
	}
	if len(p.units[at-1].Text) <= longBefore {
		return p.whole(at-1, at)
	}
	w := p.whole(at)
	w.leans = true
	return w
}

// leans tells whether a sentence can't be read without the one before it.
func (p *passageUnits) leans(at int) bool {
	if at == 0 || p.units[at-1].kind != prose || announces(p.units[at-1].Text) || asks(p.units[at-1].Text) {
		return false
	}
	text := p.units[at].Text
	return pronoun.MatchString(text) || connective.MatchString(text)
}

// longBefore is the longest sentence that is brought along, in bytes.
const longBefore = 120

// excerpt gives the lines of a long code block that bear on the question: single ones
// of a list of options, else those around the best one. The fences stay.
func excerpt(profile support.Profile, text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return text
	}
	open, inner, end := lines[0], lines[1:len(lines)-1], lines[len(lines)-1]
	covered := make([]float64, len(inner))
	best, options := 0, 0
	for i, line := range inner {
		covered[i] = profile.Coverage(support.Of(line))
		if covered[i] > covered[best] {
			best = i
		}
		if strings.HasPrefix(strings.TrimSpace(line), "-") {
			options++
		}
	}
	var kept []string
	if 2*options > len(inner) {
		for i, line := range inner {
			if covered[i] > 0 && covered[i] >= halfOfBest*covered[best] && len(kept) < excerptLines {
				kept = append(kept, line)
			}
		}
	} else {
		from := max(0, min(best-excerptLines/2, len(inner)-excerptLines))
		kept = inner[from:min(len(inner), from+excerptLines)]
	}
	if len(kept) == 0 {
		kept = inner[:min(len(inner), excerptLines)]
	}
	return strings.Join(append(append([]string{open}, kept...), end), "\n")
}

const halfOfBest = 0.6

// wholesOf cuts a passage into wholes.
func wholesOf(p *passageUnits) []whole {
	var wholes []whole
	for at := 0; at < len(p.units); {
		lead := -1
		start := at
		if p.units[at].kind == prose {
			if !p.leadsIn(at) {
				w, ok := p.proseWhole(at)
				if ok {
					wholes = append(wholes, w)
					at = max(at, w.last)
				}
				at++
				continue
			}
			lead, start = at, at+1
		}
		end := p.stretchEnd(start)
		wholes = append(wholes, p.block(lead, start, end)...)
		at = end
	}
	return wholes
}

// leadsIn says whether a sentence announces, or asks for, the list, table or code behind it.
func (p *passageUnits) leadsIn(at int) bool {
	return at+1 < len(p.units) && p.units[at+1].kind != prose && (announces(p.units[at].Text) || asks(p.units[at].Text) || p.units[at+1].kind == code)
}

// stretchEnd is behind the last unit of the list, table or code that begins at start.
func (p *passageUnits) stretchEnd(start int) int {
	end := start + 1
	switch p.units[start].kind {
	case row:
		for end < len(p.units) && p.units[end].kind == row {
			end++
		}
	case item:
		for end < len(p.units) && (p.units[end].kind == item || p.units[end].kind == code && end+1 < len(p.units) && p.units[end+1].kind == item || p.units[end].kind == code && announces(p.units[end-1].Text) || p.isWithinSteps(start, end)) {
			end++
		}
	}
	return end
}

// isWithinSteps tells whether what stands behind the items of a list belongs to one of them: steps go on
// behind it with the next number.
func (p *passageUnits) isWithinSteps(start, at int) bool {
	next := at
	for next < len(p.units) && next-at < longStep && p.units[next].kind != item {
		next++
	}
	if next == len(p.units) || p.units[next].kind != item {
		return false
	}
	for before := at - 1; before >= start; before-- {
		if u := p.units[before]; u.kind == item && u.indent == p.units[next].indent {
			number := stepNumber(u.Text)
			return number > 0 && stepNumber(p.units[next].Text) == number+1
		}
	}
	return false
}

// longStep is how many sentences and blocks a step may have behind its first.
const longStep = 6

// stepNumber is the number of a step, 0 for what is none.
func stepNumber(text string) int {
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return number
}

// block gives the wholes of a list, table or code with what announces it.
func (p *passageUnits) block(lead, start, end int) []whole {
	var with []int
	if lead >= 0 {
		with = []int{lead}
	}
	if p.isContents(start, end) || p.isFurtherReading(start, end) {
		return nil
	}
	if lead > 0 && p.leansOnNeighbour(lead) {
		with = []int{lead - 1, lead}
	}
	all := p.whole(append(with, sequence(start, end)...)...)
	switch p.units[start].kind {
	case code:
		if all.length <= longCode+200 {
			if lead >= 0 && !announces(p.units[lead].Text) && !asks(p.units[lead].Text) {
				return []whole{all, p.whole(lead)}
			}
			return []whole{all}
		}
		if lead >= 0 && !announces(p.units[lead].Text) && !asks(p.units[lead].Text) {
			return []whole{p.whole(lead)}
		}
		return nil
	case row:
		if end-start < 3 || all.length <= p.longest(longTable) && !p.hasEntry(start, end) {
			return []whole{all}
		}
		var wholes []whole
		for i := start + 1; i < end; i++ {
			wholes = append(wholes, p.whole(start, i))
		}
		return wholes
	}
	if all.length <= p.longest(longList) && !p.hasEntry(start, end) {
		return []whole{all}
	}
	return p.longList(with, start, end)
}

// hasEntry tells whether a table or list has an entry for what the question asks the meaning of: that
// is quoted without the others.
func (p *passageUnits) hasEntry(start, end int) bool {
	return p.defining && slices.ContainsFunc(p.units[start:end], func(u unit) bool { return entryTerm[u.kind] != nil && u.defines >= definesFrom })
}

// sectionLink matches an item that is a link to a section of its own page, and nothing else.
var sectionLink = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+\[[^\]]*\]\(#[^)\s]*\)\W*$`)

// isContents tells whether a list is a page's table of contents.
func (p *passageUnits) isContents(start, end int) bool {
	return end-start > 1 && !slices.ContainsFunc(p.units[start:end], func(u unit) bool { return !sectionLink.MatchString(u.Text) })
}

// linkAlone matches an item that is a link, and nothing else.
var linkAlone = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+\[[^\]]*\]\([^)\s]*\)\W*$`)

// isFurtherReading tells whether a list only links to other pages, and to none that is named for
// what is asked.
func (p *passageUnits) isFurtherReading(start, end int) bool {
	return !p.listed && !slices.ContainsFunc(p.units[start:end], func(u unit) bool { return u.covered >= pageAsked || !linkAlone.MatchString(u.Text) })
}

// pageAsked is how much of a question the label of a link holds that leads to what is asked for.
const pageAsked = 0.6

// leansOnNeighbour tells whether what announces a block can't be read without the sentence in front
// of it, which is short.
func (p *passageUnits) leansOnNeighbour(at int) bool {
	return p.leans(at) && pronoun.MatchString(p.units[at].Text) && len(p.units[at-1].Text) <= longBefore
}

// longest is up to how many characters a list or table is taken whole: twice as many where the
// question asks for one.
func (p *passageUnits) longest(usual int) int {
	if p.listed {
		return 2 * usual
	}
	return usual
}

// longList gives the beginning of numbered steps, and each entry of other lists with
// what announces it.
func (p *passageUnits) longList(with []int, start, end int) []whole {
	if isOrdered(p.units[start].Text) {
		length := 0
		stop := start
		for stop < end && (length < longSteps || p.units[stop].kind == code) {
			length += len(p.units[stop].Text)
			stop++
		}
		return []whole{p.whole(append(with, sequence(start, stop)...)...)}
	}
	var wholes []whole
	for i := start; i < end; {
		next := i + 1
		for next < end && (p.units[next].kind == code || p.units[next].indent > p.units[i].indent) {
			next++
		}
		wholes = append(wholes, p.whole(append(append([]int(nil), with...), sequence(i, next)...)...))
		i = next
	}
	return wholes
}

func isOrdered(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9'
}

func sequence(from, to int) []int {
	var all []int
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// whole makes a whole of units.
func (p *passageUnits) whole(at ...int) whole {
	w := whole{passage: p.passage, units: at, first: at[0], last: at[len(at)-1], set: make(support.Set)}
	for _, i := range at {
		u := p.units[i]
		w.length += u.length + 1
		w.best = max(w.best, u.chance)
		w.sum += u.chance
		maps.Copy(w.set, u.set)
	}
	w.about = maps.Clone(p.titles)
	maps.Copy(w.about, w.set)
	return w
}
