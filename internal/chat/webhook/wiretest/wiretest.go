// Package wiretest changes payloads of platforms as platforms do: a value has another type
// than the one that was expected.
package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// Mutation is a payload in which one value has another type.
type Mutation struct {
	// Where names the value and what stands in its place: "event.files[0].size = true".
	Where   string
	Payload json.RawMessage
	// Missing are the payload without the value, and with an empty value of its own type: a
	// reader that copes with the mutation may make of it what it makes of one of them.
	Missing []json.RawMessage
}

// odd are values of all types.
var odd = []any{nil, true, json.Number("7"), json.Number("1.5"), "odd", []any{"odd"}, []any{}, map[string]any{"odd": true}}

// Mutate returns a payload with each of its values in turn, but for the whole, as a value of
// each other type.
func Mutate(t testing.TB, payload json.RawMessage) []Mutation {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		t.Fatal(err)
	}
	m := mutator{t: t, whole: whole}
	m.mutateInside("", whole)
	if len(m.made) == 0 {
		t.Fatalf("nothing can be changed in %s", payload)
	}
	return m.made
}

type mutator struct {
	t     testing.TB
	whole any
	made  []Mutation
}

// mutateInside changes the values in one.
func (m *mutator) mutateInside(path string, value any) {
	switch in := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(in)) {
			m.mutateValue(path+"."+name, in[name], func(to any) { in[name] = to })
		}
	case []any:
		for i := range in {
			m.mutateValue(fmt.Sprintf("%s[%d]", path, i), in[i], func(to any) { in[i] = to })
		}
	}
}

// mutateValue puts other values in the place of one. Which type null is of nobody knows.
func (m *mutator) mutateValue(path string, value any, set func(any)) {
	if value == nil {
		return
	}
	set(nil)
	missing := []json.RawMessage{m.encodeCurrent()}
	set(emptyOf(value))
	missing = append(missing, m.encodeCurrent())
	for _, other := range odd {
		if kindOf(other) == kindOf(value) && other != json.Number("1.5") {
			continue
		}
		set(other)
		m.made = append(m.made, Mutation{fmt.Sprintf("%s = %v", path[1:], other), m.encodeCurrent(), missing})
	}
	set(value)
	m.mutateInside(path, value)
}

func (m *mutator) encodeCurrent() json.RawMessage {
	raw, err := json.Marshal(m.whole)
	if err != nil {
		m.t.Fatal(err)
	}
	return raw
}

func kindOf(value any) string { return fmt.Sprintf("%T", value) }

func emptyOf(value any) any {
	switch value.(type) {
	case bool:
		return false
	case json.Number:
		return json.Number("0")
	case string:
		return ""
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	}
	return nil
}
