package answer

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// compound are two words of a question that stand side by side: "retention time".
type compound struct {
	first, second map[string]bool // the terms that count as each
	weight        float64
}

const (
	// compoundWindow is how many terms apart the words of a compound may stand in a text.
	compoundWindow = 4
	// compoundPassages is how many passages are looked at for them.
	compoundPassages = 10
)

// shareApart is the part of a question's compounds, by weight, whose words stand side by side in
// none of the first passages, nor in their headings: pages that tell of groups and of policies
// tell nothing yet of group policies. 0 where the question has no compounds.
func shareApart(s State) float64 {
	compounds := compoundsOf(s.Query, s.Profile)
	if len(compounds) == 0 {
		return 0
	}
	apart, sum := 0.0, 0.0
	for _, c := range compounds {
		apart, sum = apart+c.weight, sum+c.weight
	}
	for _, e := range s.SearchResults[:min(len(s.SearchResults), compoundPassages)] {
		text := passageOf(e).Analyze().Text
		heading := lexical.AnalyzeIn(language.Parse(e.Document.Language), e.Document.Title+" "+strings.Join(e.Passage.Headings, " "))
		compounds = slices.DeleteFunc(compounds, func(c compound) bool {
			held := c.standsIn(heading) || c.standsIn(text)
			if held {
				apart -= c.weight
			}
			return held
		})
	}
	return clamp(apart/sum, 0, 1)
}

// compoundsOf gives the pairs of a question's telling words that stand side by side in it.
func compoundsOf(question string, p support.Profile) []compound {
	at := make(map[string]int)
	for i, term := range lexical.AnalyzeIn(language.Detect(question).Or(language.English), question) {
		if _, ok := at[term]; !ok {
			at[term] = i
		}
	}
	var compounds []compound
	for _, first := range p.Terms {
		for _, second := range p.Terms {
			before, ok := at[first.Text]
			if behind, known := at[second.Text]; ok && known && behind == before+1 {
				compounds = append(compounds, compound{countingAs(first), countingAs(second), first.IDF + second.IDF})
			}
		}
	}
	return compounds
}

// countingAs gives the terms that count as one of a question.
func countingAs(term support.Term) map[string]bool {
	set := map[string]bool{term.Text: true}
	for _, other := range slices.Concat(term.Also, words.Related(term.Text)) {
		set[other] = true
	}
	return set
}

// standsIn says whether the words of a compound stand side by side in a text.
func (c compound) standsIn(text []string) bool {
	first, second := -compoundWindow-1, -compoundWindow-1
	for at, term := range text {
		if c.first[term] {
			first = at
		}
		if c.second[term] {
			second = at
		}
		if (c.first[term] || c.second[term]) && max(first, second)-min(first, second) <= compoundWindow && first >= 0 && second >= 0 {
			return true
		}
	}
	return false
}
