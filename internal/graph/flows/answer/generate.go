package answer

import (
	"context"
	"slices"

	"cairn/internal/agent"
	"cairn/internal/graph"
	"cairn/internal/llm/guard"
)

// generate makes the draft of an answer and streams it. Without AnswerGeneration it
// quotes itself.
func (f *Flow) generate(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	done, err := assign[response](ctx, f, step, assigned{
		to: answerGeneration, requests: []agent.Payload{draftRequest{State: s}}, urgent: true,
		progress: func(update agent.Payload) {
			if next, ok := update.(piece); ok {
				step.Emit(next.Text)
			}
		},
	})
	if err != nil {
		return graph.Result[State]{}, err
	}
	made, failure := only[draftResponse](done)
	if failure != nil {
		made = f.extract(s)
	}
	if made.Abstained != "" {
		made.Remarks = append(made.Remarks, "abstained: "+made.Abstained)
	}
	return graph.Update(slices.Concat(used(done), lost(failure), []graph.Change[State]{
		abstained.Set(made.Abstained != ""),
		responseResults.Set(made.Draft),
		modelUses.Set(made.Uses),
		notes.Set(made.Remarks),
	})...), nil
}

// draft is AnswerGeneration's work: the model writes where there is one, and where it
// can't, or there is none, sentences are quoted.
func (f *Flow) draft(ctx context.Context, task *agent.Task, request draftRequest) (draftResponse, error) {
	s := request.State
	out := guard.NewStream(f.guard(s), func(text string) { task.Progress(piece{Text: text}) })
	if f.models.Answer == nil || len(s.SearchResults) == 0 {
		made := f.extract(s)
		text, _ := composeQuotes(s, made.Draft)
		out.Write(text)
		out.Close()
		return made, nil
	}
	return f.write(ctx, s, out)
}

// extract quotes. It abstains where the evidence does not bear on the question.
func (f *Flow) extract(s State) draftResponse {
	if reason := unanswerable(s); reason != "" {
		return draftResponse{Abstained: reason}
	}
	made := draftResponse{Draft: f.quote(s)}
	if isDoubtful(s) {
		made.Remarks = []string{"answered with a word of doubt"}
	}
	return made
}
