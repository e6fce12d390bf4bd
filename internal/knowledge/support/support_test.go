package support_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// TestPartsOfANameAreNotBesideIt asks for a name in camel case, which is indexed with its parts.
func TestPartsOfANameAreNotBesideIt(t *testing.T) {
	asked := support.Profile{Terms: []support.Term{{Text: "configmap", IDF: 1}}}
	for heading, want := range map[string]float64{"ConfigMap": 1, "ConfigMap of a volume": 0.5, "Map": 0} {
		if got := asked.Exactness(support.Of(heading)); got != want {
			t.Errorf("%q: %.2f, want %.2f", heading, got, want)
		}
	}
}

func TestExactness(t *testing.T) {
	asked := support.Profile{Terms: []support.Term{{Text: "librari", IDF: 1}, {Text: "chart", IDF: 3, Also: []string{"packag"}}}}
	for heading, want := range map[string]float64{
		"Library Charts":           1,
		"The library of a package": 1,
		"Charts":                   0.75,
		"Library Charts, Signed":   2. / 3,
		"Releases":                 0,
		"The":                      0,
	} {
		if got := asked.Exactness(support.Of(heading)); got != want {
			t.Errorf("%q: %.2f, want %.2f", heading, got, want)
		}
	}
}
