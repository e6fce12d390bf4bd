// Package logistic is a regularized logistic model: weights by the names of features, how
// likely they make a thing, and how they are fitted to samples.
package logistic

import (
	"math"
	"slices"
)

// Always is the feature that is 1 in every sample; its weight is not held down.
const Always = "always"

// Features are what is known of a thing, by name; one that is 0 may be left out.
type Features map[string]float64

// Number is the value of a feature that holds or doesn't: 1 or 0.
func Number(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// Weights are those of the features.
type Weights map[string]float64

// Chance is how likely a thing with these features is, 0 to 1.
func (w Weights) Chance(f Features) float64 { return chance(w.Sum(f)) }

// Sum is the weighted sum of features, whose logistic is the chance. It is exact to 2⁻⁴⁰ for each
// feature, and the same in whatever order the features come.
func (w Weights) Sum(f Features) float64 {
	sum := int64(0)
	for name, value := range f {
		sum += int64(math.Round(w[name] * value * sumUnit))
	}
	return float64(sum) / sumUnit
}

// sumUnit is what a sum counts in: sums of integers don't depend on their order.
const sumUnit = 1 << 40

func chance(sum float64) float64 { return 1 / (1 + math.Exp(-sum)) }

// Sample is a thing of which it is known whether it holds.
type Sample struct {
	Features Features
	Holds    float64 // 1 where it does
	Weight   float64 // of the sample among all
}

// Fit finds the weights that explain the samples best, small ones preferred: Newton's
// method on the logistic loss with a squared penalty.
func Fit(samples []Sample, penalty float64) Weights {
	names := featureNames(samples)
	rows := make([][]float64, len(samples))
	for i, s := range samples {
		rows[i] = make([]float64, len(names))
		for j, name := range names {
			rows[i][j] = s.Features[name]
		}
	}
	values := make([]float64, len(names))
	for range fitRounds {
		gradient, hessian := derivatives(samples, rows, values, names, penalty)
		for j, step := range solve(hessian, gradient) {
			values[j] += step
		}
	}
	w := make(Weights, len(names))
	for j, name := range names {
		w[name] = math.Round(values[j]*1000) / 1000
	}
	return w
}

const fitRounds = 12

func featureNames(samples []Sample) []string {
	known := make(map[string]bool)
	for _, s := range samples {
		for name := range s.Features {
			known[name] = true
		}
	}
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func derivatives(samples []Sample, rows [][]float64, values []float64, names []string, penalty float64) (gradient []float64, hessian [][]float64) {
	n := len(values)
	gradient = make([]float64, n)
	hessian = make([][]float64, n)
	for j := range hessian {
		hessian[j] = make([]float64, n)
		strength := penalty
		if names[j] == Always {
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
		p := chance(sum)
		off := samples[i].Weight * (samples[i].Holds - p)
		curve := samples[i].Weight * p * (1 - p)
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
