package quoting

import (
	_ "embed" // the weights
	"encoding/json"
	"math"
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
