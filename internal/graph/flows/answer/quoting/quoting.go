// Package quoting chooses what an answer quotes. It cuts passages into wholes, such as a
// sentence, the steps of a list or code with the sentence that introduces it, estimates
// for each sentence how likely it states what was asked for, and takes the wholes that
// tell the most for their length. The estimate is a logistic model over features of the
// sentence, its place and the question; its weights are fitted on question sets.
//
// Reading order: quoting.go, define.go, wholes.go, features.go, model.go, fit.go.
package quoting

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// Question is what the quotes are to answer.
type Question struct {
	Text    string
	Profile support.Profile
	Intent  string // as words.Intent names it
	// Parts are the profiles of the questions that it consists of, where there are several.
	Parts []support.Profile
}

// Passage is evidence that may be quoted from.
type Passage struct {
	Document string // equal for passages of one document
	Title    string
	Headings []string
	Language language.Tag
	Text     string  // Markdown-flavoured, as parse gives it
	Score    float64 // of the search, comparable within one list
}

// Size is how much is quoted.
type Size struct {
	Passages   int     // at most that many are looked at
	Characters int     // quoted, more or less
	Floor      float64 // of a passage's score against the best one's, to be quoted at all
	Chance     float64 // that a quote behind the first one states what is asked for, at least
}

// Quote is a sentence or block to be quoted as it stands.
type Quote struct {
	Passage  int // position in the list of passages
	Position int // of the sentence in its passage, from 0
	Text     string
	Block    bool // code, a table row or a list item: stands on lines of its own
	Score    float64
	first    bool // of the whole that was chosen first
}

const (
	troubleshooting = "troubleshooting"
	definition      = "definition"
	summary         = "summary"
	list            = "list"
)

// Choose gives the quotes of an answer in the order in which they are read: the passage
// that answers best first.
func Choose(q Question, passages []Passage, size Size) []Quote {
	return choose(model, q, passages, size)
}

func choose(weights logistic.Weights, q Question, passages []Passage, size Size) []Quote {
	if q.Intent == list {
		size.Characters += size.Characters / listRoom
	}
	read := readPassages(weights, q, passages, size)
	return arrange(read, pick(q, read, size))
}

// readPassages scores the passages that are worth quoting.
func readPassages(weights logistic.Weights, q Question, passages []Passage, size Size) []passageUnits {
	read, features := describe(q, rank(q, passages, size))
	for i := range read {
		for j, f := range features[i] {
			read[i].units[j].chance = weights.Chance(logistic.Features(f))
			read[i].units[j].defines, read[i].units[j].covered = f[defines], f[coverage]
		}
		read[i].listed, read[i].defining = q.Intent == list, q.asksDefinition()
		if len(features[i]) > 0 {
			read[i].named = features[i][0][headingExact]
		}
		read[i].wholes = wholesOf(&read[i])
	}
	return read
}

// listRoom is the part of its size by which the answer to a question for a list is longer.
const listRoom = 2

// describe takes passages apart and gives the features of each sentence.
func describe(q Question, passages []ranked) ([]passageUnits, [][]features) {
	units := make([][]unit, len(passages))
	for i, p := range passages {
		units[i] = readUnits(q, p.Passage)
	}
	c := newContext(q, passages, units)
	read := make([]passageUnits, len(passages))
	described := make([][]features, len(passages))
	for i, p := range passages {
		read[i] = passageUnits{passage: i, position: p.position, units: units[i], titles: support.OfIn(p.Language, append([]string{p.Title}, p.Headings...)...)}
		described[i] = featuresOf(q, i, c, units[i])
	}
	return read, described
}

// selection is what is being chosen.
type selection struct {
	question Question
	chosen   []whole         // in the order of choice
	held     support.Set     // terms of all chosen
	left     int             // characters
	quoted   map[[2]int]bool // by passage and unit
	read     []passageUnits

	asksForWords, asksForMeaning bool
}

// chancesAdded and lengthAdded are those of a whole's units that are not quoted yet: two rows
// of a table share its header, and two items what announces them.
func (s *selection) chancesAdded(w whole) float64 {
	sum := 0.0
	for _, u := range s.unitsAdded(w) {
		sum += u.chance
	}
	return sum
}

func (s *selection) lengthAdded(w whole) int {
	length := 0
	for _, u := range s.unitsAdded(w) {
		length += u.length + 1
	}
	return length
}

func (s *selection) unitsAdded(w whole) []unit {
	var added []unit
	for _, at := range w.units {
		if !s.quoted[[2]int{w.passage, at}] {
			added = append(added, s.read[w.passage].units[at])
		}
	}
	return added
}

// pick takes wholes until the size is reached: first the one with the sentence that is
// the likeliest answer, then those that add the most for their length.
func pick(q Question, read []passageUnits, size Size) []whole {
	s := &selection{
		question: q, read: read, held: make(support.Set), quoted: make(map[[2]int]bool), left: size.Characters,
		asksForMeaning: q.asksDefinition(),
	}
	s.asksForWords = s.asksForMeaning || yesNo.MatchString(q.Text)
	var open []whole
	for _, p := range read {
		open = append(open, p.wholes...)
	}
	for s.left >= minRoom && len(s.chosen) < maxWholes || len(s.chosen) == 0 {
		best, value := -1, 0.0
		if len(s.chosen) > 0 {
			value = leastWorth
		}
		for i, w := range open {
			if !s.fits(w, size) {
				continue
			}
			if v := s.worth(w); v > value {
				best, value = i, v
			}
		}
		if best < 0 {
			break
		}
		if w := open[best]; !s.repeats(w) {
			s.take(w)
		}
		open = slices.Delete(open, best, best+1)
	}
	return s.chosen
}

// fits tells whether a whole may be chosen next: what leans on a sentence that is not quoted
// may not, and further ones need to be likely and to have room.
func (s *selection) fits(w whole, size Size) bool {
	switch {
	case w.leans && !s.quoted[[2]int{w.passage, w.first - 1}]:
		return false
	case len(s.chosen) == 0:
		return true
	case s.leavesDefinition(w) && !s.answersPart(w):
		return false
	case s.lengthAdded(w) > s.left+spare(size):
		return false
	}
	return w.best >= size.Chance || s.chancesAdded(w) >= listChance || s.answersPart(w) || s.asksNothingInParticular()
}

// leavesDefinition tells whether a whole leaves what a definition, which is chosen first, is about: the entry of a
// glossary says all, a sentence goes on in its section.
func (s *selection) leavesDefinition(w whole) bool {
	first := s.chosen[0]
	if !s.asksForMeaning || s.defines(first) < definesFrom || s.defines(w) >= definesFrom {
		return false
	}
	return w.passage != first.passage || s.read[first.passage].units[first.last].kind != prose
}

// asksNothingInParticular tells whether a question asks what there is: for a summary, or in
// words that nothing chosen holds.
func (s *selection) asksNothingInParticular() bool {
	return s.question.Intent == summary ||
		!slices.ContainsFunc(s.chosen, func(w whole) bool { return s.question.Profile.Coverage(w.set) > 0 })
}

func (s *selection) take(w whole) {
	s.left -= s.lengthAdded(w)
	s.chosen = append(s.chosen, w)
	for _, at := range w.units {
		s.quoted[[2]int{w.passage, at}] = true
	}
	maps.Copy(s.held, w.about)
}

const (
	// leastWorth is what a further whole has to add for its length.
	leastWorth = 0.0001
	// listChance is what the entries of a list, each too unlikely on its own, have together at
	// least.
	listChance = 0.09
	// maxWholes is how many wholes an answer quotes at most.
	maxWholes = 40
	// minRoom is the least room that a further whole is looked for, in characters.
	minRoom = 60
	// overhead is what each further whole costs a reader beside its characters.
	overhead = 40
	// remedyBonus is for what mends, behind a symptom in its section. besideShare is what other text counts
	// that goes on where a chosen whole ends, and sectionShare what stands elsewhere in its
	// section: where the section is the wrong one, all of it is.
	remedyBonus  = 1.6
	besideShare  = 0.8
	sectionShare = 0.4
	// quotedLength is after how many characters of a section the rest of it counts e times less.
	quotedLength = 1000
	// freshBonus is for what holds a word of the question that nothing chosen does, and
	// partBonus for what answers a part of it that nothing chosen does.
	freshBonus = 1.5
	partBonus  = 4
	// firstLength is up to where the first whole's length counts for nothing, longList from where it
	// does no more, and firstOverhead makes the rest of it count little.
	firstLength   = 120
	firstOverhead = 300
	// alike is the part of the shorter text's terms that two texts share which say the same.
	alike = 0.85
)

// spare is how far the last whole may go over the size.
func spare(size Size) int { return size.Characters / 4 }

// worth is what a whole adds for its length. For the first one only its best sentence
// counts: that is the one that has to answer.
func (s *selection) worth(w whole) float64 {
	if len(s.chosen) == 0 {
		value := w.best / float64(min(max(w.length, firstLength), longList)+firstOverhead)
		if s.asksForWords && s.showsCode(w) {
			value *= codeShare
		}
		if s.asksForMeaning {
			value *= 1 + s.defines(w)
		}
		if s.read[w.passage].units[w.first].isExample && !asksExample.MatchString(s.question.Text) {
			value *= exampleShare
		}
		if named := s.read[w.passage].named; named >= namedFrom && !s.asksForMeaning {
			value *= 1 + namedBonus*named
		}
		return value
	}
	return s.chancesAdded(w) * s.novelty(w) * s.shareBeside(w) / float64(s.lengthAdded(w)+overhead)
}

// namedFrom is how far a heading has to be what is asked for, word for word, so that the answer
// rather begins in its section.
const (
	namedFrom  = 0.6
	namedBonus = 1.5
)

// exampleShare is what a sentence of an example counts as the beginning of an answer: what is so
// there need not be so elsewhere.
const exampleShare = 0.5

var asksExample = regexp.MustCompile(`(?i)\b(examples?|samples?|instance|e\.g|beispiele?|exemples?|ejemplos?)\b`)

// codeShare is what code counts as the beginning of an answer to a question that words answer:
// what something is, or whether something is so.
const codeShare = 0.5

func (s *selection) showsCode(w whole) bool {
	return slices.ContainsFunc(w.units, func(at int) bool { return s.read[w.passage].units[at].kind == code })
}

// defines tells how far a sentence of a whole says what the words of the question are.
func (s *selection) defines(w whole) float64 {
	most := 0.0
	for _, at := range w.units {
		most = max(most, s.read[w.passage].units[at].defines)
	}
	return most
}

// mends tells whether a whole says what to do about a problem.
func (s *selection) mends(w whole) bool {
	return slices.ContainsFunc(w.units, func(at int) bool {
		u := s.read[w.passage].units[at]
		return u.kind != code && remedy.MatchString(u.plain)
	})
}

// shareBeside is what a whole counts beside those that are chosen of its passage. Where a
// question asks for nothing in particular, the passage found first goes on.
func (s *selection) shareBeside(w whole) float64 {
	if s.asksNothingInParticular() {
		return 1
	}
	quoted, share := 0, 1.0
	for _, c := range s.chosen {
		if c.passage != w.passage {
			continue
		}
		if quoted += c.length; quoted > c.length {
			continue // the one chosen first tells
		}
		switch {
		case s.question.Intent == troubleshooting && c.first < w.first && s.mends(w):
			share = remedyBonus
		case c.last+1 == w.first || w.last+1 == c.first:
			share = besideShare
		default:
			share = sectionShare
		}
	}
	return share * math.Exp(-float64(quoted)/quotedLength)
}

// arrange puts quotes in reading order: the first choice, then passages as they were
// first chosen from, and what is of one passage as it stands there.
func arrange(read []passageUnits, chosen []whole) []Quote {
	rank := make(map[int]int)
	known := make(map[[2]int]bool)
	var quotes []Quote
	for order, w := range chosen {
		if _, ranked := rank[w.passage]; !ranked {
			rank[w.passage] = order + 1
		}
		units := read[w.passage].units
		outer, level := outerIndent(units, w), -1
		for _, at := range w.units {
			if known[[2]int{w.passage, at}] {
				continue
			}
			known[[2]int{w.passage, at}] = true
			u := units[at]
			text := u.Text
			if u.kind == item {
				level = min(level+1, (max(0, u.indent-outer)+1)/2) // below one that is quoted
				text = strings.Repeat(" ", itemIndent*level) + text
			}
			quotes = append(quotes, Quote{Passage: w.passage, Position: at, Text: text, Block: u.Block, Score: u.chance, first: order == 0})
		}
	}
	inOrder := func(a, b Quote) int {
		return cmp.Or(cmp.Compare(rank[a.Passage], rank[b.Passage]), cmp.Compare(a.Position, b.Position))
	}
	slices.SortStableFunc(quotes, inOrder)
	if lengthBeforeFirst(quotes) > shortBefore {
		slices.SortStableFunc(quotes, func(a, b Quote) int {
			return cmp.Or(cmp.Compare(b.order(), a.order()), inOrder(a, b))
		})
	}
	for i := range quotes {
		quotes[i].Passage = read[quotes[i].Passage].position
	}
	return quotes
}

// itemIndent is by how many spaces a list in a list is indented, where parse writes two: as many
// as stand below the text of a numbered item as well.
const itemIndent = 4

// shortBefore is how many characters of its passage may stand in front of the first
// choice: as much as a reader gets over.
const shortBefore = 160

func lengthBeforeFirst(quotes []Quote) int {
	length := 0
	for _, q := range quotes {
		if q.first {
			break
		}
		length += utf8.RuneCountInString(q.Text)
	}
	return length
}

func (q Quote) order() int {
	if q.first {
		return 1
	}
	return 0
}

// outerIndent is the least indent of a whole's list items.
func outerIndent(units []unit, w whole) int {
	least := -1
	for _, at := range w.units {
		if units[at].kind == item && (least < 0 || units[at].indent < least) {
			least = units[at].indent
		}
	}
	return max(least, 0)
}

// novelty is more than 1 for a whole that says something of the question which nothing
// chosen says.
func (s *selection) novelty(w whole) float64 {
	bonus := 1.0
	if s.answersPart(w) {
		bonus = partBonus
	}
	for _, term := range s.question.Profile.Terms {
		if term.Holds(w.set) && !term.Holds(s.held) {
			return bonus * freshBonus
		}
	}
	return bonus
}

// answersPart tells whether a whole answers a part of a double question that nothing chosen
// does: by what it says, or by standing in a section that is named for it.
func (s *selection) answersPart(w whole) bool {
	return slices.ContainsFunc(s.question.Parts, func(part support.Profile) bool {
		if part.Coverage(w.about) < partAnswered {
			return false
		}
		return part.Coverage(s.held) < partAnswered || s.isNamedFor(w, part) &&
			!slices.ContainsFunc(s.chosen, func(c whole) bool { return s.isNamedFor(c, part) })
	})
}

// isNamedFor tells whether the section of a whole is named for a part of the question.
func (s *selection) isNamedFor(w whole, part support.Profile) bool {
	return part.Coverage(s.read[w.passage].titles) >= partAnswered
}

// partAnswered is how much of a part's weight a text holds that answers it.
const partAnswered = 0.6

// repeats says whether a whole says nearly what one chosen says.
func (s *selection) repeats(w whole) bool {
	if len(w.set) == 0 {
		return true
	}
	for _, c := range s.chosen {
		if c.passage == w.passage && slices.ContainsFunc(w.units, func(at int) bool { return slices.Contains(c.units, at) }) {
			continue // it goes on from there
		}
		shared := 0
		for term := range w.set {
			if c.set.Has(term) {
				shared++
			}
		}
		if float64(shared) >= alike*float64(min(len(w.set), len(c.set))) && 2*shared >= max(len(w.set), len(c.set)) {
			return true
		}
	}
	return false
}

func announces(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "*_`")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}
