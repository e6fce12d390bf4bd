package quoting

import (
	_ "embed" // the weights
	"encoding/json"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
)

//go:embed weights.json
var weightsFile []byte

// model says how likely a sentence states what was asked for.
var model = mustReadWeights(weightsFile)

func mustReadWeights(file []byte) logistic.Weights {
	var w logistic.Weights
	if err := json.Unmarshal(file, &w); err != nil {
		panic("quoting: weights.json: " + err.Error())
	}
	return w
}
