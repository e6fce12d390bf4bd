package answer

import (
	"slices"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/rerank"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// order puts the evidence of a search for the whole question in the order in which it is
// likely to answer. Words that a follow-up leans on count as its own, by their weight.
func (f *Flow) order(s State, leanedOn []support.Term, evidence []retrieve.Evidence) []retrieve.Evidence {
	about := s.Profile
	about.Terms = slices.Concat(about.Terms, leanedOn)
	question := rerank.Question{Text: s.Query, Profile: about, Intent: string(s.Intent)}
	if words.AsksFunction(s.Query) {
		question.Intent = string(Definition)
	}
	if f.ordering != nil {
		f.ordering(s.RequestID, question, evidence)
	}
	ordered := rerank.Order(question, evidence)
	return ordered[:min(len(ordered), kept)]
}
