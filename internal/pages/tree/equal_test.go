package tree_test

import (
	"reflect"
	"testing"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// TestEqualLooksAtEveryField changes each exported field of a node in turn.
func TestEqualLooksAtEveryField(t *testing.T) {
	fields := reflect.TypeFor[tree.Node]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if !field.IsExported() {
			continue
		}
		changed := tree.Node{}
		value := reflect.ValueOf(&changed).Elem().Field(i)
		switch value.Kind() {
		case reflect.String:
			value.SetString("x")
		case reflect.Int:
			value.SetInt(1)
		case reflect.Float64:
			value.SetFloat(1)
		case reflect.Bool:
			value.SetBool(true)
		case reflect.Slice:
			made := reflect.MakeSlice(value.Type(), 1, 1)
			if made.Index(0).Kind() == reflect.Pointer {
				made.Index(0).Set(reflect.ValueOf(tree.New()))
			}
			value.Set(made)
		case reflect.Pointer:
			value.Set(reflect.New(value.Type().Elem()))
		default:
			t.Fatalf("%s is of a kind that this test can't change", field.Name)
		}
		if (&tree.Node{}).Equal(&changed) || changed.Equal(&tree.Node{}) {
			t.Errorf("two nodes with different %s are equal", field.Name)
		}
		if !changed.Equal(changed.Clone()) {
			t.Errorf("a copy of a node with %s is not equal", field.Name)
		}
	}
}
