package local

import (
	"math"
	"testing"
)

func TestExp2(t *testing.T) {
	for x := float32(0); x > -99*rootSteps; x -= .37 {
		want := math.Exp2(float64(x) / rootSteps)
		if got := float64(exp2(x)); math.Abs(got-want) > 2e-7*want {
			t.Fatalf("exp2(%g) = %g, want %g", x, got, want)
		}
	}
	if got := exp2(-1e6); got != 0 {
		t.Errorf("exp2(-1e6) = %g, want 0", got)
	}
}

func TestSoftmax(t *testing.T) {
	scores, weight := []float32{1, 3, -200}, []float32{2, 1, 1}
	total := softmax(scores, weight, .5)
	first := math.Exp(-1)
	for i, want := range []float64{2 * first, 1, 0} {
		if math.Abs(float64(scores[i])-want) > 1e-6 {
			t.Errorf("exponential %d is %g, want %g", i, scores[i], want)
		}
	}
	if math.Abs(float64(total)-first-1) > 1e-6 {
		t.Errorf("sum is %g, want %g", total, first+1)
	}
}
