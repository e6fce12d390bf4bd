package answer

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// questionKey names the one question of this flow.
const questionKey = "reading"

const (
	maxReadings = 4
	minReadings = 2
	// nearEqual is how near to the best a document's evidence must be to count as
	// nearly as good, and offered how near to be offered as a reading.
	nearEqual = 0.6
	offered   = 0.3
)

// clarify asks which reading of the question is meant, where that changes the answer.
// It asks once: what was chosen or written goes into the search.
func (f *Flow) clarify(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if answer, answered := step.Answer(questionKey); answered {
		chosen := readingOf(s, answer)
		return graph.Update(
			reading.Set(chosen),
			notes.Set([]string{"the person meant: " + chosen}),
		), nil
	}
	if len(s.Errors) > 0 {
		return graph.Result[State]{}, nil // nothing tells how clear the question is
	}
	if s.Asks != nil {
		asked := *s.Asks
		asked.Key = questionKey
		return graph.Ask[State](asked), nil
	}
	switch {
	case understoodByModel(s) && s.Unclear != "":
		return graph.Ask[State](f.modelQuestion(s)), nil
	case !understoodByModel(s) && s.Verdict.Asks && (len(readings(s)) >= minReadings || pointsAtNothing(s)):
		return graph.Ask[State](graph.Question{
			Key: questionKey, Text: askBack(s, ambiguity(s)), Choices: choices(s), FreeText: true,
		}), nil
	}
	return graph.Result[State]{}, nil
}

// modelQuestion is the question back that a model puts, in its words and with its choices. Of
// fewer than two choices there is nothing to choose.
func (f *Flow) modelQuestion(s State) graph.Question {
	guard := f.guard(s)
	asked := graph.Question{Key: questionKey, Text: guard.Clean(s.Unclear), FreeText: true}
	for i, choice := range s.UnclearChoices {
		asked.Choices = append(asked.Choices, graph.Choice{ID: choiceID(i), Label: guard.Clean(choice)})
	}
	if len(asked.Choices) < minReadings {
		asked.Choices = nil
	}
	return asked
}

// readingOf gives the words that an answer adds to the question.
func readingOf(s State, answer graph.Answer) string {
	if s.Asks != nil {
		for _, choice := range s.Asks.Choices {
			if choice.ID == answer.Choice {
				return choice.Label
			}
		}
		return bounded(answer.Text)
	}
	if s.Unclear != "" {
		for i, choice := range s.UnclearChoices {
			if choiceID(i) == answer.Choice {
				return choice
			}
		}
		return bounded(answer.Text)
	}
	for i, r := range readings(s) {
		if choiceID(i) == answer.Choice {
			return strings.TrimSpace(r.label + " " + r.section)
		}
	}
	return bounded(answer.Text)
}

func choiceID(i int) string { return "reading-" + strconv.Itoa(i+1) }

// choices offers the readings, where there are several.
func choices(s State) []graph.Choice {
	var listed []graph.Choice
	found := readings(s)
	if len(found) < minReadings {
		return nil
	}
	for i, r := range found {
		listed = append(listed, graph.Choice{ID: choiceID(i), Label: r.label, Detail: r.section})
	}
	return listed
}

// askBack words the question; the choices name the readings.
func askBack(s State, reason string) string {
	key := phrases.ChooseOrSay
	if len(readings(s)) < minReadings {
		key = phrases.SayMore
	}
	return reason + " " + speakerFor(s).Text(key)
}

// meant is one thing that a question could mean.
type meant struct {
	label   string // the title of the page that answers that reading
	section string // of the page, "" where the title says it
}

// readings gives what the question could mean: the best section of each page whose
// evidence is not far from the best. The same page in another language is no other
// reading, nor one of the same title.
func readings(s State) []meant {
	var found []meant
	known := make(map[string]bool)
	for _, e := range s.SearchResults {
		page, title := "page "+pageOf(e.Document.Path), "title "+strings.ToLower(e.Document.Title)
		if known[page] || known[title] || e.Score < offered*s.SearchResults[0].Score || s.Profile.Coverage(termsOf(e)) == 0 {
			continue
		}
		known[page], known[title] = true, true
		r := meant{label: e.Document.Title}
		if section := e.Passage.Section(); !strings.EqualFold(section, r.label) {
			r.section = section
		}
		if found = append(found, r); len(found) == maxReadings {
			break
		}
	}
	return found
}

// pageOf is a path without the folders that are named for languages.
func pageOf(path string) string {
	segments := strings.Split(path, "/")
	return strings.Join(slices.DeleteFunc(segments, func(segment string) bool { return len(segment) == languageCode }), "/")
}

// languageCode is how long the code of a language is.
const languageCode = 2

// ambiguity words why a question is asked about.
func ambiguity(s State) string {
	if !s.FollowUp && s.Unresolved != "" {
		return speakerFor(s).Text(phrases.UnclearReference, s.Unresolved)
	}
	if given := decide(ungiven(s)); given.reason != "" {
		return given.reason
	}
	return speakerFor(s).Text(phrases.WhichOne)
}

// understoodByModel says whether a model read the question: then it is the model that
// knows whether it is clear.
func understoodByModel(s State) bool {
	return slices.ContainsFunc(s.Models, func(use flows.ModelUse) bool { return use.Role == roleUnderstand && use.Failure == "" })
}

// abbreviated says whether the question is an abbreviation that the documents explain.
func abbreviated(s State) bool {
	return len(s.Profile.Terms) == 1 && s.Abbreviation != ""
}

// isNamed says whether a heading holds all that is asked for, and at most one telling word more.
func isNamed(p support.Profile, heading support.Set) bool {
	telling := 0
	for term := range heading {
		if !lexical.IsFiller(term) {
			telling++
		}
	}
	return p.Coverage(heading) == 1 && telling <= len(p.Terms)+1
}

// subjectOf leaves out of a profile what is to be done, unless there is nothing else.
func subjectOf(whole support.Profile) support.Profile {
	subject := support.Profile{Passages: whole.Passages}
	for _, term := range whole.Terms {
		if !words.IsAction(term.Text) {
			subject.Terms = append(subject.Terms, term)
		}
	}
	if len(subject.Terms) == 0 {
		return whole
	}
	return subject
}

// near counts the documents whose evidence is nearly as good as the best.
func near(evidence []retrieve.Evidence) int {
	documents := make(map[knowledge.DocumentID]bool)
	for _, e := range evidence {
		if e.Score >= nearEqual*evidence[0].Score {
			documents[e.Document.ID] = true
		}
	}
	return len(documents)
}

// spread says how evenly the evidence lies over different documents: 0 where one
// stands out, 1 where ten or more are as good as the best.
func spread(evidence []retrieve.Evidence) float64 {
	return min(1, float64(max(near(evidence)-1, 0))/9)
}

// unanswerable says why the evidence does not bear on the question, "" where it does.
func unanswerable(s State) string {
	switch {
	case len(s.SearchResults) == 0:
		return "nothing was found"
	case s.Verdict.Declines && s.Reading == "":
		return "the evidence is not likely to answer the question"
	}
	return ""
}
