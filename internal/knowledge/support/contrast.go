package support

import (
	"math"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// addContrasts adds the features that tell a claim from evidence with nearly the same words: what
// is denied, opposed, replaced or put in another order.
func (m measured) addContrasts(f Features) {
	best := m.statements[m.nearest]
	f[featureTurned] = m.measureTurned()
	if m.isOpposedBy([]statement{best}) {
		f[featureOpposed] = f[featureBest]
	}
	aligned := m.alignWith(best)
	if aligned.replaced {
		f[featureReplaced] = aligned.common
	}
	if slices.ContainsFunc(directed, m.whole.all.Has) {
		f[featureReversed] = aligned.disorder
	}
	f[featureDisorder] = aligned.disorder
	f[featureTurnedUp] = f[featureTurned] * f[featureBest] * f[featureBest]
	f[featureOnly] = indicator(slices.ContainsFunc(restricting, best.all.Has) && !slices.ContainsFunc(restricting, m.whole.all.Has))
}

// restricting are words that make a statement one about a part.
var restricting = stemWords("only unless except solely exclusively just")

// directed are words that mean another thing where those around them change places.
var directed = stemWords(`before after over than override overrides from to into instead favored favoured prefer parent rather by
	above below until precedence convert converts replace replaces against`)

// measureTurned counts the signs that the best sentences mean another thing, 0 to 1.
func (m measured) measureTurned() float64 {
	near := append([]statement{m.statements[m.nearest]}, m.nearStatements()...)
	signs := min(m.deniedApart(), maxSigns)
	if m.statements[m.nearest].deniesOtherwise(m.whole) {
		signs++
	}
	if m.isOpposedBy(near) {
		signs++
	}
	return float64(min(signs, maxSigns)) / maxSigns
}

// maxSigns is how many signs of another meaning count.
const maxSigns = 2

// isOpposedBy says whether statements lack a word of the claim and have its opposite instead.
func (m measured) isOpposedBy(statements []statement) bool {
	has := func(word string) bool {
		return slices.ContainsFunc(statements, func(s statement) bool { return s.all.Has(word) })
	}
	for word := range m.whole.all {
		if !has(word) && !hasSynonym(statements, word) && slices.ContainsFunc(opposites[word], func(other string) bool { return has(other) && !m.whole.all.Has(other) }) {
			return true
		}
	}
	return false
}

// hasSynonym says whether statements have a word for the same thing.
func hasSynonym(statements []statement, stem string) bool {
	return slices.ContainsFunc(lexical.Synonyms(stem), func(group string) bool {
		return slices.ContainsFunc(statements, func(s statement) bool { return s.set.Has(group) })
	})
}

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

// alignment is how the telling words of a claim and of a statement stand beside each other.
type alignment struct {
	common   float64 // part of the claim's words that stand in both in the same order
	disorder float64 // part that stands in both in another order
	replaced bool    // between words of both, others of the evidence stand in place of the statement's
}

// How many words of a claim, and of a statement, may stand in place of each other.
const (
	maxReplaced  = 3
	maxReplacing = 4
)

// alignWith compares the words of a claim with those of a statement by their longest common
// subsequence.
func (m measured) alignWith(s statement) alignment {
	said, source := m.whole.order[:min(len(m.whole.order), maxAligned)], s.order[:min(len(s.order), maxAligned)]
	table := commonLengths(said, source)
	matched := 0
	for _, word := range said {
		if slices.Contains(source, word) {
			matched++
		}
	}
	length := math.Max(float64(len(said)), 1)
	made := alignment{common: float64(table[0][0]) / length, disorder: float64(matched-table[0][0]) / length}
	for i, j := 0, 0; i < len(said) && j < len(source); i, j = i+1, j+1 {
		fromSaid, fromSource := i, j
		for i < len(said) && j < len(source) && said[i] != source[j] {
			if table[i+1][j] >= table[i][j+1] {
				i++
			} else {
				j++
			}
		}
		if i == len(said) || j == len(source) {
			i, j = len(said), len(source)
		}
		m.compareGap(&made, said[fromSaid:i], source[fromSource:j])
	}
	return made
}

// maxAligned is how many words of a statement are compared.
const maxAligned = 200

// compareGap compares what stands between two common words of a claim and a statement.
func (m measured) compareGap(made *alignment, said, source []string) {
	if len(said) == 0 || len(source) == 0 || len(said) > maxReplaced || len(source) > maxReplacing {
		return
	}
	made.replaced = made.replaced || slices.ContainsFunc(said, func(word string) bool {
		return slices.ContainsFunc(m.statements, func(s statement) bool { return s.set.Has(word) })
	})
}

// commonLengths gives the lengths of the longest common subsequences of what is left of two
// lists, by where that begins.
func commonLengths(a, b []string) [][]int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
