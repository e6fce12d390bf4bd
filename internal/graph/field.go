package graph

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Field is a named, typed slot of the state S together with its reducer: the rule
// by which a node's change is folded into the value that is there. Make one with
// Replace, Append or Merge, keep it in a package variable, and declare it in New.
type Field[S, V any] struct {
	def *fieldDef[S, V]
}

type fieldDef[S, V any] struct {
	name    string
	aliases []string
	at      func(*S) *V
	reduce  func(old, change V) V
}

// FieldSpec is a Field of any value type; New takes the list of them.
type FieldSpec[S any] interface {
	// allNames gives the field's name, then its former ones.
	allNames() []string
	encode(state *S) (json.RawMessage, error)
	decode(state *S, raw json.RawMessage) error
	parse(raw json.RawMessage) (Change[S], error)
	// slotAddress gives the address and size of the slot inside state.
	slotAddress(state *S) (address, size uintptr)
}

// Change is one field's new value as data. Field.Set makes one.
type Change[S any] interface {
	// Field is the name of the field it changes.
	Field() string
	applyTo(state *S)
	encode() (json.RawMessage, error)
}

// Patch is what a node changes: the engine folds its changes into the state in order.
type Patch[S any] []Change[S]

// Replace makes a field whose changes take the place of the value. at gives the
// field's address inside a state, e.g. func(s *State) *string { return &s.Query }.
func Replace[S, V any](name string, at func(*S) *V) Field[S, V] {
	return newField(name, at, func(_, change V) V { return change })
}

// Append makes a list field whose changes are added at its end. The list that nodes
// hold is never written to: a longer one is made.
func Append[S, E any](name string, at func(*S) *[]E) Field[S, []E] {
	return newField(name, at, func(old, change []E) []E {
		if len(change) == 0 {
			return old
		}
		// The exact capacity makes an append by a node copy instead of writing
		// where a sibling's append would write too.
		joined := make([]E, 0, len(old)+len(change))
		return append(append(joined, old...), change...)
	})
}

// Merge makes a map field whose changes add keys and replace those that are there.
// The map that nodes hold is never written to: a new one is made.
func Merge[S any, K comparable, V any](name string, at func(*S) *map[K]V) Field[S, map[K]V] {
	return newField(name, at, func(old, change map[K]V) map[K]V {
		if len(change) == 0 {
			return old
		}
		merged := make(map[K]V, len(old)+len(change))
		for key, value := range old {
			merged[key] = value
		}
		for key, value := range change {
			merged[key] = value
		}
		return merged
	})
}

func newField[S, V any](name string, at func(*S) *V, reduce func(old, change V) V) Field[S, V] {
	return Field[S, V]{def: &fieldDef[S, V]{name: name, at: at, reduce: reduce}}
}

// Was returns the field with names that it had before: a checkpoint that holds the
// value under one of them is read as this field.
func (f Field[S, V]) Was(oldNames ...string) Field[S, V] {
	def := *f.def
	def.aliases = append(slices.Clone(def.aliases), oldNames...)
	return Field[S, V]{def: &def}
}

// Set returns the change of this field by v: the new value (Replace), the elements to
// add (Append), the entries to add (Merge). v must not be written to afterwards.
func (f Field[S, V]) Set(v V) Change[S] {
	return &set[S, V]{field: f.def, value: v}
}

func (f Field[S, V]) allNames() []string {
	return append([]string{f.def.name}, f.def.aliases...)
}

func (f Field[S, V]) encode(state *S) (json.RawMessage, error) {
	return f.def.encode(f.def.at(state))
}

func (d *fieldDef[S, V]) encode(value *V) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode field %q: %w", d.name, err)
	}
	return raw, nil
}

func (f Field[S, V]) decode(state *S, raw json.RawMessage) error {
	value, err := f.decodeValue(raw)
	if err != nil {
		return err
	}
	*f.def.at(state) = value
	return nil
}

func (f Field[S, V]) parse(raw json.RawMessage) (Change[S], error) {
	value, err := f.decodeValue(raw)
	if err != nil {
		return nil, err
	}
	return f.Set(value), nil
}

func (f Field[S, V]) decodeValue(raw json.RawMessage) (V, error) {
	var value V
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("decode field %q: %w", f.def.name, err)
	}
	return value, nil
}

func (f Field[S, V]) slotAddress(state *S) (address, size uintptr) {
	return reflect.ValueOf(f.def.at(state)).Pointer(), reflect.TypeFor[V]().Size()
}

type set[S, V any] struct {
	field *fieldDef[S, V]
	value V
}

func (c *set[S, V]) Field() string { return c.field.name }

func (c *set[S, V]) applyTo(state *S) {
	slot := c.field.at(state)
	*slot = c.field.reduce(*slot, c.value)
}

func (c *set[S, V]) encode() (json.RawMessage, error) { return c.field.encode(&c.value) }
