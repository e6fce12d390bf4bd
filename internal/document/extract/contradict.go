package extract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cairn/internal/document/evidence"
	"cairn/internal/knowledge/lexical"
)

// Two sentences contradict each other, as far as rules can tell, where they have nearly
// the same words but another number before the same unit, or one of them has a "not".
const (
	sameButNumber = 0.6 // of the words of both
	sameButNot    = 0.9
	fewestShared  = 3
	// maxTogether is how many sentences with the same rare word are compared.
	maxTogether = 40
	// maxCompared is how many pairs of sentences are compared in all.
	maxCompared = 2_000_000
)

var (
	quantityPattern = regexp.MustCompile(`(?i)(?:^|[^\w.])([$€£]?\d[\d,.]*)\s?(` + unit + `)?(?:[^\w.]|[.]\W|[.]?$)`)
	negationPattern = regexp.MustCompile(`(?i)\b(?:not|never|no longer|cannot|can't|don't|doesn't|isn't|aren't|won't|without)\b`)
)

// comparedSentence is a sentence as it is compared.
type comparedSentence struct {
	at         int
	words      map[string]bool   // without numbers
	quantities map[string]string // by their units
	exact      map[string]bool   // versions, names of things and other words with digits
	negated    bool
}

// findContradictions returns pairs of sentences in different sections that contradict each
// other. Each sentence is compared with those that share one of its rarest words.
func (c *Corpus) findContradictions() []evidence.Statement {
	together := make(map[string][]comparedSentence)
	var statements []evidence.Statement
	compared := 0
	for i, s := range c.sentences {
		mine := readSentence(i, s)
		if len(mine.words) < fewestShared {
			continue
		}
		met := make(map[int]bool)
		for _, term := range c.rarestWords(mine.words) {
			for _, other := range together[term] {
				if met[other.at] || compared == maxCompared {
					continue
				}
				met[other.at] = true
				compared++
				if c.sentences[other.at].Place != s.Place && areContradictory(mine, other) {
					statements = append(statements, c.pairStatement(other.at, i))
				}
			}
			if len(together[term]) < maxTogether {
				together[term] = append(together[term], mine)
			}
		}
	}
	return statements
}

func (c *Corpus) pairStatement(a, b int) evidence.Statement {
	one, two := c.sentences[a], c.sentences[b]
	return evidence.Statement{
		Text:   fmt.Sprintf("“%s” but also “%s”", strings.TrimRight(one.Text, " "), strings.TrimRight(two.Text, " ")),
		Places: []evidence.Place{one.Place, two.Place},
	}
}

func readSentence(at int, s evidence.Sentence) comparedSentence {
	t := comparedSentence{
		at: at, words: make(map[string]bool), quantities: make(map[string]string), exact: make(map[string]bool),
		negated: negationPattern.MatchString(s.Text),
	}
	counted := make(map[string]bool)
	for _, found := range quantityPattern.FindAllStringSubmatch(s.Text, -1) {
		value, of := strings.Trim(found[1], ".,"), strings.TrimSuffix(strings.ToLower(found[2]), "s")
		if strings.IndexAny(value, "$€£") == 0 {
			of = "money"
		}
		if of == "" {
			continue
		}
		for _, term := range lexical.Analyze(value) {
			counted[term] = true
		}
		if _, ok := t.quantities[of]; ok {
			value = "" // several of one unit: none to compare
		}
		t.quantities[of] = value
	}
	for _, term := range s.Terms {
		switch {
		case strings.IndexFunc(term, isDigit) < 0:
			if !negationPattern.MatchString(term) {
				t.words[term] = true
			}
		case !counted[term]:
			t.exact[term] = true
		}
	}
	return t
}

// rarestWords returns the words by which sentences that may contradict each other are found.
func (c *Corpus) rarestWords(words map[string]bool) []string {
	all := make([]string, 0, len(words))
	for word := range words {
		all = append(all, word)
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := c.holding[a] - c.holding[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	// What stands in one sentence alone leads to no other.
	all = slices.DeleteFunc(all, func(word string) bool { return c.holding[word] < 2 })
	return all[:min(len(all), 3)]
}

func areContradictory(a, b comparedSentence) bool {
	if !maps.Equal(a.exact, b.exact) {
		return false // of two versions, or two things
	}
	shared := 0
	for word := range a.words {
		if b.words[word] {
			shared++
		}
	}
	if shared < fewestShared {
		return false
	}
	alike := float64(shared) / float64(len(a.words)+len(b.words)-shared)
	if a.negated != b.negated {
		return alike >= sameButNot && sameQuantities(a, b)
	}
	return alike >= sameButNumber && quantitiesDiffer(a, b)
}

func quantitiesDiffer(a, b comparedSentence) bool {
	for unit, value := range a.quantities {
		other, ok := b.quantities[unit]
		if ok && value != "" && other != "" && value != other {
			return true
		}
	}
	return false
}

func sameQuantities(a, b comparedSentence) bool { return !quantitiesDiffer(a, b) }
