package answer

import (
	"cmp"
	_ "embed" // the weights
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer/logistic"
	"cairn/internal/graph/flows/answer/words"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/support"
	"cairn/internal/language"
)

// Judgement is what decides, with no model, whether a question is asked back about,
// declined or answered: two logistic models over the numbers of a search, and how likely
// a thing must be by them to be done. `cairn eval --fit` makes it.
type Judgement struct {
	// Ask weighs that the question means several things, Decline that nothing answers it.
	Ask     logistic.Weights `json:"ask"`
	Decline logistic.Weights `json:"decline"`
	// A question is asked back about, or declined, from these chances on; from DoubtFrom to
	// DeclineFrom it is answered with a word of doubt.
	AskFrom     float64 `json:"ask_from"`
	DeclineFrom float64 `json:"decline_from"`
	DoubtFrom   float64 `json:"doubt_from"`
}

//go:embed judgement.json
var judgementFile string

var embeddedJudgement = mustReadJudgement(judgementFile)

func mustReadJudgement(file string) Judgement {
	j, err := ReadJudgement(strings.NewReader(file))
	if err != nil {
		panic("answer: judgement.json: " + err.Error())
	}
	return j
}

// ReadJudgement reads what WriteJudgement wrote.
func ReadJudgement(r io.Reader) (Judgement, error) {
	var j Judgement
	if err := json.NewDecoder(r).Decode(&j); err != nil {
		return Judgement{}, fmt.Errorf("read a judgement: %w", err)
	}
	return j, nil
}

// WriteJudgement writes a judgement as JSON.
func WriteJudgement(w io.Writer, j Judgement) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(j); err != nil {
		return fmt.Errorf("write a judgement: %w", err)
	}
	return nil
}

// The chances, as the trace names them.
const (
	ambiguousChance    = "chance of several readings"
	unanswerableChance = "chance that nothing answers"
)

// Features takes the numbers that a judgement weighs out of a trace; ok is false where the
// run was not judged.
func Features(inputs []flows.Input) (features logistic.Features, ok bool) {
	features = logistic.Features{}
	for _, input := range inputs {
		if input.Name == ambiguousChance || input.Name == unanswerableChance {
			ok = true
			continue
		}
		features[input.Name] = input.Value
	}
	return features, ok
}

// Decide gives what is done about a question of these features, in the order of asking,
// declining and answering.
func (j Judgement) Decide(f logistic.Features) (asks, declines bool) {
	if !IsPlain(f) && j.Ask.Chance(f) >= j.AskFrom {
		return true, false
	}
	return false, j.Decline.Chance(f) >= j.DeclineFrom
}

// neverAsked is the feature of questions that are plain enough not to be asked about.
const neverAsked = "plain"

// IsPlain says whether a question of these features is never asked back about.
func IsPlain(f logistic.Features) bool { return f[neverAsked] != 0 }

// nearby is how many passages headings and other documents are looked at in.
const nearby = 5

// weigh gives the numbers that are judged by, of the first search.
func weigh(s State) logistic.Features {
	f := logistic.Features{logistic.Always: 1}
	f[neverAsked] = truth(plain(s))
	p, a := s.Profile, s.AnalysisResults
	telling := len(p.Terms)
	f["one word"], f["two words"], f["three words"] = truth(telling <= 1), truth(telling == 2), truth(telling == 3)
	f["words"] = math.Min(float64(telling), 12) / 12
	f["weight of the words"] = math.Min(p.Weight()/math.Log(2+float64(max(p.Passages, 1)))/4, 1.5)
	f["unknown words"] = p.Unknown()
	f["corrected words"] = corrected(p)
	f["follow-up"], f["history"], f["thread"] = truth(s.FollowUp), truth(len(s.History) > 0), truth(len(s.Before) > 0)
	f["referent"] = truth(s.Unresolved != "" && !s.FollowUp)
	f["referent among few words"] = f["referent"] * truth(telling <= 2)
	f["live"], f["person"], f["price"] = truth(words.Live(s.OriginalQuery)), truth(words.AsksWho(s.OriginalQuery)), truth(words.AsksPrice(s.OriginalQuery))
	f["own matters"] = truth(words.Own(s.OriginalQuery))
	f["live and the team's own"] = f["live"] * max(f["person"], f["own matters"])
	f["unknown word"] = truth(p.Unknown() > 0)
	f["follow-up without words"] = f["history"] * truth(telling <= 1)
	f["definition"], f["how-to"] = truth(s.Intent == Definition), truth(s.Intent == HowTo)
	f["troubleshooting"], f["lookup"] = truth(s.Intent == Troubleshooting), truth(s.Intent == Lookup)
	f["which"] = truth(words.AsksWhich(s.OriginalQuery))
	f["not given"] = truth(len(ungiven(s)) > 0 && decide(ungiven(s)).reason != "")
	f["small index"] = truth(p.Passages < 200)
	if len(s.SearchResults) == 0 {
		f["nothing found"] = 1
		return f
	}
	first := s.SearchResults[0]
	f["coverage"], f["coverage of the first"] = a.Coverage, p.Coverage(termsOf(first))
	f["missing words"] = shareMissing(p, s.SearchResults)
	f["rarest word missing"], f["rarest word missing in the first"] = rarestMissing(p, s.SearchResults), rarestMissing(p, s.SearchResults[:1])
	f["heading"], f["heading is the question"] = headingCoverage(s), truth(named(s))
	f["likeness"] = a.Dense
	if a.Dense == 0 {
		f["likeness"] = usualLikeness
	}
	bears := bearing(s)
	f["bearing"] = clamp(bears.value/bears.limit-1, -1, 1.5)
	f["match"] = math.Min(match(s), 3) / 3
	f["score"] = math.Min(first.Score, 1)
	f["lead"], f["lead over other documents"] = leads(s.SearchResults)
	f["near documents"] = math.Min(float64(near(s.SearchResults)), 10) / 10
	f["documents on the subject"] = math.Min(float64(about(s)), 8) / 8
	f["documents on one word"] = f["one word"] * f["documents on the subject"]
	f["documents on two words"] = f["two words"] * f["documents on the subject"]
	f["coverage and likeness"] = a.Coverage * f["likeness"]
	f["bearing short"] = math.Max(0, -f["bearing"])
	f["unknown and unlike"] = truth(!s.FollowUp && p.Unknown() >= mostUnknown+fewPassages/float64(max(p.Passages, 1)) && a.Coverage+a.Dense < likeEnough)
	f["live and not covered"] = f["live"] * (1 - a.Coverage)
	f["broad"] = truth(broad(s))
	f["broad with several documents"] = f["broad"] * truth(about(s) >= broadDocuments)
	f["referent with several readings"] = f["referent"] * truth(telling <= maxReferring && len(readings(s)) >= minReadings)
	return f
}

// What makes a question broad, and evidence thin.
const (
	broadWeight    = 1.25 // of words against the rarest kind's
	broadDocuments = 3
	maxReferring   = 3    // telling words beside "it" that could still mean anything
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

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

func clamp(value, least, most float64) float64 { return math.Max(least, math.Min(most, value)) }

// corrected is the part of the words that the documents have in another spelling alone.
func corrected(p support.Profile) float64 {
	if len(p.Terms) == 0 {
		return 0
	}
	count := 0
	for _, term := range p.Terms {
		if term.Passages == 0 && len(term.Also) > 0 {
			count++
		}
	}
	return float64(count) / float64(len(p.Terms))
}

// shareMissing is the part of the question's weight that none of the first passages holds.
func shareMissing(p support.Profile, evidence []retrieve.Evidence) float64 {
	held := make(support.Set)
	for _, e := range evidence[:min(len(evidence), looked)] {
		for term := range termsOf(e) {
			held[term] = struct{}{}
		}
	}
	return 1 - p.Coverage(held)
}

// rarestMissing is 1 where the first passages lack the question's rarest word, of several.
func rarestMissing(p support.Profile, evidence []retrieve.Evidence) float64 {
	if len(p.Terms) < 2 {
		return 0
	}
	rarest := slices.MaxFunc(p.Terms, func(a, b support.Term) int { return cmp.Compare(a.IDF, b.IDF) })
	for _, e := range evidence[:min(len(evidence), nearby)] {
		if rarest.Holds(termsOf(e)) {
			return 0
		}
	}
	return 1
}

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

// leads says how far the best passage is before the next one, and before the best of
// another document, 0 to 1.
func leads(evidence []retrieve.Evidence) (next, other float64) {
	best := evidence[0]
	if best.Score <= 0 {
		return 0, 0
	}
	other = 1
	for i, e := range evidence[1:] {
		if i == 0 {
			next = 1 - e.Score/best.Score
		}
		if e.Document.ID != best.Document.ID {
			other = 1 - e.Score/best.Score
			break
		}
	}
	return clamp(next, 0, 1), clamp(other, 0, 1)
}

// plain says whether a question is plain enough never to be asked about: it asks for a
// thing that a heading names, what something does, or whether something is so; it explains
// its pronoun itself, or comes with what others said or a file.
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
		s.Intent == Definition && headingCoverage(s) >= 1 || abbreviated(s)
}

// Verdict is what is done about a question, and what that was decided from.
type Verdict struct {
	Asks     bool `json:"asks,omitempty"`
	Declines bool `json:"declines,omitempty"`
	Doubts   bool `json:"doubts,omitempty"` // it is answered, with a word of doubt
	inputs   []flows.Input
}

// judgeQuestion says what is done about a question, with no model.
func (f *Flow) judgeQuestion(s State) Verdict {
	if len(s.Profile.Terms) == 0 && len(s.Terms) > 0 {
		return Verdict{} // nobody could read it: it was searched for as it is written
	}
	features := weigh(s)
	var d Verdict
	for name, value := range features {
		d.inputs = append(d.inputs, flows.Input{Name: name, Value: value})
	}
	slices.SortFunc(d.inputs, func(a, b flows.Input) int { return strings.Compare(a.Name, b.Name) })
	asks, declines := f.judgement.Decide(features)
	asks = asks || pointsAtNothing(s)
	several, none := f.judgement.Ask.Chance(features), f.judgement.Decline.Chance(features)
	d.inputs = append(d.inputs,
		flows.Input{Name: ambiguousChance, Value: several, Limit: f.judgement.AskFrom, Decided: asks},
		flows.Input{Name: unanswerableChance, Value: none, Limit: f.judgement.DeclineFrom, Decided: declines},
	)
	d.Asks, d.Declines = asks, (declines || unrelated(s)) && !pointsAtFiles(s)
	d.Doubts = !asks && !declines && none >= f.judgement.DoubtFrom
	return d
}

// pointsAtNothing says whether a question is about a certain thing ("this vendor") that
// neither it nor its thread names.
func pointsAtNothing(s State) bool {
	return len(s.Before) == 0 && decide(ungiven(s)).reason != ""
}

// unrelated says whether no passage has a word of the question, nor comes near its meaning.
func unrelated(s State) bool {
	return !s.FollowUp && s.AnalysisResults.Coverage == 0 && s.AnalysisResults.Dense < usualLikeness
}
