package discord

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/webhook/wiretest"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// TestAnOddValueSpoilsNothingBesideItself has each value of what Discord was recorded to
// send be of each other type.
func TestAnOddValueSpoilsNothingBesideItself(t *testing.T) {
	count := 0
	for _, file := range []string{"traffic", "slash", "edit"} {
		payloads := recorded(t, file)
		for _, name := range slices.Sorted(maps.Keys(payloads)) {
			event, data, ok := dispatchOf(payloads[name])
			if !ok {
				continue // a word of the recorder's
			}
			original, err := translateEvent(event, data, recordedIdentity())
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range wiretest.Mutate(t, data) {
				if i%racetest.Stride > 0 {
					continue
				}
				count++
				got, err := translateEvent(event, m.Payload, recordedIdentity())
				if err != nil {
					t.Errorf("%s: %s: %v", name, m.Where, err)
				} else if !reflect.DeepEqual(got, original) && !isReadAs(got, event, m.Missing) {
					t.Errorf("%s: %s is read as\n%+v, neither as the original\n%+v, nor as one without the value", name, m.Where, got, original)
				}
			}
		}
	}
	t.Logf("%d payloads with an odd value", count)
}

// isReadAs tells whether one of several payloads of an event is read as a signal.
func isReadAs(want signal, event string, payloads []json.RawMessage) bool {
	return slices.ContainsFunc(payloads, func(payload json.RawMessage) bool {
		got, err := translateEvent(event, payload, recordedIdentity())
		return err == nil && reflect.DeepEqual(got, want)
	})
}

// dispatchOf gives the event and the data of a recorded payload; false for what is none.
func dispatchOf(payload json.RawMessage) (event string, data json.RawMessage, ok bool) {
	var is struct {
		Type json.RawMessage
		Data json.RawMessage
		T    string
		D    json.RawMessage
	}
	if json.Unmarshal(payload, &is) != nil {
		return "", nil, false
	}
	var wrapped string
	switch {
	case is.T != "":
		return is.T, is.D, true
	case json.Unmarshal(is.Type, &wrapped) == nil:
		return strings.TrimPrefix(wrapped, "GATEWAY_"), is.Data, true
	}
	return "INTERACTION_CREATE", payload, is.Type != nil
}
