package answer

import (
	"context"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/quoting"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/rerank"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
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
	introductions := len(searches)
	if opening := introductionQuery(meant, filter); opening != nil {
		searches = append(searches, *opening)
	}
	lists, made, changes, err := f.searchAll(ctx, step, searches...)
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range made {
		made[i].Text = meant.Query // all are for the same question
	}
	known := withNamed(meant.Profile, lists[0], slices.Concat(lists[1:introductions]...))
	known = withIntroduction(meant.Profile, known, slices.Concat(lists[introductions:]...))
	found, err := f.withCited(ctx, meant, step.State.History, known)
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

// introducing are the names of sections in which documents say what they are about.
var introducing = []string{"introduction", "overview", "about", "what is it"}

// productShare is the part of all passages that speak of what all documents are about, at least.
const productShare = 0.3

// introductionQuery is the search for the sections in which documents say what they are about, for
// a question what that is: search by words finds its name everywhere. It is nil for other questions.
func introductionQuery(meant understanding, filter index.Filter) *retrieve.Query {
	profile := meant.Profile
	if meant.Intent != Definition || len(profile.Terms) != 1 || float64(profile.Terms[0].Passages) < productShare*float64(profile.Passages) {
		return nil
	}
	var names []index.Term
	for _, name := range introducing {
		if name := lexical.Name(lexical.Analyze(name)); name != "" {
			names = append(names, index.Term{Text: name, Weight: 1})
		}
	}
	return &retrieve.Query{Terms: names, Filter: filter}
}

// withIntroduction adds the introductions that say what is asked for, each taken to be as good as
// the best.
func withIntroduction(profile support.Profile, evidence, introductions []retrieve.Evidence) []retrieve.Evidence {
	merged := slices.Clone(evidence)
	for _, e := range introductions {
		if len(evidence) == 0 || rerank.SaysWhat(profile, language.Parse(e.Document.Language), e.Passage.Text) < 1 {
			continue
		}
		at := slices.IndexFunc(merged, func(known retrieve.Evidence) bool { return known.Passage.ID == e.Passage.ID })
		if at < 0 {
			e.Lexical = evidence[0].Lexical
			at = len(merged)
			merged = append(merged, e)
		}
		merged[at].Score = evidence[0].Score
	}
	return merged
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
		named := profile.Coverage(support.OfIn(tag, heading))
		if quoting.Defines(profile, tag, e.Passage.Text) {
			named = 1
		}
		score := evidence[0].Score * named
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
