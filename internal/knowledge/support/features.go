package support

import (
	"math"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// Features are numbers about a claim and what it cites, by name.
type Features map[string]float64

// The names of features. Those of a claim in another language than its evidence are apart: all
// that such a claim shares with it are names, numbers and code.
const (
	featureAlways   = "always"
	featureProduct  = "product"      // part that the few best sentences hold, times that of names and numbers
	featureExact    = "exact"        // part of its names, numbers and code that are missing
	featureMissing  = "missing"      // part of the weight of its words that no sentence holds
	featureBest     = "best"         // part of that weight that one sentence holds, words with synonyms counting less
	featureNear     = "near"         // that three sentences behind each other hold
	featureLength   = "length"       // how much it asserts
	featureLong     = "long"         // the same, squared
	featureCode     = "code"         // it is a code block
	featureNumber   = "number"       // the best sentence lacks one of its numbers
	featureTurned   = "turned"       // signs of another meaning: a "not" more or less, the opposite of a word
	featureDenying  = "denying"      // it has a "not": other words for a source need one more often than an error makes one
	featureLast     = "last"         // the best sentence lacks its last word, where errors in the source's own words stand
	featureOpposed  = "opposed"      // the best sentence has the opposite of one of its words, times what that holds
	featureReplaced = "replaced"     // in the best sentence another word stands between the same words, times what it shares
	featureReversed = "reversed"     // part of its words in another order beside "before", "over" and the like
	featureDisorder = "disorder"     // part of its words in another order
	featureTurnedUp = "turned, held" // the signs of another meaning, times what the best sentence holds, squared
	featureOnly     = "only"         // the best sentence says "only" or "unless", and it does not
	featureNumbers  = "numbers"      // two sentences behind each other lack one of its numbers

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
	held       float64
	most       float64   // part that one statement holds
	rarity     []float64 // weights of what is asserted, higher for what few statements hold
	telling    []float64 // the same, lower for words that have synonyms
	window     int       // position of the two statements that hold the most of that weight
	nearest    int       // of the one that does
}

func measureClaim(claim string, evidence []statement) measured {
	m := measured{statements: evidence}
	m.asserted, m.whole = readStatement(claim)
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
		m.most = max(m.most, gain/sum)
		m.held += gain / sum
		for i, a := range m.asserted {
			if a.isIn(m.statements[at]) {
				left[i] = 0
			}
		}
	}
	m.rarity = m.weighRarity()
	m.telling = slices.Clone(m.rarity)
	for i, a := range m.asserted {
		if !a.exact && len(a.keys) > 1 {
			m.telling[i] *= commonWeight
		}
	}
	m.nearest, _ = m.findDensest(1, m.telling)
	m.window, _ = m.findDensest(2, m.telling)
	return m
}

// weighRarity weighs what is asserted: more what few sentences of the evidence hold.
func (m measured) weighRarity() []float64 {
	weights := make([]float64, len(m.asserted))
	for i, a := range m.asserted {
		count := 0
		for _, s := range m.statements {
			if a.isIn(s) {
				count++
			}
		}
		weights[i] = a.weight() * math.Log(1+float64(len(m.statements)+1)/float64(count+1))
	}
	return weights
}

// findDensest gives the position of the statements behind each other that hold the most of the
// weight, and the part that they hold.
func (m measured) findDensest(size int, weights []float64) (at int, part float64) {
	for i := range m.statements {
		if held := m.heldBy(m.statements[i:min(len(m.statements), i+size)], weights); held > part {
			at, part = i, held
		}
	}
	return at, part
}

// heldBy is the part of the weight of what is asserted that statements hold.
func (m measured) heldBy(statements []statement, weights []float64) float64 {
	held, sum := 0.0, 0.0
	for i, a := range m.asserted {
		sum += weights[i]
		if slices.ContainsFunc(statements, a.isIn) {
			held += weights[i]
		}
	}
	return held / math.Max(sum, leastWeight)
}

// leastWeight keeps divisions from zero.
const leastWeight = 1e-9

// nearStatements are the two statements behind each other that hold the most.
func (m measured) nearStatements() []statement {
	return m.statements[m.window:min(len(m.statements), m.window+2)]
}

// computeFeatures gives the numbers by which a claim is judged.
func (m measured) computeFeatures(claim string, evidence *Evidence) Features {
	f := Features{featureAlways: 1}
	if m.held < mostlyHeld && isForeign(claim, evidence) {
		there, gone := m.countSigns()
		f[featureForeign], f[featureForeignMiss], f[featureForeignSure] = 1, gone/max(there+gone, 1), math.Log1p(there)/2
		if len(m.best) > 0 && m.statements[m.best[0]].deniesOtherwise(m.whole) {
			f[featureForeignNot] = 1
		}
		return f
	}
	if len(m.statements) == 0 {
		return f
	}
	f[featureExact] = m.exactMissing(m.statements)
	f[featureProduct] = m.held * (1 - m.exactMissing(m.bestStatements()))
	f[featureMissing] = 1 - m.heldBy(m.statements, m.rarity)
	_, f[featureBest] = m.findDensest(1, m.telling)
	_, f[featureNear] = m.findDensest(3, m.rarity)
	f[featureLength] = math.Log1p(float64(len(m.asserted))) / 3
	f[featureLong] = f[featureLength] * f[featureLength]
	if strings.HasPrefix(claim, "```") || strings.HasPrefix(claim, "~~~") {
		f[featureCode] = 1
	}
	best := m.statements[m.nearest]
	f[featureNumber] = indicator(slices.ContainsFunc(m.asserted, func(a assertion) bool { return strings.HasPrefix(a.keys[0], "#") && !a.isIn(best) }))
	f[featureNumbers] = indicator(slices.ContainsFunc(m.asserted, func(a assertion) bool {
		return strings.HasPrefix(a.keys[0], "#") && !slices.ContainsFunc(m.nearStatements(), a.isIn)
	}))
	f[featureDenying] = indicator(m.whole.negated)
	f[featureLast] = indicator(!m.asserted[len(m.asserted)-1].isIn(best))
	m.addContrasts(f)
	return f
}

func (m measured) bestStatements() []statement {
	var best []statement
	for _, i := range m.best {
		best = append(best, m.statements[i])
	}
	return best
}

// exactMissing is the part of the claim's names, numbers and code that statements lack.
func (m measured) exactMissing(statements []statement) float64 {
	exact, missing := 0.0, 0.0
	for _, a := range m.asserted {
		if !a.exact {
			continue
		}
		exact++
		if !slices.ContainsFunc(statements, a.isIn) {
			missing++
		}
	}
	return missing / max(exact, 1)
}

// countSigns counts the numbers and code words of a claim that its evidence has and has not: they are
// the same in every language, other than words with a capital letter.
func (m measured) countSigns() (there, gone float64) {
	for _, a := range m.asserted {
		switch {
		case !a.exact || !strings.ContainsAny(a.written, "-_./0123456789"):
		case slices.ContainsFunc(m.statements, a.isIn):
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

// isForeign says whether a claim is in another language than its evidence.
func isForeign(claim string, evidence *Evidence) bool {
	said := language.Detect(claim)
	if said == language.Unknown {
		return false
	}
	counts := evidence.languages()
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

func countLanguages(sentences []string) map[language.Tag]int {
	counts := make(map[language.Tag]int)
	for _, sentence := range sentences[:min(len(sentences), maxDetected)] {
		counts[language.Detect(sentence)]++
	}
	return counts
}

// maxDetected is how many sentences tell the language of evidence.
const maxDetected = 12

func (a assertion) weight() float64 {
	if a.exact {
		return exactWeight
	}
	return 1
}

func indicator(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// stemWords gives the stems of words, in their order.
func stemWords(list string) []string {
	var found []string
	for _, word := range lexical.Words(list) {
		found = append(found, lexical.Stem(word.Text))
	}
	return found
}
