package quoting

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
)

// Example is a question with what can be quoted, and what is right.
type Example struct {
	Set      string // the question set that it is of; each weighs the same
	Half     int    // of its set, 0 or 1
	Question Question
	Passages []Passage // none where it was not answered
	Size     Size      // of the answer
	Gold     []bool    // by passage: it is of a page that answers
	// Stated tells for each fact of a right answer whether a text states it. The first fact
	// is the one that should come first.
	Stated func(text string) []bool
}

// Estimate is how well quotes answer the questions of a set.
type Estimate struct {
	Set       string
	Questions int
	Facts     float64 // mean part of a question's facts that its quotes state
	Lead      float64 // part of the questions whose first fact stands in the first leadLength characters
	Median    int     // characters of what is quoted, where something is
}

const (
	// fitPassages is how many passages of an example are looked at.
	fitPassages = 8
	// statesWeight and otherWeight are what the sentences of one question that state a
	// fact, and those that don't, count together.
	statesWeight = 3
	otherWeight  = 40
	// fitPenalty keeps the weights small.
	fitPenalty = 10
	// leadLength is within how many characters an answer should state what matters most.
	leadLength = 400
)

// Fit finds the weights that tell the sentences which state a fact from the others best,
// as the file weights.json has them. A fact that stands on another page than one that
// answers counts neither way, for it may stand there by chance.
func Fit(examples []Example) ([]byte, error) {
	fitted, err := fit(examples)
	if err != nil {
		return nil, err
	}
	file, err := json.MarshalIndent(fitted, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the weights of quotes: %w", err)
	}
	return append(file, '\n'), nil
}

func fit(examples []Example) (logistic.Weights, error) {
	sizes := make(map[string]int)
	for _, e := range examples {
		sizes[e.Set]++
	}
	var samples []logistic.Sample
	for _, e := range examples {
		weight := float64(len(examples)) / float64(len(sizes)*sizes[e.Set])
		for _, s := range e.samples() {
			s.Weight *= weight
			samples = append(samples, s)
		}
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("fit the weights of quotes: none of %d questions found a passage", len(examples))
	}
	return logistic.Fit(samples, fitPenalty), nil
}

// EstimateHeldOut measures each half of every set with the weights that were fitted on
// the other halves.
func EstimateHeldOut(examples []Example) ([]Estimate, error) {
	var measured []measuredSet
	for half := range 2 {
		var others, held []Example
		for _, e := range examples {
			if e.Half == half {
				held = append(held, e)
			} else {
				others = append(others, e)
			}
		}
		weights, err := fit(others)
		if err != nil {
			return nil, err
		}
		for _, e := range held {
			measured = measureExample(measured, weights, e)
		}
	}
	estimates := make([]Estimate, len(measured))
	for i, m := range measured {
		estimates[i] = m.estimate()
	}
	return estimates, nil
}

// measuredSet collects what was measured of a set's questions.
type measuredSet struct {
	set         string
	facts, lead []float64 // by question
	lengths     []int     // of those with quotes
}

func measureExample(measured []measuredSet, weights logistic.Weights, e Example) []measuredSet {
	at := slices.IndexFunc(measured, func(m measuredSet) bool { return m.set == e.Set })
	if at < 0 {
		at = len(measured)
		measured = append(measured, measuredSet{set: e.Set})
	}
	m := &measured[at]
	var texts []string
	for _, q := range choose(weights, e.Question, e.Passages, e.Size) {
		texts = append(texts, q.Text)
	}
	text := strings.Join(texts, "\n")
	stated := e.Stated(text)
	count := 0
	for _, holds := range stated {
		if holds {
			count++
		}
	}
	m.facts = append(m.facts, ratio(float64(count), float64(len(stated))))
	m.lead = append(m.lead, logistic.Number(len(stated) > 0 && e.Stated(firstCharacters(text, leadLength))[0]))
	if text != "" {
		m.lengths = append(m.lengths, utf8.RuneCountInString(text))
	}
	return measured
}

func firstCharacters(text string, count int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), count)])
}

func (m measuredSet) estimate() Estimate {
	e := Estimate{Set: m.set, Questions: len(m.facts), Facts: mean(m.facts), Lead: mean(m.lead)}
	if len(m.lengths) > 0 {
		slices.Sort(m.lengths)
		e.Median = m.lengths[len(m.lengths)/2]
	}
	return e
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return ratio(sum, float64(len(values)))
}

func (e Example) samples() []logistic.Sample {
	read, described := describe(e.Question, rank(e.Question, e.Passages, Size{Passages: fitPassages}))
	answered := slices.ContainsFunc(read, func(p passageUnits) bool { return e.Gold[p.position] })
	var samples []logistic.Sample
	stating := 0
	for i, p := range read {
		for j, u := range p.units {
			s := logistic.Sample{Features: logistic.Features(described[i][j])}
			if slices.Contains(e.Stated(u.Text), true) {
				if answered && !e.Gold[p.position] {
					continue
				}
				s.Holds = 1
				stating++
			}
			samples = append(samples, s)
		}
	}
	for i := range samples {
		samples[i].Weight = otherWeight / float64(len(samples))
		if samples[i].Holds > 0 {
			samples[i].Weight = statesWeight / float64(stating)
		}
	}
	return samples
}
