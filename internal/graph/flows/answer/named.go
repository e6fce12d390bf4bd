package answer

import (
	"context"
	"slices"

	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer/words"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/lexical"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/support"
	"cairn/internal/language"
)

const (
	// leastNamed is the part of a question's weight that a name has to hold.
	leastNamed = 0.5
	// maxNamed is how many sections are taken for their names.
	maxNamed = 6
	// maxSubject is how many words a question for what something is has at most.
	maxSubject = 5
)

// searchQuestion searches for a question as it was read, and for the sections that are named
// what it asks about.
func (f *Flow) searchQuestion(ctx context.Context, step graph.Step[State], meant understanding) ([]retrieve.Evidence, []flows.Query, []graph.Change[State], error) {
	filter := step.State.Filter
	searches := []retrieve.Query{{Text: meant.Query, Terms: meant.Terms, Filter: filter}}
	if named := nameQuery(meant, filter); named != nil {
		searches = append(searches, *named)
	}
	lists, made, changes, err := f.searchAll(ctx, step, searches...)
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range made {
		made[i].Text = meant.Query // both are for the same question
	}
	found, err := f.withCited(ctx, meant, step.State.History, withNamed(meant.Profile, lists[0], slices.Concat(lists[1:]...)))
	return found, made, changes, err
}

// nameQuery is the search for sections that are named what a question asks the meaning of, or
// what a message names and nothing else:
// where all pages have the word, search ranks the section about it as one among many. It is
// nil for other questions.
func nameQuery(meant understanding, filter index.Filter) *retrieve.Query {
	asks := meant.Intent == Definition || words.AsksFunction(meant.Query) || words.IsKeyword(meant.Query)
	if !asks || len(meant.Profile.Terms) > maxSubject {
		return nil
	}
	weight := meant.Profile.Weight()
	var names []index.Term
	for from := range meant.Profile.Terms {
		var terms []string
		held := 0.0
		for _, term := range meant.Profile.Terms[from:] {
			terms = append(terms, indexedForm(term))
			held += term.IDF
			if name := lexical.Name(terms); name != "" && held >= leastNamed*weight {
				names = append(names, index.Term{Text: name, Weight: 1})
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &retrieve.Query{Terms: names, Filter: filter}
}

// indexedForm is how the documents spell a word of a question.
func indexedForm(term support.Term) string {
	if term.Passages == 0 && len(term.Also) > 0 {
		return term.Also[0]
	}
	return term.Text
}

// withNamed adds sections found by their names to the evidence of a search, each taken to be as
// good as the best, as far as its name is what the question asks for: what else they are tells
// their order.
func withNamed(profile support.Profile, evidence, named []retrieve.Evidence) []retrieve.Evidence {
	if len(evidence) == 0 {
		return evidence
	}
	merged := slices.Clone(evidence)
	tag := language.Parse(evidence[0].Document.Language)
	taken := 0
	for _, e := range named {
		if taken == maxNamed || language.Parse(e.Document.Language) != tag {
			continue
		}
		taken++
		heading := e.Passage.Section()
		if heading == "" {
			heading = e.Document.Title
		}
		score := evidence[0].Score * profile.Coverage(support.OfIn(tag, heading))
		at := slices.IndexFunc(merged, func(known retrieve.Evidence) bool { return known.Passage.ID == e.Passage.ID })
		if at < 0 {
			e.Score, e.Lexical = 0, evidence[0].Lexical
			at = len(merged)
			merged = append(merged, e)
		}
		merged[at].Score = max(merged[at].Score, score)
	}
	return merged
}
