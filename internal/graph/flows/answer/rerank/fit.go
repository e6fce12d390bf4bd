package rerank

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
)

// Example is a question with what was found, and how good each passage is: the more, the
// better.
type Example struct {
	Features []logistic.Features
	Grades   []int
	Weight   float64 // of the question among all
}

// Order gives the positions of the passages in the order that weights put them in.
func (e Example) Order(w logistic.Weights) []int {
	order := make([]int, len(e.Features))
	sums := make([]float64, len(e.Features))
	for i, f := range e.Features {
		order[i], sums[i] = i, w.Sum(f)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	return order
}

const (
	// fitPenalty keeps the weights small, but for that of the search's score.
	fitPenalty = 0.5
	// fitRounds and fitStep are how often and how far the weights are moved at most.
	fitRounds = 400
	fitStep   = 0.05
	// searchBefore is the weight of the search's score at first.
	searchBefore = 6
)

// Fit finds the weights by which passages that answer come first, as the file weights.json
// has them.
func Fit(examples []Example) ([]byte, error) {
	weights, err := FitWeights(examples)
	if err != nil {
		return nil, err
	}
	file, err := json.MarshalIndent(weights, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the weights of the order: %w", err)
	}
	return append(file, '\n'), nil
}

// FitWeights fits the weights alone: those that make the passages of a grade likeliest to be
// the first, where each passage is first with a chance by its weighted sum (ListNet, Cao and
// others 2007). Better grades count once more.
func FitWeights(examples []Example) (logistic.Weights, error) {
	examples = slices.DeleteFunc(slices.Clone(examples), func(e Example) bool { return len(e.Grades) == 0 || slices.Max(e.Grades) == 0 })
	if len(examples) == 0 {
		return nil, errors.New("fit the weights of the order: no question has a passage that answers")
	}
	w := logistic.Weights{searchScore: searchBefore}
	mean, square := make(logistic.Weights), make(logistic.Weights)
	for range fitRounds {
		gradient := make(logistic.Weights)
		for _, e := range examples {
			e.addGradient(gradient, w)
		}
		for name := range gradient {
			if name != searchScore {
				gradient[name] -= fitPenalty * w[name]
			}
			// Adam's step (Kingma and Ba 2015), without its correction of the beginning.
			mean[name] = 0.9*mean[name] + 0.1*gradient[name]
			square[name] = 0.99*square[name] + 0.01*gradient[name]*gradient[name]
			if square[name] > 0 {
				w[name] += fitStep * mean[name] / math.Sqrt(square[name])
			}
		}
	}
	for name := range w {
		w[name] = math.Round(w[name]*100) / 100
	}
	return w, nil
}

// addGradient adds how the logarithm of the chance that a passage of each grade comes first
// changes with the weights.
func (e Example) addGradient(gradient, w logistic.Weights) {
	chances := make([]float64, len(e.Features))
	sums := make([]float64, len(e.Features))
	for i, f := range e.Features {
		sums[i] = w.Sum(f)
	}
	most, all := slices.Max(sums), 0.0
	for i := range sums {
		chances[i] = math.Exp(sums[i] - most)
		all += chances[i]
	}
	for grade := 1; grade <= slices.Max(e.Grades); grade++ {
		good := 0.0
		for i := range chances {
			if e.Grades[i] >= grade {
				good += chances[i]
			}
		}
		for i, f := range e.Features {
			off := -chances[i] / all
			if e.Grades[i] >= grade {
				off += chances[i] / good
			}
			for name, value := range f {
				gradient[name] += e.Weight / 2 * off * value
			}
		}
	}
}
