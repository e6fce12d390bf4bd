package answer

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// Bounds of a reply to a question that nothing answers.
const (
	maxNamedCollections = 4
	maxNearPages        = 2 // beside the page that is quoted
	// closeCoverage is the part of a question's weight that a quote has to hold, with its
	// heading, to be shown as the closest.
	closeCoverage = 0.5
	// nearCoverage is the part that a page has to hold to be named as near.
	nearCoverage = 0.3
)

// speakerFor gives the speaker of the language that the question is asked in.
func speakerFor(s State) phrases.Speaker {
	return phrases.In(language.Detect(s.OriginalQuery).Or(language.English))
}

// decline is the reply to a question that the documents do not answer: where it was looked
// for, the closest quote, and the pages that come nearest.
func (f *Flow) decline(ctx context.Context, s State, remarks []string) ([]graph.Change[State], error) {
	speaker := speakerFor(s)
	text, said := f.notFound(ctx, s), ""
	if failure := s.ResponseResults.Fallback; failure != "" {
		text = explainFailure(speaker, phrases.NoAnswerBecause, failure)
	}
	closest, err := f.closestQuote(ctx, s)
	if err != nil {
		return nil, err
	}
	cited := closest.cited
	if closest.text != "" {
		text += "\n\n" + speaker.Text(phrases.ClosestQuote) + "\n\n" + closest.text
		said = withLanguages("", s, cited)
	}
	near := nearPages(s, cited)
	if s.ResponseResults.Fallback != "" && len(cited)+len(near) == 0 {
		near = nearest(s.SearchResults) // the documents may well answer
	}
	if len(cited) == 0 && len(near) > 0 {
		said = speaker.Text(phrases.NearestPages)
	}
	return []graph.Change[State]{
		abstained.Set(true),
		answerText.Set(text),
		note.Set(strings.Join(slices.Concat(nonEmpty(said), s.Degraded), " ")),
		citations.Set(slices.Concat(cited, near)),
		notes.Set(remarks),
	}, nil
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// notFound says that nothing was found, and in which collections.
func (f *Flow) notFound(ctx context.Context, s State) string {
	speaker := speakerFor(s)
	searched := s.Filter.Sources
	if len(searched) == 0 && f.collections != nil {
		var err error
		if searched, err = f.collections(ctx); err != nil {
			f.log.WarnContext(ctx, "list the collections of a declined question", "run", s.RequestID, "error", err)
		}
	}
	if len(searched) == 0 || len(searched) > maxNamedCollections {
		return speaker.Text(phrases.NotFound)
	}
	names := make([]string, len(searched))
	for i, source := range searched {
		names[i] = "`" + strings.ReplaceAll(string(source), "`", "") + "`"
	}
	return speaker.Text(phrases.NotFoundIn, strings.Join(names, ", "))
}

// excerpt is a quote with its citation; the zero one is none.
type excerpt struct {
	text  string
	cited []citation
}

// closestQuote gives the best quote of what was found, where it bears on the question and
// still stands in its document.
func (f *Flow) closestQuote(ctx context.Context, s State) (excerpt, error) {
	draft := f.quotes.quote(s)
	if len(draft.Sentences) == 0 {
		return excerpt{}, nil
	}
	best := slices.MaxFunc(draft.Sentences, func(a, b Sentence) int {
		switch {
		case a.Score < b.Score:
			return -1
		case a.Score > b.Score:
			return 1
		}
		return 0
	})
	e := s.SearchResults[best.Evidence]
	if s.Profile.Coverage(support.OfIn(language.Parse(e.Document.Language), e.Document.Title, e.Passage.Section(), best.Text)) < closeCoverage {
		return excerpt{}, nil
	}
	current, err := f.current(ctx, s, []int{best.Evidence})
	if text, ok := current[best.Evidence]; err != nil || !ok || !stands(text, best.Text) {
		return excerpt{}, err
	}
	text, cited := compose(s.SearchResults, Draft{Sentences: []Sentence{best}})
	return excerpt{f.guard(s).Clean(text), cited}, nil
}

// nearPages cites, without a number, the best passage of the documents that come nearest
// and are not cited yet.
func nearPages(s State, cited []citation) []citation {
	var near []citation
	known := make(map[knowledge.DocumentID]bool)
	for _, c := range cited {
		known[s.SearchResults[c.Evidence].Document.ID] = true
	}
	for i, e := range s.SearchResults {
		if known[e.Document.ID] || len(s.Profile.Terms) > 0 && s.Profile.Coverage(termsOf(e)) < nearCoverage {
			continue
		}
		if len(near) == maxNearPages {
			break
		}
		known[e.Document.ID] = true
		near = append(near, citation{Evidence: i})
	}
	return near
}

// isDoubtful says whether quotes are shown with a word of doubt: between answering and
// declining, where nobody said what is meant.
func isDoubtful(s State) bool { return s.Verdict.Doubts && s.Reading == "" }

// composeQuotes writes quotes out as compose does, under a word of doubt where there is some.
func composeQuotes(s State, draft Draft) (text string, cited []citation) {
	text, cited = compose(s.SearchResults, draft)
	if isDoubtful(s) && text != "" {
		text = speakerFor(s).Text(phrases.MayNotBeIt) + "\n\n" + text
	}
	return text, cited
}

// nearest cites, without a number, the best passage of the first documents found.
func nearest(evidence []retrieve.Evidence) []citation {
	return nearPages(State{SearchResults: evidence}, nil)
}
