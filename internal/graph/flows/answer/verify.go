package answer

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// verify checks what the draft says against the passages it cites, as the index has
// them now. What they don't support is taken out or marked.
func (f *Flow) verify(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	switch {
	case s.Abstained:
		changes, err := f.decline(ctx, s, nil)
		return graph.Update(changes...), err
	case s.ResponseResults.Written != "":
		return f.verifyWritten(ctx, step)
	}
	changes, err := f.verifyQuotes(ctx, s)
	return graph.Update(changes...), err
}

// verifyQuotes drops the quotes that no longer stand where they are said to.
func (f *Flow) verifyQuotes(ctx context.Context, s State) ([]graph.Change[State], error) {
	var positions []int
	for _, unit := range s.ResponseResults.Sentences {
		positions = append(positions, unit.Evidence)
	}
	current, err := f.current(ctx, s, positions)
	if err != nil {
		return nil, err
	}
	supported := Draft{Fallback: s.ResponseResults.Fallback}
	dropped := 0
	for _, unit := range s.ResponseResults.Sentences {
		if text, there := current[unit.Evidence]; there && stands(text, unit.Text) {
			supported.Sentences = append(supported.Sentences, unit)
			continue
		}
		dropped++
	}
	var remarks []string
	if dropped > 0 {
		remarks = append(remarks, fmt.Sprintf("dropped %d quotes that their documents no longer hold", dropped))
	}
	if len(supported.Sentences) == 0 {
		return f.decline(ctx, s, append(remarks, "abstained: nothing found could be quoted"))
	}
	text, cited := composeQuotes(s, supported)
	return []graph.Change[State]{
		responseResults.Set(supported),
		answerText.Set(f.guard(s).Clean(text)),
		note.Set(withVersions(withLanguages(noteFor(s), s, cited), s, cited)),
		citations.Set(cited),
		notes.Set(remarks),
	}, nil
}

// current reads passages again: evidence position → text.
func (f *Flow) current(ctx context.Context, s State, positions []int) (map[int]string, error) {
	var ids []knowledge.PassageID
	at := make(map[knowledge.PassageID]int)
	texts := make(map[int]string, len(positions))
	for _, position := range positions {
		if isAttached(s.SearchResults[position]) { // it is as it came
			texts[position] = s.SearchResults[position].Passage.Text
			continue
		}
		id := s.SearchResults[position].Passage.ID
		if _, known := at[id]; !known {
			at[id] = position
			ids = append(ids, id)
		}
	}
	found, err := f.index.Passages(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the cited passages again: %w", err)
	}
	for _, passage := range found {
		texts[at[passage.Passage.ID]] = passage.Passage.Text
	}
	return texts, nil
}

// stands says whether a text holds a quote: as a whole, or each line of quoted code.
func stands(text, quoted string) bool {
	if contains(text, quoted) {
		return true
	}
	if !isFence(quoted) {
		return false
	}
	for line := range strings.Lines(quoted) {
		if !isFence(strings.TrimSpace(line)) && !contains(text, line) {
			return false
		}
	}
	return true
}

// contains says whether a text holds a quote, white space aside.
func contains(text, quoted string) bool {
	return strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(quoted), " "))
}

// noteFor says what an answer had to do without, "" where that is nothing: how it came
// about is told to those who ask why.
func noteFor(s State) string {
	var said []string
	draft := s.ResponseResults
	if draft.Written == "" && draft.Fallback != "" {
		said = append(said, explainFailure(speakerFor(s), phrases.QuotedBecause, draft.Fallback))
	}
	if draft.Cut {
		said = append(said, speakerFor(s).Text(phrases.AnswerCut))
	}
	if len(bounded(s.OriginalQuery)) < len(strings.TrimSpace(s.OriginalQuery)) {
		said = append(said, speakerFor(s).Text(phrases.QuestionCut, maxQuestion))
	}
	return strings.Join(append(said, s.Degraded...), " ")
}

// explainFailure says a line with the reason of a model's failure in it.
func explainFailure(speaker phrases.Speaker, line phrases.Key, failure string) string {
	return speaker.Text(line, flows.ExplainFailure(speaker, llm.Failure(failure)))
}
