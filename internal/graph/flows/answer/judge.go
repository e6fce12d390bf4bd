package answer

import (
	_ "embed" // the weights
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
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
	return false, !PointsBack(f) && j.Decline.Chance(f) >= j.DeclineFrom
}

// Features of questions that the models don't decide about.
const (
	neverAsked    = "plain"       // plain enough not to be asked about
	neverDeclined = "points back" // about what was just answered: "since when?"
)

// IsPlain says whether a question of these features is never asked back about.
func IsPlain(f logistic.Features) bool { return f[neverAsked] != 0 }

// PointsBack says whether a question of these features has no words of its own for what it is
// about, which was spoken of before, and is never declined.
func PointsBack(f logistic.Features) bool { return f[neverDeclined] != 0 }

// askFeatures and declineFeatures are what the two models weigh: those of which each made
// questions that were held out likelier to be decided right.
var (
	askFeatures = []string{
		"definite", "definite not given", "definite off the thread", "how to do one thing", "near documents", "no thing",
		"not given", oneThing, "pages that hold as much", "referent", "unknown and unlike", "whether",
	}
	declineFeatures = []string{
		"bearing", "definition", "heading of one page", "held by a heading", "live and the team's own", "match of the first", "not given",
		oneThing, "person of the team's own", "price", "section is the question", "statement in a thread", "thread", "troubleshooting",
		"words apart", "words close by",
	}
)

// FitJudgement gives the judgement that explains questions of known outcome best. The chances
// from which it acts are to be set by ActFrom.
func FitJudgement(asks, declines []logistic.Sample) Judgement {
	return Judgement{
		Ask: logistic.Fit(withFeatures(asks, askFeatures), fitAskPenalty), Decline: logistic.Fit(withFeatures(declines, declineFeatures), fitDeclinePenalty),
	}
}

// How a judgement is fitted.
const (
	fitAskPenalty     = 1.0
	fitDeclinePenalty = 0.2
	// doubtShare is the part of the chance from which a question is declined, from which it is
	// answered with a word of doubt.
	doubtShare = 0.65
)

// ActFrom sets the chances from which a judgement asks back and declines.
func (j Judgement) ActFrom(ask, decline float64) Judgement {
	j.AskFrom, j.DeclineFrom, j.DoubtFrom = ask, decline, math.Round(100*doubtShare*decline)/100
	return j
}

// withFeatures gives samples with some of their features alone.
func withFeatures(samples []logistic.Sample, names []string) []logistic.Sample {
	chosen := slices.Clone(samples)
	for i, sample := range samples {
		chosen[i].Features = logistic.Features{logistic.Always: 1}
		for _, name := range names {
			chosen[i].Features[name] = sample.Features[name]
		}
	}
	return chosen
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
	features := measureFeatures(s)
	var d Verdict
	for name, value := range features {
		d.inputs = append(d.inputs, flows.Input{Name: name, Value: value})
	}
	slices.SortFunc(d.inputs, func(a, b flows.Input) int { return strings.Compare(a.Name, b.Name) })
	asks, declines := f.judgement.Decide(features)
	asks = asks || pointsAtNothing(s) || isBareTopic(s, features)
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

// isBareTopic says whether a question is one word that several pages hold as much, and none of
// them, nor a section, is named for: there is nothing to tell what is asked about it.
func isBareTopic(s State, f logistic.Features) bool {
	return len(strings.Fields(s.OriginalQuery)) == 1 && !IsPlain(f) && f[oneThing] != 0 && headingCoverage(s) == 0
}

// unrelated says whether no passage has a word of the question, nor comes near its meaning.
func unrelated(s State) bool {
	return !s.FollowUp && s.AnalysisResults.Coverage == 0 && s.AnalysisResults.Dense < usualLikeness
}
