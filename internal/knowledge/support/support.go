// Package support measures how far a text bears on a question: which of the
// question's telling words it holds, weighed by how rare they are. The answer flow
// decides with it what to quote, when to ask back and when to abstain. It also judges
// whether texts support a statement, by words alone: Check by a model that was fitted on
// labelled claims, Absent by what no paraphrase can change.
package support

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// Term is a telling word of a question.
type Term struct {
	Text     string   `json:"text"` // analysed
	Written  string   `json:"written"`
	IDF      float64  `json:"idf"`
	Passages int      `json:"passages"` // that hold it, in the whole index
	Also     []string `json:"also"`     // terms that count as it: a corrected spelling, a long form, a synonym
}

// Profile is what a question is about.
type Profile struct {
	Terms    []Term `json:"terms"`
	Passages int    `json:"passages"` // in the whole index
}

// Set is the analysed terms of a text.
type Set map[string]struct{}

// Of gives the terms of texts together.
func Of(texts ...string) Set { return OfIn(language.English, texts...) }

// OfIn gives the terms of texts in a language together.
func OfIn(tag language.Tag, texts ...string) Set {
	set := make(Set)
	for _, text := range texts {
		for _, term := range lexical.AnalyzeIn(tag, text) {
			set[term] = struct{}{}
		}
	}
	return set
}

// Has says whether the set holds a term.
func (s Set) Has(term string) bool {
	_, ok := s[term]
	return ok
}

// Holds says whether the set holds a term or what counts as it.
func (t Term) Holds(set Set) bool {
	if set.Has(t.Text) {
		return true
	}
	for _, also := range t.Also {
		if set.Has(also) {
			return true
		}
	}
	return false
}

// Weight is the sum of the terms' idf.
func (p Profile) Weight() float64 {
	sum := 0.0
	for _, term := range p.Terms {
		sum += term.IDF
	}
	return sum
}

// Unknown is the part of the question's weight that no passage of the index holds,
// nor anything that counts as it, 0 to 1.
func (p Profile) Unknown() float64 {
	unknown := 0.0
	for _, term := range p.Terms {
		if term.Passages == 0 && len(term.Also) == 0 {
			unknown += term.IDF
		}
	}
	if unknown == 0 {
		return 0
	}
	return unknown / p.Weight()
}

// Coverage is the part of the question's weight that a text holds, 0 to 1; 0 for a
// question without telling words.
func (p Profile) Coverage(set Set) float64 {
	held, sum := 0.0, 0.0
	for _, term := range p.Terms {
		sum += term.IDF
		if term.Holds(set) {
			held += term.IDF
		}
	}
	if sum == 0 {
		return 0
	}
	return held / sum
}

// AskedShare is the part of a text's telling words that the question has, 0 to 1; 0 for a text
// without telling words.
func (p Profile) AskedShare(set Set) float64 {
	asked, telling := 0, 0
	for term := range set {
		if lexical.IsFiller(term) {
			continue
		}
		switch {
		case slices.ContainsFunc(p.Terms, func(t Term) bool { return t.Text == term || slices.Contains(t.Also, term) }):
			asked++
			telling++
		case !p.asksForWhole(set, term):
			telling++
		}
	}
	if telling == 0 {
		return 0
	}
	return float64(asked) / float64(telling)
}

// asksForWhole says whether a term is a part of a name that is asked for whole, as "map" is of
// "ConfigMap".
func (p Profile) asksForWhole(set Set, part string) bool {
	return slices.ContainsFunc(p.Terms, func(t Term) bool {
		return len(t.Text) > len(part) && (strings.HasPrefix(t.Text, part) || strings.HasSuffix(t.Text, part)) && set.Has(t.Text)
	})
}

// Exactness is how far a text, such as a heading, names what the question is about and nothing
// else, 0 to 1.
func (p Profile) Exactness(set Set) float64 { return p.Coverage(set) * p.AskedShare(set) }

// Missing gives the telling words, as written, that none of the sets holds.
func (p Profile) Missing(sets ...Set) []string {
	var missing []string
	for _, term := range p.Terms {
		held := false
		for _, set := range sets {
			held = held || term.Holds(set)
		}
		if !held {
			missing = append(missing, term.Written)
		}
	}
	return missing
}

// Frequencies is what a profile needs of an index.
type Frequencies interface {
	Terms(ctx context.Context, terms []string) ([]index.TermStats, error)
	Stats(ctx context.Context) (index.Stats, error)
}

// Weigh fills in how rare the terms are. A term that the index does not hold weighs
// the most that a term can.
func (p *Profile) Weigh(ctx context.Context, frequencies Frequencies) error {
	stats, err := frequencies.Stats(ctx)
	if err != nil {
		return err
	}
	p.Passages = stats.Passages
	texts := make([]string, len(p.Terms))
	for i, term := range p.Terms {
		texts[i] = term.Text
	}
	counts, err := frequencies.Terms(ctx, texts)
	if err != nil {
		return err
	}
	for i := range p.Terms {
		p.Terms[i].Passages = counts[i].Passages
		p.Terms[i].IDF = lexical.IDF(stats.Passages, counts[i].Passages)
	}
	return nil
}
