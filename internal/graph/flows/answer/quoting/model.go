package quoting

import (
	_ "embed" // the weights
	"encoding/json"
	"math"
	"sort"
)

//go:embed weights.json
var weightsFile []byte

// weights are those of the logistic model, by feature.
type weights map[string]float64

var model = mustReadWeights(weightsFile)

func mustReadWeights(file []byte) weights {
	var w weights
	if err := json.Unmarshal(file, &w); err != nil {
		panic("quoting: weights.json: " + err.Error())
	}
	return w
}

// chance is how likely a sentence with these features states what was asked for.
func (w weights) chance(f features) float64 { return logistic(w.sum(f)) }

func (w weights) sum(f features) float64 {
	sum := 0.0
	for name, value := range f {
		sum += w[name] * value
	}
	return sum
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

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

const fitRounds = 12

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
