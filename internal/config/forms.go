package config

import (
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// textForm is a text that is checked, and tidied.
type textForm struct {
	read     func(text string, from base) (string, error)
	optional bool // no text is none
}

func (f textForm) set(field reflect.Value, text string, from base) error {
	if text == "" && f.optional {
		field.SetString("")
		return nil
	}
	read, err := f.read(text, from)
	if err == nil {
		field.SetString(read)
	}
	return err
}

func (textForm) get(field reflect.Value) []string { return []string{field.String()} }

// choiceForm is one of several texts.
type choiceForm []string

func (f choiceForm) set(field reflect.Value, text string, _ base) error {
	if err := checkChoice(text, f); err != nil {
		return err
	}
	field.SetString(text)
	return nil
}

func (choiceForm) get(field reflect.Value) []string { return []string{field.String()} }

func checkChoice(text string, allowed []string) error {
	if !slices.Contains(allowed, text) {
		return fmt.Errorf("%q: want %s", text, strings.Join(allowed, ", "))
	}
	return nil
}

// levelForm is the least level of log lines that are written.
type levelForm struct{ allowed []string }

func (f levelForm) set(field reflect.Value, text string, _ base) error {
	if err := checkChoice(text, f.allowed); err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	field.SetInt(int64(level))
	return nil
}

func (levelForm) get(field reflect.Value) []string {
	return []string{strings.ToLower(slog.Level(field.Int()).String())}
}

type boolForm struct {
	optional bool // false is none
}

func (boolForm) set(field reflect.Value, text string, _ base) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%q: want true or false", text)
	}
	field.SetBool(on)
	return nil
}

func (f boolForm) get(field reflect.Value) []string {
	if f.optional && !field.Bool() {
		return []string{""}
	}
	return []string{strconv.FormatBool(field.Bool())}
}

// wholeForm is a whole number.
type wholeForm struct {
	least, most int
	optional    bool // 0 is none
}

func newWholeForm(tag reflect.StructTag) wholeForm {
	return wholeForm{least: int(tagNumber(tag, "min")), most: int(tagNumber(tag, "max")), optional: tag.Get("optional") != ""}
}

func (f wholeForm) set(field reflect.Value, text string, _ base) error {
	n, err := wholeNumber(text, f.least, f.most)
	if err == nil {
		field.SetInt(int64(n))
	}
	return err
}

func (f wholeForm) get(field reflect.Value) []string {
	if f.optional && field.IsZero() {
		return []string{""}
	}
	return []string{strconv.FormatInt(field.Int(), 10)}
}

// numberForm is a number from 0.
type numberForm struct {
	most     float64
	optional bool // 0 is none
}

func newNumberForm(tag reflect.StructTag) numberForm {
	return numberForm{most: tagNumber(tag, "max"), optional: tag.Get("optional") != ""}
}

func (f numberForm) set(field reflect.Value, text string, _ base) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > f.most {
		return fmt.Errorf("%q: want a number from 0 to %s", text, formatNumber(f.most))
	}
	field.SetFloat(math.Abs(n)) // -0 is 0
	return nil
}

func (f numberForm) get(field reflect.Value) []string {
	if f.optional && field.IsZero() {
		return []string{""}
	}
	return []string{formatNumber(field.Float())}
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// durationForm is a time such as 30s. 0 is none.
type durationForm struct{ least, most time.Duration }

func newDurationForm(tag reflect.StructTag) durationForm {
	return durationForm{least: tagDuration(tag, "min"), most: tagDuration(tag, "max")}
}

func (f durationForm) set(field reflect.Value, text string, _ base) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < f.least || d > f.most {
		return fmt.Errorf("%q: want a time from %s to %s, such as 30s", text, f.least, f.most)
	}
	field.SetInt(int64(d))
	return nil
}

func (durationForm) get(field reflect.Value) []string {
	if field.IsZero() {
		return []string{""}
	}
	return []string{time.Duration(field.Int()).String()}
}

// sizeForm is a number of bytes, with a unit as in "32MiB" or without.
type sizeForm struct{ least, most uint64 }

func newSizeForm(tag reflect.StructTag) sizeForm {
	return sizeForm{least: tagSize(tag, "min"), most: tagSize(tag, "max")}
}

func (f sizeForm) set(field reflect.Value, text string, _ base) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n < f.least || n > f.most {
		return fmt.Errorf("%q: want a size from %s to %s, such as 32MiB", text, humanize.IBytes(f.least), humanize.IBytes(f.most))
	}
	field.SetInt(int64(n)) //nolint:gosec // at most what the tag says
	return nil
}

// get writes a size so that it reads back as the same number of bytes.
func (sizeForm) get(field reflect.Value) []string {
	n := field.Int()
	if n%(1<<20) == 0 {
		return []string{strconv.FormatInt(n>>20, 10) + "MiB"}
	}
	return []string{strconv.FormatInt(n, 10)}
}

// pointerForm is a value that may be missing.
type pointerForm struct{ value form }

func (f pointerForm) set(field reflect.Value, text string, from base) error {
	made := reflect.New(field.Type().Elem())
	err := f.value.set(made.Elem(), text, from)
	if err == nil {
		field.Set(made)
	}
	return err
}

func (f pointerForm) get(field reflect.Value) []string {
	if field.IsNil() {
		return []string{""}
	}
	return f.value.get(field.Elem())
}

// listForm is a list of values.
type listForm struct {
	entry  form
	unique bool
}

func (f listForm) set(field reflect.Value, text string, from base) error {
	made := reflect.New(field.Type().Elem()).Elem()
	if err := f.entry.set(made, text, from); err != nil {
		return err
	}
	if f.unique && slices.Contains(f.get(field), f.entry.get(made)[0]) {
		return fmt.Errorf("%q: stands there twice", text)
	}
	field.Set(reflect.Append(field, made))
	return nil
}

func (f listForm) get(field reflect.Value) []string {
	entries := make([]string, field.Len())
	for i := range entries {
		entries[i] = f.entry.get(field.Index(i))[0]
	}
	return entries
}

// The bounds in tags.

func tagNumber(tag reflect.StructTag, key string) float64 {
	return mustTag(tag, key, "0", func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
}

func tagDuration(tag reflect.StructTag, key string) time.Duration {
	return mustTag(tag, key, "0s", time.ParseDuration)
}

func tagSize(tag reflect.StructTag, key string) uint64 {
	return mustTag(tag, key, "0", humanize.ParseBytes)
}

// mustTag reads a tag, which is otherwise where it is missing.
func mustTag[T any](tag reflect.StructTag, key, otherwise string, read func(string) (T, error)) T {
	text, ok := tag.Lookup(key)
	if !ok {
		text = otherwise
	}
	value, err := read(text)
	if err != nil {
		panic(fmt.Sprintf("the tag %s of a setting: %v", key, err))
	}
	return value
}

func wholeNumber(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q: want a whole number from %d to %d", text, least, most)
	}
	return n, nil
}
