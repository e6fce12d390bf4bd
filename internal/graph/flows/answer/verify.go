package answer

import (
	"context"
	"fmt"
	"strings"

	"cairn/internal/graph"
	"cairn/internal/knowledge"
)

const (
	quotesNote  = "These are quotes from the documents; no language model is configured."
	nearestNote = "Nothing I know answers this. The nearest documents are listed."
	nothingNote = "Nothing I know comes near this."
)

// verify checks each quote against the passage it cites, as the index has it now. A
// quote that no longer stands there is dropped.
func (f *Flow) verify(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if s.Abstained {
		return abstain(s, nil), nil
	}
	current, err := f.current(ctx, s)
	if err != nil {
		return graph.Result[State]{}, err
	}
	var supported Draft
	dropped := 0
	for _, unit := range s.ResponseResults.Sentences {
		if text, there := current[unit.Evidence]; there && contains(text, unit.Text) {
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
		return abstain(s, append(remarks, "abstained: nothing found could be quoted")), nil
	}
	text, cited := compose(supported)
	return graph.Update(
		responseResults.Set(supported),
		answerText.Set(text),
		note.Set(noteFor(s)),
		sources.Set(link(s.SearchResults, cited)),
		notes.Set(remarks),
	), nil
}

// current reads the cited passages again: evidence position → text.
func (f *Flow) current(ctx context.Context, s State) (map[int]string, error) {
	var ids []knowledge.PassageID
	at := make(map[knowledge.PassageID]int)
	for _, unit := range s.ResponseResults.Sentences {
		id := s.SearchResults[unit.Evidence].Passage.ID
		if _, known := at[id]; !known {
			at[id] = unit.Evidence
			ids = append(ids, id)
		}
	}
	found, err := f.index.Passages(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the cited passages again: %w", err)
	}
	texts := make(map[int]string, len(found))
	for _, passage := range found {
		texts[at[passage.Passage.ID]] = passage.Passage.Text
	}
	return texts, nil
}

// contains says whether a text holds a quote, white space aside.
func contains(text, quoted string) bool {
	return strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(quoted), " "))
}

// abstain is the reply to a question that the documents do not answer.
func abstain(s State, remarks []string) graph.Result[State] {
	near := nearest(s.SearchResults)
	text := "The documents don't tell."
	if missing := s.AnalysisResults.Missing; len(missing) > 0 && len(missing) <= maxNamed {
		text = fmt.Sprintf("The documents don't tell: nothing near the question mentions %s.", quotedList(missing))
	}
	said := nearestNote
	if len(near) == 0 {
		said = nothingNote
	}
	return graph.Update(
		abstained.Set(true),
		answerText.Set(text),
		note.Set(said),
		sources.Set(link(s.SearchResults, near)),
		notes.Set(remarks),
	)
}

// maxNamed is how many missing words an abstention names.
const maxNamed = 4

func quotedList(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "“" + word + "”"
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}

// noteFor says what kind of answer it is, and what of the question was left out.
func noteFor(s State) string {
	if len(bounded(s.OriginalQuery)) < len(strings.TrimSpace(s.OriginalQuery)) {
		return fmt.Sprintf("%s Only the first %d characters of the question were read.", quotesNote, maxQuestion)
	}
	return quotesNote
}
