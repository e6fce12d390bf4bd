package slack

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/webhook/wiretest"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// TestAnOddValueSpoilsNothingBesideItself has each value of what Slack was recorded to
// send be of each other type.
func TestAnOddValueSpoilsNothingBesideItself(t *testing.T) {
	count := 0
	for _, file := range recordedFiles(t) {
		payloads := recorded(t, file)
		for _, name := range slices.Sorted(maps.Keys(payloads)) {
			var is struct{ Type string }
			if json.Unmarshal(payloads[name], &is) != nil || is.Type == "" {
				continue // a command, which is a form, or a word of the recorder's
			}
			count += readsMutations(t, file+" "+name, payloads[name])
		}
	}
	t.Logf("%d payloads with an odd value", count)
}

// readsMutations gives how many mutations of a payload there are.
func readsMutations(t *testing.T, name string, payload json.RawMessage) int {
	t.Helper()
	mutations := wiretest.Mutate(t, payload)
	original := meaningOf(t, payload)
	for i := 0; i < len(mutations); i += racetest.Stride {
		m := mutations[i]
		got, err := readAny(payload, m.Payload)
		if err != nil {
			t.Errorf("%s: %s: %v", name, m.Where, err)
			continue
		}
		if !reflect.DeepEqual(got, original) && !slices.ContainsFunc(m.Missing, func(missing json.RawMessage) bool {
			want, err := readAny(payload, missing)
			return err == nil && reflect.DeepEqual(got, want)
		}) && !strings.HasPrefix(m.Where, "type =") {
			t.Errorf("%s: %s is read as\n%+v, neither as the original\n%+v, nor as one without the value", name, m.Where, got, original)
		}
	}
	return len(mutations)
}

// readAny reads a changed payload as what the original is: an event or an interaction.
func readAny(original, changed json.RawMessage) (signal, error) {
	var is struct{ Type string }
	if err := json.Unmarshal(original, &is); err != nil {
		return signal{}, err
	}
	if is.Type == "event_callback" || is.Type == "app_rate_limited" {
		return translateEvent(changed, "")
	}
	return parseInteraction(changed)
}

// recordedFiles are the names of the files of recorded payloads.
func recordedFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	return names
}
