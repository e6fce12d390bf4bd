package answer

import (
	"context"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph"
)

// generate makes the draft of an answer and streams it. Without AnswerGeneration it quotes itself. A
// model is shown the lists and tables in the evidence whole.
func (f *Flow) generate(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	var rest map[int][]int
	if f.models.Answer != nil {
		var err error
		if s.SearchResults, rest, err = completeListings(ctx, f.index, s.SearchResults, sizeForDepth(s.Depth)); err != nil {
			return graph.Result[State]{}, err
		}
	}
	generation := f.agents.generation(step)
	made, err := generation.Request(ctx, draftRequest{State: s, Rest: rest})
	switch {
	case isFailure(err):
		made = f.quotes.extract(s)
	case err != nil:
		return graph.Result[State]{}, err
	}
	if made.Abstained != "" {
		made.Remarks = append(made.Remarks, "abstained: "+made.Abstained)
	}
	return graph.Update(slices.Concat(generation.changes(), []graph.Change[State]{
		searchResults.Set(s.SearchResults),
		abstained.Set(made.Abstained != ""),
		responseResults.Set(made.Draft),
		modelUses.Set(made.Uses),
		notes.Set(made.Remarks),
	})...), nil
}

// extract quotes. It abstains where the evidence does not bear on the question.
func (q *quoter) extract(s State) draftResponse {
	if reason := unanswerable(s); reason != "" {
		return draftResponse{Abstained: reason}
	}
	made := draftResponse{Draft: q.quote(s)}
	if isDoubtful(s) {
		made.Remarks = []string{"answered with a word of doubt"}
	}
	return made
}
