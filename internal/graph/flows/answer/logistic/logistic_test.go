package logistic_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
)

// TestASumDoesNotDependOnTheOrderOfFeatures, which maps give at random.
func TestASumDoesNotDependOnTheOrderOfFeatures(t *testing.T) {
	weights, features := make(logistic.Weights), make(logistic.Features)
	want := 0.0
	for i := range 60 {
		name := fmt.Sprint(i)
		weights[name], features[name] = math.Sqrt(float64(i+1))-4, 1/float64(i+3)
		want += weights[name] * features[name]
	}
	sum := weights.Sum(features)
	if math.Abs(sum-want) > 1e-9 {
		t.Errorf("sum %v, want %v", sum, want)
	}
	for range 100 {
		if again := weights.Sum(features); again != sum {
			t.Fatalf("sum %v, then %v", sum, again)
		}
	}
}

// TestFitFindsWhatTellsSamplesApart and the same weights each time.
func TestFitFindsWhatTellsSamplesApart(t *testing.T) {
	var samples []logistic.Sample
	for i := range 200 {
		holds := logistic.Number(i%2 == 0)
		samples = append(samples, logistic.Sample{Holds: holds, Weight: 1, Features: logistic.Features{
			logistic.Always: 1, "tells": holds*0.6 + float64(i%5)/10, "noise": float64(i%7) / 7,
		}})
	}
	weights := logistic.Fit(samples, 0.1)
	if weights["tells"] < 3 || math.Abs(weights["noise"]) > 1 {
		t.Errorf("weights %v", weights)
	}
	for name, weight := range logistic.Fit(samples, 0.1) {
		if weight != weights[name] {
			t.Errorf("%s: %v, then %v", name, weights[name], weight)
		}
	}
}
