package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cairn/internal/graph"
	"cairn/internal/graph/flows/answer/words"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/lexical"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/support"
)

// questionKey names the one question of this flow.
const questionKey = "reading"

const (
	maxReadings = 8
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
			isBroadSubject.Set(true),
			notes.Set([]string{"the person meant: " + chosen}),
		), nil
	}
	if s.Asks != nil {
		asked := *s.Asks
		asked.Key = questionKey
		return graph.Ask[State](asked), nil
	}
	decided := ambiguous(s)
	reason := cmp.Or(decided.reason, unclearReason(s))
	if reason == "" {
		return graph.Update(inputs.Set(decided.inputs)), nil
	}
	return graph.Ask[State](graph.Question{
		Key: questionKey, Text: askBack(s, reason), Choices: choices(s), FreeText: true,
	}), nil
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
	for i, r := range readings(s) {
		if choiceID(i) == answer.Choice {
			return r.label + " " + r.document
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
		listed = append(listed, graph.Choice{ID: choiceID(i), Label: r.label, Detail: r.document})
	}
	return listed
}

// askBack words the question; the readings are named in it as well, for where there
// are no buttons.
func askBack(s State, reason string) string {
	found := readings(s)
	if len(found) < minReadings {
		return reason + " Say it in a few words."
	}
	var named []string
	for _, r := range found {
		named = append(named, fmt.Sprintf("%s (%s)", r.label, r.document))
	}
	return fmt.Sprintf("%s Which do you mean: %s? Choose one, or say it in your own words.", reason, strings.Join(named, "; "))
}

// meant is one thing that a question could mean.
type meant struct {
	label    string // the section that answers that reading
	document string
}

// readings gives what the question could mean: the best section of each document
// whose evidence is not far from the best.
func readings(s State) []meant {
	var found []meant
	documents := make(map[knowledge.DocumentID]bool)
	labels := make(map[string]bool)
	for _, e := range s.SearchResults {
		if documents[e.Document.ID] || e.Score < offered*s.SearchResults[0].Score || len(found) == maxReadings {
			continue
		}
		r := meant{label: e.Passage.Section(), document: e.Document.Title}
		if r.label == "" {
			r.label = e.Document.Title
		}
		if key := strings.ToLower(r.label); s.Profile.Coverage(termsOf(e)) > 0 && !labels[key] {
			labels[key] = true
			documents[e.Document.ID] = true
			found = append(found, r)
		}
	}
	return found
}

// A question is broad where it has so few telling words, and so common ones, that
// several documents are about it: at most broadTerms words that weigh less than
// broadWeight words of the rarest kind would.
const (
	broadTerms     = 2
	broadWeight    = 1.25
	broadDocuments = 3
	maxReferring   = 3 // telling words beside "it" that could still mean anything
)

// ambiguous says why a question must be asked about, and what that was decided from.
func ambiguous(s State) decision {
	telling := len(s.Profile.Terms)
	if telling == 0 || slices.ContainsFunc(s.SearchResults[:min(len(s.SearchResults), 1)], isAttached) {
		return decision{}
	}
	var rules []rule
	several := test{"readings", float64(len(readings(s))), minReadings, true}
	if !s.FollowUp && s.Unresolved != "" {
		rules = append(rules, rule{
			reason: fmt.Sprintf("I can't tell what “%s” refers to.", s.Unresolved),
			tests:  []test{several, {name: "telling words", value: float64(telling), limit: maxReferring + 1}},
		})
	}
	if !s.FollowUp && telling <= broadTerms && !abbreviated(s) && (telling == 1 || !named(s)) {
		rules = append(rules, rule{
			reason: fmt.Sprintf("Several documents deal with “%s”.", strings.TrimSpace(s.NormalizedQuery)),
			tests: []test{
				several,
				{name: "weight of the words", value: s.Profile.Weight() / math.Log(1+float64(max(s.Profile.Passages, 1))), limit: broadWeight},
				{"documents on the subject", float64(about(s)), broadDocuments, true},
			},
		})
	}
	return decide(append(rules, ungiven(s)...))
}

// abbreviated says whether the question is an abbreviation that the documents explain.
func abbreviated(s State) bool {
	return len(s.Profile.Terms) == 1 && s.Abbreviation != ""
}

// named says whether a document or section is about just what was asked: its heading
// holds all telling words of the question and little else.
func named(s State) bool {
	for _, e := range s.SearchResults[:min(len(s.SearchResults), looked)] {
		for _, heading := range []string{e.Document.Title, e.Passage.Section()} {
			set := support.Of(heading)
			telling := 0
			for term := range set {
				if !lexical.IsFiller(term) {
					telling++
				}
			}
			if s.Profile.Coverage(set) == 1 && telling <= len(s.Profile.Terms)+1 {
				return true
			}
		}
	}
	return false
}

// about counts the documents that hold as much as any of what the question is about,
// and whose evidence is not far from the best.
func about(s State) int {
	most := 0.0
	subject := subjectOf(s.Profile)
	holds := make(map[knowledge.DocumentID]float64)
	for _, e := range s.SearchResults {
		if e.Score < offered*s.SearchResults[0].Score {
			break
		}
		coverage := subject.Coverage(termsOf(e))
		holds[e.Document.ID] = max(holds[e.Document.ID], coverage)
		most = max(most, coverage)
	}
	count := 0
	for _, coverage := range holds {
		if coverage == most && most > 0 {
			count++
		}
	}
	return count
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

const (
	liveCoverage = 0.75 // for what documents seldom tell: how things stand today
	mostUnknown  = 0.35 // of a question's weight that no document mentions at all
	// fewPassages makes up for small indexes, where most words are unknown.
	fewPassages = 5
	likeEnough  = 1.25 // coverage and cosine together that outweigh unknown words
)

// unanswerable says why the evidence does not bear on the question, "" where it does.
func unanswerable(s State) string { return insufficient(s).reason }

// insufficient says why the evidence does not bear on the question, and what that was
// decided from.
func insufficient(s State) decision {
	if len(s.SearchResults) == 0 {
		return decision{reason: "nothing was found"}
	}
	if pointsAtFiles(s) {
		return decision{}
	}
	a := s.AnalysisResults
	bears := bearing(s)
	rules := []rule{{
		reason: fmt.Sprintf("the evidence is worth %.1f of the rarest words, less than %.1f", bears.value, bears.limit),
		tests:  []test{bears},
	}}
	if !s.FollowUp {
		unknown := s.Profile.Unknown()
		rules = append(rules, rule{
			reason: fmt.Sprintf("no document mentions %.0f %% of what the question is about", 100*unknown),
			tests: []test{
				{"unknown words", unknown, mostUnknown + fewPassages/float64(max(s.Profile.Passages, 1)), true},
				{name: "coverage and likeness", value: a.Coverage + a.Dense, limit: likeEnough},
			},
		})
	}
	if words.Live(s.Query) {
		rules = append(rules, rule{
			reason: "it asks how things stand now, which no passage tells",
			tests:  []test{{name: "coverage of the best passage", value: a.Coverage, limit: liveCoverage}},
		})
	}
	return decide(rules)
}
