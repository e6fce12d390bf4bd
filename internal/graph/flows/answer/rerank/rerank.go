// Package rerank puts evidence in the order in which it is likely to answer a question: by
// the score of the search, and by what the search does not see, such as a title that names
// just what is asked for, words of the question side by side, and a sentence that says what
// the term asked about is. The weights of these features are fitted on question sets.
//
// Reading order: rerank.go, features.go, fit.go.
package rerank

import (
	"cmp"
	_ "embed" // the weights
	"encoding/json"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// Question is what the evidence is to answer.
type Question struct {
	Text    string // in the asker's words
	Profile support.Profile
	Intent  string // as words.Intent names it
}

//go:embed weights.json
var weightsFile []byte

// model says how much more likely a passage answers than another.
var model = mustReadWeights(weightsFile)

func mustReadWeights(file []byte) logistic.Weights {
	var w logistic.Weights
	if err := json.Unmarshal(file, &w); err != nil {
		panic("rerank: weights.json: " + err.Error())
	}
	return w
}

// leastScore is what evidence scores at least: it was found.
const leastScore = 0.001

// Order gives evidence, which a search put in order, with the scores that the model gives
// it, best first. Scores are in the unit of the search: what the other features add is
// measured by what the search's scores add.
func Order(q Question, evidence []retrieve.Evidence) []retrieve.Evidence {
	unit := model[searchScore] + model[byWords] + model[byMeaning]
	if unit <= 0 || len(evidence) == 0 {
		return evidence
	}
	best := evidence[0].Score
	ordered := slices.Clone(evidence)
	sums := make([]float64, len(evidence))
	for i, f := range Describe(q, evidence) {
		sums[i] = model.Sum(f) / unit
	}
	most := slices.Max(sums)
	for i := range ordered {
		ordered[i].Score = max(leastScore, best*min(1, 1+sums[i]-most))
	}
	slices.SortStableFunc(ordered, func(a, b retrieve.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	return preferDocuments(ordered)
}

// talkWeight is how much the score of what people said in conversations counts, beside what
// documents say.
const talkWeight = 0.8

// preferDocuments puts what people said behind documents that are about as likely to answer. Its
// scores stay in order.
func preferDocuments(ordered []retrieve.Evidence) []retrieve.Evidence {
	weigh := func(e retrieve.Evidence) float64 {
		if e.Document.Kind == knowledge.KindConversation {
			return e.Score * talkWeight
		}
		return e.Score
	}
	slices.SortStableFunc(ordered, func(a, b retrieve.Evidence) int { return cmp.Compare(weigh(b), weigh(a)) })
	for i := 1; i < len(ordered); i++ {
		ordered[i].Score = min(ordered[i].Score, ordered[i-1].Score)
	}
	return ordered
}
