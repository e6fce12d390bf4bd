package support

import (
	"math"
	"slices"
	"strings"

	"cairn/internal/knowledge/lexical"
	"cairn/internal/language"
)

// Features are numbers about a claim and what it cites, by name.
type Features map[string]float64

// The names of features. Those of a claim in another language than its evidence are apart: all
// that such a claim shares with it are names, numbers and code. Those of a claim about a whole
// page begin with "page ".
const (
	featureAlways      = "always"
	featureBest        = "best"    // part of the claim's weight that the best sentence holds
	featurePairs       = "pairs"   // part of its neighbouring words that stand together in a sentence
	featureExact       = "exact"   // part of its names, numbers and code that are missing
	featureTurned      = "turned"  // signs that its words are those of the evidence, and its meaning another
	featureProduct     = "product" // part that the few best sentences hold, times that of names and numbers
	featureLength      = "length"  // how much it asserts
	featureForeign     = "foreign" // it is in another language
	featureForeignMiss = "foreign missing"
	featureForeignSure = "foreign sure"   // how many names, numbers and code words are there
	featureForeignNot  = "foreign denied" // the sentence with most of them has a "not" more or less
)

// measured is a claim beside its evidence.
type measured struct {
	asserted   []assertion
	whole      statement
	statements []statement
	best       []int // statements that hold the most, best first
	shares     []float64
	held       float64
}

func measureClaim(claim string, evidence []string) measured {
	m := measured{statements: make([]statement, len(evidence))}
	m.asserted, m.whole = read(claim)
	for i, sentence := range evidence {
		_, m.statements[i] = read(sentence)
	}
	left := make([]float64, len(m.asserted))
	sum := 0.0
	for i, a := range m.asserted {
		left[i] = a.weight()
		sum += left[i]
	}
	if sum == 0 {
		return m
	}
	for range bestSentences {
		at, gain := mostOf(m.asserted, left, m.statements)
		if gain == 0 {
			break
		}
		m.best = append(m.best, at)
		m.shares = append(m.shares, gain/sum)
		m.held += gain / sum
		for i, a := range m.asserted {
			if a.in(m.statements[at]) {
				left[i] = 0
			}
		}
	}
	return m
}

// features gives the numbers by which a claim is judged.
func (m measured) features(claim string, evidence []string) Features {
	f := Features{featureAlways: 1}
	exact, missing := 0.0, 0.0
	for _, a := range m.asserted {
		if !a.exact {
			continue
		}
		exact++
		if !slices.ContainsFunc(m.statements, a.in) {
			missing++
		}
	}
	part := missing / max(exact, 1)
	if m.held < mostlyHeld && foreign(claim, evidence) {
		there, gone := m.signs()
		f[featureForeign], f[featureForeignMiss], f[featureForeignSure] = 1, gone/max(there+gone, 1), math.Log1p(there)/2
		if len(m.best) > 0 && m.statements[m.best[0]].negated != m.whole.negated {
			f[featureForeignNot] = 1
		}
		return f
	}
	f[featureExact], f[featurePairs] = part, m.pairs()
	if len(evidence) > wholePage {
		f[featureProduct], f[featureLength] = m.product(), math.Log1p(float64(len(m.asserted)))/3
		paged := make(Features, len(f))
		for name, value := range f {
			paged["page "+name] = value
		}
		return paged
	}
	if len(m.shares) > 0 {
		f[featureBest] = m.shares[0]
		f[featureTurned] = m.turned()
	}
	return f
}

// signs counts the numbers and code words of a claim that its evidence has and has not: they are
// the same in every language, other than words with a capital letter.
func (m measured) signs() (there, gone float64) {
	for _, a := range m.asserted {
		switch {
		case !a.exact || !strings.ContainsAny(a.written, "-_./0123456789"):
		case slices.ContainsFunc(m.statements, a.in):
			there++
		default:
			gone++
		}
	}
	return there, gone
}

const (
	// wholePage is from how many sentences on evidence is a page rather than a section: claims
	// find all their words somewhere in it.
	wholePage = 60
	// mostlyHeld is the part of a claim that evidence in another language can't hold.
	mostlyHeld = 0.6
)

// product is what the best sentences hold, times the part of the names and numbers that they do.
func (m measured) product() float64 {
	exact, missing := 0.0, 0.0
	for _, a := range m.asserted {
		if !a.exact {
			continue
		}
		exact++
		if !slices.ContainsFunc(m.best, func(i int) bool { return a.in(m.statements[i]) }) {
			missing++
		}
	}
	if exact == 0 {
		return m.held
	}
	return m.held * (1 - missing/exact)
}

// pairs is the part of the claim's neighbouring words that stand together in a sentence of the
// evidence, in their order.
func (m measured) pairs() float64 {
	words := m.whole.order
	if len(words) < 2 {
		return m.held
	}
	held := 0
	for i := range len(words) - 1 {
		if slices.ContainsFunc(m.statements, func(s statement) bool { return s.follows(words[i], words[i+1]) }) {
			held++
		}
	}
	return float64(held) / float64(len(words)-1)
}

// follows says whether one word stands in a statement shortly behind another.
func (s statement) follows(first, second string) bool {
	for i, word := range s.order {
		if word != first {
			continue
		}
		for _, next := range s.order[i+1 : min(len(s.order), i+1+pairDistance)] {
			if next == second {
				return true
			}
		}
	}
	return false
}

// pairDistance is how far behind each other two words may stand.
const pairDistance = 3

// turned looks for words that turn the meaning of the best sentences around, 0 to 1.
func (m measured) turned() float64 {
	signs := m.deniedApart()
	if m.statements[m.best[0]].negated != m.whole.negated {
		signs++
	}
	near := make(Set)
	for _, i := range m.best[:min(len(m.best), 2)] {
		for word := range m.statements[i].all {
			near[word] = struct{}{}
		}
	}
	for word := range m.whole.all {
		if near.Has(word) {
			continue
		}
		opposed := slices.ContainsFunc(opposites[word], func(other string) bool { return near.Has(other) && !m.whole.all.Has(other) })
		if opposed || strongWords[word] {
			signs++
		}
	}
	return float64(min(signs, maxSigns)) / maxSigns
}

// maxSigns is how many signs of another meaning count.
const maxSigns = 2

// deniedApart counts the words that a "not" denies in the claim alone, or in its best sentences
// alone.
func (m measured) deniedApart() int {
	apart := 0
	for _, word := range m.whole.order {
		same, other := false, false
		for _, i := range m.best {
			if s := m.statements[i]; s.set.Has(word) {
				denied := s.denied.Has(word) == m.whole.denied.Has(word)
				same, other = same || denied, other || !denied
			}
		}
		if other && !same {
			apart++
		}
	}
	return apart
}

// foreign says whether a claim is in another language than its evidence.
func foreign(claim string, evidence []string) bool {
	said := language.Detect(claim)
	if said == language.Unknown {
		return false
	}
	counts := make(map[language.Tag]int)
	for _, sentence := range evidence[:min(len(evidence), maxDetected)] {
		counts[language.Detect(sentence)]++
	}
	if counts[said] > 0 {
		return false
	}
	for tag, count := range counts {
		if tag != language.Unknown && tag != said && count > 0 {
			return true
		}
	}
	return said != language.English
}

// maxDetected is how many sentences tell the language of evidence.
const maxDetected = 12

func (a assertion) weight() float64 {
	if a.exact {
		return exactWeight
	}
	return 1
}

// strongWords make a statement stronger than its source where that lacks them.
var strongWords = plainSet(`only always never all every any each none must no not cannot without just exactly automatically
	required guaranteed immediately both either also too even already same once most least`)

func plainSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range lexical.Words(list) {
		set[word.Text] = true
	}
	return set
}
