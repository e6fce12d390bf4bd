package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// Two sentences contradict each other, as far as rules can tell, where they say the same of
// the same thing but for one value: a number with a unit, a version since which something
// is so, a default, or yes and no. How much of their words they share is weighed by how rare
// the words are.
const (
	// leastHeld is how much of the shorter sentence the longer one has, and leastAlike how
	// much of both they share, for another value.
	leastHeld, leastAlike = 0.7, 0.5
	// Where nearly all of the shorter one is held, the longer one may say much besides.
	nearlyHeld, heldAlike = 0.85, 0.3
	// surelyAlike is the same for yes and no, which stand in many sentences.
	surelyAlike = 0.7
	// conditionAlike is the same where both depend on something, which is to be the same, too.
	conditionAlike = 0.85
	// stateAlike is the same for two states of a thing that both name in code: "`x` is enabled".
	stateAlike   = 0.35
	fewestShared = 2
	fewestWords  = 3
	// fewestVersioned is how many words a sentence with a version has: a shorter one is a mark
	// on what stands beside it ("since 2.7").
	fewestVersioned = 4
	// maxTogether is how many sentences with the same rare word are compared.
	maxTogether = 60
	// maxCompared is how many pairs of sentences are compared in all.
	maxCompared = 2_000_000
	// rareWords is by how many of its rarest words a sentence is found.
	rareWords = 4
	// maxSpread is in how many sections a parameter may stand that is compared between lists:
	// one of many pages is of another thing on each.
	maxSpread = 3
)

// contradiction is a pair of sentences with how alike they are.
type contradiction struct {
	evidence.Statement
	alike float64
}

// findContradictions returns pairs of sentences in different sections that contradict each
// other, the most alike first. Each sentence is compared with those that share one of its
// rarest words.
func (c *Corpus) findContradictions() []evidence.Statement {
	together := make(map[string][]claim)
	spread := c.countParameters()
	var found []contradiction
	compared := 0
	for _, mine := range c.readClaims() {
		if len(mine.words) < fewestWords {
			continue
		}
		i, met := mine.at, make(map[int]bool)
		for _, term := range c.rarestWords(mine.words) {
			for _, other := range together[term] {
				if met[other.at] || compared == maxCompared || mine.row && other.row {
					continue
				}
				met[other.at] = true
				compared++
				if !c.areApart(other.at, i) || !c.isSameSubject(mine, other, spread) {
					continue
				}
				if alike, ok := c.contradict(mine, other); ok {
					found = append(found, contradiction{c.pairStatement(other.at, i), alike})
				}
			}
			if len(together[term]) < maxTogether {
				together[term] = append(together[term], mine)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b contradiction) int { return cmp.Compare(b.alike, a.alike) })
	statements := make([]evidence.Statement, len(found))
	for i, one := range found {
		statements[i] = one.Statement
	}
	return evidence.Distinct(statements, maxPlaces)
}

func (c *Corpus) pairStatement(a, b int) evidence.Statement {
	one, two := c.sentences[a], c.sentences[b]
	if two.Text < one.Text { // so that the same two sentences elsewhere are the same statement
		one, two = two, one
	}
	return evidence.Statement{
		Text:   fmt.Sprintf("“%s” but also “%s”", strings.TrimRight(one.Text, " "), strings.TrimRight(two.Text, " ")),
		Places: []evidence.Place{one.Place, two.Place},
	}
}

// readClaims returns what the sentences and the rows of tables state.
func (c *Corpus) readClaims() []claim {
	var claims []claim
	for i, s := range c.sentences {
		for _, one := range splitRow(s) {
			if read, ok := c.readClaim(i, one); ok {
				read.row = len(s.Cells) > 0
				claims = append(claims, read)
			}
		}
	}
	return claims
}

// splitRow returns the row of a table of two columns as a sentence: "first cell: column second cell". A wider one
// says several things. What is no row stays as it is.
func splitRow(s evidence.Sentence) []evidence.Sentence {
	if len(s.Cells) == 0 {
		return []evidence.Sentence{s}
	}
	if len(s.Columns) != len(s.Cells) || len(s.Cells) != 2 || len(evidence.Telling(s.Cells[0]+" "+s.Columns[1])) < 2 || strings.HasPrefix(s.Cells[0], "`") {
		return nil
	}
	s.Text = s.Cells[0] + ": " + s.Columns[1] + " " + s.Cells[1]
	return []evidence.Sentence{s}
}

// countParameters counts in how many sections a parameter of a list stands.
func (c *Corpus) countParameters() map[string]int {
	places := make(map[string]map[evidence.Place]bool)
	for _, s := range c.sentences {
		if name := parameterOf(s); name != "" {
			if places[name] == nil {
				places[name] = make(map[evidence.Place]bool)
			}
			places[name][s.Place] = true
		}
	}
	counts := make(map[string]int, len(places))
	for name, at := range places {
		counts[name] = len(at)
	}
	return counts
}

// areApart tells whether two sentences stand in different sections. Entries of lists in one
// document are of what is above them, each of something else.
func (c *Corpus) areApart(a, b int) bool {
	one, two := c.sentences[a], c.sentences[b]
	if one.Place == two.Place {
		return false
	}
	return one.Place.Document != two.Place.Document || !one.Item || !two.Item
}

// isSameSubject tells whether two sentences can be about the same thing: not where each
// names a thing that the other does not, and not where both are entries of lists of
// parameters of which there are many.
func (c *Corpus) isSameSubject(a, b claim, spread map[string]int) bool {
	if a.parameter != "" && b.parameter != "" && (a.parameter != b.parameter || spread[a.parameter] > maxSpread) {
		return false
	}
	if !slices.Equal(a.identity, b.identity) {
		return false // of two versions, or two things
	}
	if a.referring && b.referring || lacksOne(a.names, b) && lacksOne(b.names, a) {
		return false
	}
	return len(a.unnamedBy(b)) == 0 || len(b.unnamedBy(a)) == 0 || a.isDefault && b.isDefault
}

// lacksOne tells whether a claim has not all of some names, however it writes them.
func lacksOne(names []string, other claim) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(evidence.Telling(strings.ToLower(name)), func(term string) bool { return !other.words[senseOf(term)] })
	})
}

// rarestWords returns the words by which sentences that may contradict each other are found.
func (c *Corpus) rarestWords(words map[string]bool) []string {
	all := make([]string, 0, len(words))
	for word := range words {
		all = append(all, word)
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := c.senses[a] - c.senses[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	// What stands in one sentence alone leads to no other.
	all = slices.DeleteFunc(all, func(word string) bool { return c.senses[word] < 2 })
	return all[:min(len(all), rareWords)]
}

// likeness returns how much of the shorter of two sentences the other one has, by its words
// and those over it, how much of both they share, and how many words that is.
func (c *Corpus) likeness(a, b about) (held, alike float64, shared int) {
	mine, mineShared, count := c.heldBy(a, b)
	others, othersShared, _ := c.heldBy(b, a)
	if mine == 0 || others == 0 {
		return 0, 0, 0
	}
	held = mineShared / mine
	if others < mine {
		held = othersShared / others
	}
	both := (mineShared + othersShared) / 2
	return held, both / (mine + others - both), count
}

// heldBy weighs the words of a sentence, and those that another one has.
func (c *Corpus) heldBy(a, b about) (all, held float64, count int) {
	for word := range a.words {
		weight := lexical.IDF(len(c.sentences), max(c.senses[word], c.holding[word]))
		all += weight
		switch {
		case b.words[word]:
			held += weight
			count++
		case b.over[word]:
			held += weight
		}
	}
	return all, held, count
}

// contradict tells whether two sentences about the same thing differ in a value, and how
// alike they are otherwise.
func (c *Corpus) contradict(a, b claim) (alike float64, contradicts bool) {
	if (a.referring || b.referring) && a.negative != b.negative {
		return 0, false
	}
	if a.negative != b.negative {
		held, alike, shared := c.likeness(about{words: a.main}, about{words: b.main})
		if a.purposeful || b.purposeful || a.lacksDenied(b) || b.lacksDenied(a) {
			return alike, false
		}
		plain := a.conditional == b.conditional && (!a.conditional || alike >= conditionAlike) && a.polarities+b.polarities <= 2 && shared >= fewestWords && !a.valuesDiffer(b)
		enough := shared > fewestWords || a.isDefault && b.isDefault || len(a.things) > 0 && len(b.things) > 0
		return alike, plain && enough && (alike >= surelyAlike || held >= nearlyHeld && alike >= stateAlike && a.statesOpposite(b))
	}
	mine, theirs := a.words, b.words
	if a.defaultsDiffer(b) {
		mine, theirs = a.wordsWithout(a.unnamedBy(b)), b.wordsWithout(b.unnamedBy(a))
	}
	held, alike, shared := c.likeness(about{mine, a.over}, about{theirs, b.over})
	if a.substitutes(b) || a.settingsDiffer(b) || a.countsOtherwise(b) || b.countsOtherwise(a) {
		return alike, true
	}
	if a.order.isReverseOf(b.order) && alike >= leastAlike {
		return alike, true
	}
	if (a.referring || b.referring) && held < nearlyHeld {
		return alike, false
	}
	if shared < fewestShared || (held < leastHeld || alike < leastAlike) && (held < nearlyHeld || alike < heldAlike) {
		return alike, false
	}
	if a.defaultsDiffer(b) {
		return alike, true
	}
	if (a.row || b.row) && shared <= fewestShared {
		return alike, false
	}
	if min(len(a.words), len(b.words)) < fewestVersioned || c.isOfVersion(a.at) && c.isOfVersion(b.at) {
		delete(a.values, versionMeasure)
	}
	return alike, a.valuesDiffer(b)
}

// isOfVersion tells whether a sentence stands in a document, or under a heading, of a version:
// what is said there is of that one.
func (c *Corpus) isOfVersion(at int) bool {
	s := c.sentences[at]
	doc := c.set.Documents[s.Place.Document]
	return headingVersion.MatchString(doc.Name) || headingVersion.MatchString(doc.Title) || headingVersion.MatchString(s.Heading)
}
