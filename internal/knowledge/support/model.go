package support

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Weights are those of features in a logistic model.
type Weights map[string]float64

func (w Weights) chance(f Features) float64 {
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(f)) { // sums of floats depend on their order
		sum += w[name] * f[name]
	}
	return 1 / (1 + math.Exp(-sum))
}

// Model judges claims by their words. Its JSON is weights.json.
type Model struct {
	Supported   Weights `json:"supported"`   // how likely the evidence states all of a claim
	Unsupported Weights `json:"unsupported"` // how likely it states nothing of it
	// From these chances on a claim is supported, or not at all.
	SupportedFrom   float64 `json:"supported_from"`
	UnsupportedFrom float64 `json:"unsupported_from"`
}

// Judge gives the score and the label of a claim with such features.
func (m Model) Judge(f Features) (score float64, label Label) {
	score = m.Supported.chance(f)
	return score, m.labelOf(score, m.Unsupported.chance(f))
}

func (m Model) labelOf(supported, unsupported float64) Label {
	switch {
	case supported >= m.SupportedFrom:
		return Supported
	case unsupported >= m.UnsupportedFrom:
		return Unsupported
	}
	return Partly
}

//go:embed weights.json
var embeddedWeights []byte

var fitted = mustReadModel(embeddedWeights)

// ReadModel reads what was fitted.
func ReadModel(content []byte) (Model, error) {
	var m Model
	if err := json.Unmarshal(content, &m); err != nil {
		return Model{}, fmt.Errorf("read the weights of the support check: %w", err)
	}
	return m, nil
}

func mustReadModel(content []byte) Model {
	m, err := ReadModel(content)
	if err != nil {
		panic(err)
	}
	return m
}
