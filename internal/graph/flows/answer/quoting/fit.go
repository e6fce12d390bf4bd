package quoting

import (
	"encoding/json"
	"fmt"

	"cairn/internal/graph/flows/answer/logistic"
)

// Example is a question with what can be quoted, and what is right.
type Example struct {
	Question Question
	Passages []Passage
	Gold     []bool                 // by passage: it is of a page that answers
	States   func(text string) bool // whether a text states one of the facts asked for
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
)

// Fit finds the weights that tell the sentences which state a fact from the others best,
// as the file weights.json has them. A fact that stands on another page than one that
// answers counts neither way, for it may stand there by chance.
func Fit(examples []Example) ([]byte, error) {
	var samples []logistic.Sample
	for _, e := range examples {
		samples = append(samples, e.samples()...)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("fit the weights of quotes: none of %d questions found a passage", len(examples))
	}
	file, err := json.MarshalIndent(logistic.Fit(samples, fitPenalty), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the weights of quotes: %w", err)
	}
	return append(file, '\n'), nil
}

func (e Example) samples() []logistic.Sample {
	passages := e.Passages[:min(len(e.Passages), fitPassages)]
	answered := false
	for i := range passages {
		answered = answered || e.Gold[i]
	}
	var samples []logistic.Sample
	stating := 0
	read, described := describe(e.Question, passages)
	for i := range read {
		for j, u := range read[i].units {
			s := logistic.Sample{Features: logistic.Features(described[i][j])}
			if e.States(u.Text) {
				if answered && !e.Gold[i] {
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
