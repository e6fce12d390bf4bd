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

func (w Weights) computeChance(f Features) float64 {
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
	Faithful    Weights `json:"faithful"`    // how likely a section states a claim as it is
	// From these chances on a claim is supported, or not at all.
	SupportedFrom   float64 `json:"supported_from"`
	UnsupportedFrom float64 `json:"unsupported_from"`
}

// The features that each of a model's weights are fitted to.
var (
	SupportedFeatures   = []string{featureAlways, featureProduct, featureExact, featureReversed}
	UnsupportedFeatures = []string{featureAlways, featureNear, featureMissing}
	FaithfulFeatures    = []string{
		featureAlways, featureBest, featureLength, featureCode, featureNumber, featureTurned, featureOpposed, featureReplaced,
		featureDenying, featureLast, featureLong, featureDisorder, featureTurnedUp, featureOnly, featureNumbers,
		featureForeign, featureForeignMiss, featureForeignSure, featureForeignNot,
	}
)

// FaithfulChance is how likely a section states a claim with such features as it is.
func (m Model) FaithfulChance(f Features) float64 { return m.Faithful.computeChance(f) }

// SupportedChance is how likely evidence states all of a claim with such features.
func (m Model) SupportedChance(f Features) float64 { return m.Supported.computeChance(f) }

// UnsupportedChance is how likely evidence states nothing of a claim with such features.
func (m Model) UnsupportedChance(f Features) float64 { return m.Unsupported.computeChance(f) }

// partlyScore and supportedScore are the scores above which a claim is supported in part, and whole.
const (
	partlyScore    = 1.0 / 3
	supportedScore = 2.0 / 3
)

// Judge gives the score and the label of a claim with such features.
func (m Model) Judge(f Features) (score float64, label Label) {
	supported, unsupported := m.SupportedChance(f), m.UnsupportedChance(f)
	switch {
	case supported >= m.SupportedFrom:
		return supportedScore + partlyScore*(supported-m.SupportedFrom)/max(1-m.SupportedFrom, leastWeight), Supported
	case unsupported >= m.UnsupportedFrom:
		return partlyScore * (1 - unsupported) / max(1-m.UnsupportedFrom, leastWeight), Unsupported
	}
	return partlyScore + partlyScore*(supported/m.SupportedFrom+1-unsupported/m.UnsupportedFrom)/2, Partly
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
