package quoting

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
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
	fitRounds  = 12
)

// Fit finds the weights that tell the sentences which state a fact from the others best,
// as the file weights.json has them. A fact that stands on another page than one that
// answers counts neither way, for it may stand there by chance.
func Fit(examples []Example) ([]byte, error) {
	var samples []sample
	for _, e := range examples {
		samples = append(samples, e.samples()...)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("fit the weights of quotes: none of %d questions found a passage", len(examples))
	}
	file, err := json.MarshalIndent(fit(samples, fitPenalty), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the weights of quotes: %w", err)
	}
	return append(file, '\n'), nil
}

func (e Example) samples() []sample {
	passages := e.Passages[:min(len(e.Passages), fitPassages)]
	answered := false
	for i := range passages {
		answered = answered || e.Gold[i]
	}
	var samples []sample
	stating := 0
	read, described := describe(e.Question, passages)
	for i := range read {
		for j, u := range read[i].units {
			s := sample{features: described[i][j]}
			if e.States(u.Text) {
				if answered && !e.Gold[i] {
					continue
				}
				s.states = 1
				stating++
			}
			samples = append(samples, s)
		}
	}
	for i := range samples {
		samples[i].weight = otherWeight / float64(len(samples))
		if samples[i].states > 0 {
			samples[i].weight = statesWeight / float64(stating)
		}
	}
	return samples
}

// sample is a sentence whose truth is known.
type sample struct {
	features features
	states   float64 // 1 where it states what was asked for
	weight   float64
}

// fit finds the weights that explain the samples best, small ones preferred: Newton's
// method on the logistic loss with a squared penalty.
func fit(samples []sample, penalty float64) weights {
	names := featureNames(samples)
	rows := make([][]float64, len(samples))
	for i, s := range samples {
		rows[i] = make([]float64, len(names))
		for j, name := range names {
			rows[i][j] = s.features[name]
		}
	}
	values := make([]float64, len(names))
	for range fitRounds {
		gradient, hessian := derivatives(samples, rows, values, names, penalty)
		for j, step := range solve(hessian, gradient) {
			values[j] += step
		}
	}
	w := make(weights, len(names))
	for j, name := range names {
		w[name] = math.Round(values[j]*1000) / 1000
	}
	return w
}

func featureNames(samples []sample) []string {
	known := make(map[string]bool)
	for _, s := range samples {
		for name := range s.features {
			known[name] = true
		}
	}
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func derivatives(samples []sample, rows [][]float64, values []float64, names []string, penalty float64) (gradient []float64, hessian [][]float64) {
	n := len(values)
	gradient = make([]float64, n)
	hessian = make([][]float64, n)
	for j := range hessian {
		hessian[j] = make([]float64, n)
		strength := penalty
		if names[j] == always {
			strength = 1e-6
		}
		gradient[j] = -strength * values[j]
		hessian[j][j] = strength
	}
	for i, row := range rows {
		sum := 0.0
		for j, x := range row {
			sum += x * values[j]
		}
		p := logistic(sum)
		off := samples[i].weight * (samples[i].states - p)
		curve := samples[i].weight * p * (1 - p)
		for j, x := range row {
			if x == 0 {
				continue
			}
			gradient[j] += off * x
			for k, y := range row {
				hessian[j][k] += curve * x * y
			}
		}
	}
	return gradient, hessian
}

// solve gives x of a·x = b for a symmetric, positive a, by elimination with pivots.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for column := range n {
		pivot := column
		for r := column + 1; r < n; r++ {
			if math.Abs(a[r][column]) > math.Abs(a[pivot][column]) {
				pivot = r
			}
		}
		a[column], a[pivot] = a[pivot], a[column]
		b[column], b[pivot] = b[pivot], b[column]
		for r := column + 1; r < n; r++ {
			factor := a[r][column] / a[column][column]
			for c := column; c < n; c++ {
				a[r][c] -= factor * a[column][c]
			}
			b[r] -= factor * b[column]
		}
	}
	x := make([]float64, n)
	for r := n - 1; r >= 0; r-- {
		x[r] = b[r]
		for c := r + 1; c < n; c++ {
			x[r] -= a[r][c] * x[c]
		}
		x[r] /= a[r][r]
	}
	return x
}
