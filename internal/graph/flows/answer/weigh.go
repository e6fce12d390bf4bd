package answer

import (
	"math"
	"slices"

	"cairn/internal/graph/flows/answer/logistic"
	"cairn/internal/graph/flows/answer/words"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/support"
	"cairn/internal/language"
)

// nearby is how many passages headings and other documents are looked at in.
const nearby = 5

// weigh gives the numbers that are judged by, of the first search.
func weigh(s State) logistic.Features {
	f := logistic.Features{logistic.Always: 1}
	weighQuestion(s, f)
	if len(s.SearchResults) == 0 {
		f["nothing found"] = 1
		return f
	}
	weighEvidence(s, f)
	return f
}

// weighQuestion adds what the question alone tells.
func weighQuestion(s State, f logistic.Features) {
	p, telling := s.Profile, len(s.Profile.Terms)
	f[neverAsked] = logistic.Number(plain(s))
	f[neverDeclined] = logistic.Number(s.FollowUp && len(s.Before) == 0 && telling <= 1)
	f["weight of the words"] = math.Min(p.Weight()/math.Log(2+float64(max(p.Passages, 1)))/4, 1.5)
	f["unknown word"] = logistic.Number(p.Unknown() > 0)
	referring, _ := words.LeansOn(s.OriginalQuery)
	f["refers back"] = logistic.Number(len(s.History) > 0 && referring != "")
	f["whether"] = logistic.Number(words.AsksWhether(s.OriginalQuery))
	f["history"], f["thread"] = logistic.Number(len(s.History) > 0), logistic.Number(len(s.Before) > 0)
	f["follow-up without words"] = f["history"] * logistic.Number(telling <= 1)
	f["referent"] = logistic.Number(s.Unresolved != "" && !s.FollowUp)
	f["not given"] = logistic.Number(pointsAtNothing(s))
	f["how-to"], f["troubleshooting"] = logistic.Number(s.Intent == HowTo), logistic.Number(s.Intent == Troubleshooting)
	f["live"], f["price"] = logistic.Number(words.Live(s.OriginalQuery)), logistic.Number(words.AsksPrice(s.OriginalQuery))
	f["live and the team's own"] = f["live"] * logistic.Number(words.AsksWho(s.OriginalQuery) || words.Own(s.OriginalQuery))
}

// weighEvidence adds how what was found bears on the question.
func weighEvidence(s State, f logistic.Features) {
	p, a := s.Profile, s.AnalysisResults
	likeness := a.Dense
	if likeness == 0 {
		likeness = usualLikeness
	}
	bears := bearing(s)
	f["bearing"] = clamp(bears.value/bears.limit-1, -1, 1.5)
	f["bearing short"] = math.Max(0, -f["bearing"])
	f["match"] = math.Min(match(s), 3) / 3
	f["coverage and likeness"] = a.Coverage * likeness
	f["heading is the question"] = logistic.Number(named(s))
	f["near documents"] = math.Min(float64(near(s.SearchResults)), 10) / 10
	f["unknown and unlike"] = logistic.Number(!s.FollowUp && p.Unknown() >= mostUnknown+fewPassages/float64(max(p.Passages, 1)) && a.Coverage+a.Dense < likeEnough)
	f["broad"] = logistic.Number(broad(s))
	f["broad with several documents"] = f["broad"] * logistic.Number(about(s) >= broadDocuments)
	f["documents on one word"] = logistic.Number(len(p.Terms) <= 1) * math.Min(float64(about(s)), 8) / 8
	f["on the thread"] = shareOnThread(s)
	f["words close by"] = shareCloseBy(p, s.SearchResults[0])
	f["passages that agree"] = shareAgreeing(p, s.SearchResults)
}

// What makes a question broad, and evidence thin.
const (
	broadWeight    = 1.25 // of words against the rarest kind's
	broadDocuments = 3
	mostUnknown    = 0.35 // of a question's weight that no document mentions at all
	// fewPassages makes up for small indexes, where most words are unknown.
	fewPassages = 5
	likeEnough  = 1.25 // coverage and cosine together that outweigh unknown words
)

// broad says whether a question has so few telling words, and so common ones, that several
// documents may be about it.
func broad(s State) bool {
	telling := len(s.Profile.Terms)
	return !s.FollowUp && telling > 0 && telling <= 2 && !abbreviated(s) && (telling == 1 || !named(s)) &&
		s.Profile.Weight()/math.Log(1+float64(max(s.Profile.Passages, 1))) < broadWeight
}

func clamp(value, least, most float64) float64 { return math.Max(least, math.Min(most, value)) }

// headingCoverage is the part of the question that the title and heading of one of the
// first passages hold, of what the question is about.
func headingCoverage(s State) float64 {
	best := 0.0
	subject := subjectOf(s.Profile)
	for _, e := range s.SearchResults[:min(len(s.SearchResults), nearby)] {
		best = max(best, subject.Coverage(support.OfIn(language.Parse(e.Document.Language), e.Document.Title, e.Passage.Section())))
	}
	return best
}

// plain says whether a question is plain enough never to be asked about: it asks what a thing
// is that the first passage names, what something does, or whether something is so; one
// document alone has it for a title; it explains its pronoun itself, or comes with what others
// said or a file.
func plain(s State) bool {
	switch {
	case len(s.Before) > 0, slices.ContainsFunc(s.SearchResults[:min(len(s.SearchResults), 1)], isAttached):
		return true
	case s.Unresolved != "" && !s.FollowUp:
		return false
	case len(s.Profile.Terms) == 0:
		return len(s.History) > 0
	case decide(ungiven(s)).reason != "":
		return false
	}
	return words.AsksWhether(s.OriginalQuery) || words.AsksFunction(s.OriginalQuery) || words.ExplainsPronoun(s.OriginalQuery) ||
		s.Intent == Definition && (headingCoverage(s) >= 1 || s.Profile.Coverage(termsOf(s.SearchResults[0])) >= 1) ||
		isTitle(s) || abbreviated(s)
}

// isTitle says whether one document alone, of those found first, has what a question is about
// for its title.
func isTitle(s State) bool {
	titled := make(map[knowledge.DocumentID]bool)
	for _, e := range s.SearchResults[:min(len(s.SearchResults), looked)] {
		if isNamed(s.Profile, support.OfIn(language.Parse(e.Document.Language), e.Document.Title)) {
			titled[e.Document.ID] = true
		}
	}
	return len(titled) == 1
}

const (
	// closeBy is within how many terms of a text words stand close to one another: about two
	// sentences.
	closeBy = 30
	// agreeing is the part of a question that a passage has to hold close by to agree that it
	// is about it.
	agreeing = 0.8
)

// shareAgreeing is how many of the first passages hold most of the question close by, of all.
func shareAgreeing(p support.Profile, evidence []retrieve.Evidence) float64 {
	count := 0
	for _, e := range evidence[:min(len(evidence), nearby)] {
		if shareCloseBy(p, e) >= agreeing {
			count++
		}
	}
	return float64(count) / nearby
}

// shareCloseBy is the most of a question's weight that stands close by in a passage. What its
// title and heading hold stands everywhere in it.
func shareCloseBy(p support.Profile, e retrieve.Evidence) float64 {
	whole := p.Weight()
	if whole == 0 {
		return 0
	}
	heading := support.OfIn(language.Parse(e.Document.Language), e.Document.Title, e.Passage.Section())
	headed := 0.0
	wanted := make(map[string][]int) // positions among the question's terms
	for i, term := range p.Terms {
		if term.Holds(heading) {
			headed += term.IDF
			continue
		}
		for _, text := range append([]string{term.Text}, term.Also...) {
			wanted[text] = append(wanted[text], i)
		}
	}
	most := headed
	last := make(map[int]int) // where a term was met last
	for at, text := range passageOf(e).Analyze().Text {
		if len(wanted[text]) == 0 {
			continue
		}
		for _, i := range wanted[text] {
			last[i] = at
		}
		held := headed
		for i, met := range last {
			if at-met < closeBy {
				held += p.Terms[i].IDF
			}
		}
		most = max(most, held)
	}
	return most / whole
}

// lastExchange is how many turns were what was spoken of last: a question and its answer.
const lastExchange = 2

// shareOnThread is the part of what was spoken of last that the first passage holds too.
func shareOnThread(s State) float64 {
	spoken := said(s.History[max(0, len(s.History)-lastExchange):])
	held, telling := 0, 0
	first := termsOf(s.SearchResults[0])
	for term := range spoken {
		if isFiller(term) {
			continue
		}
		telling++
		if first.Has(term) {
			held++
		}
	}
	return float64(held) / float64(max(telling, 1))
}
