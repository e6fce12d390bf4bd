package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"log/slog"
)

// setting is one key of a struct of settings, as the tags of its field tell:
//
//	key       its name; those of a struct in a struct are dotted, as in web.listen
//	default   its text where nothing else is said
//	form      how its text is read, where the type alone does not tell: a name in texts or forms
//	min, max  bounds of a number, a time or a size
//	oneof     the texts that are allowed, divided by spaces
//	optional  "true": no text, a zero number, or false, stands for none
//	unique    "true": no entry of a list stands there twice
//
// An Address and a HiddenText have two keys: KEY, and KEY_file for a file that holds it.
type setting struct {
	key     string // dotted
	env     string // "CAIRN_WEB_LISTEN"
	index   []int  // of the field
	initial string
	form    form
	list    bool // the value is a list; set is called for each entry
	secret  bool
}

// form reads the text of a setting into its field, and writes it again. The text of a list
// is one of its entries.
type form interface {
	set(field reflect.Value, text string, from base) error
	get(field reflect.Value) []string // one text, or the entries
}

func (s setting) field(target any) reflect.Value {
	return reflect.ValueOf(target).Elem().FieldByIndex(s.index)
}

// set reads a text, or an entry of a list, into the struct that target points to.
func (s setting) set(target any, text string, from base) error {
	return s.form.set(s.field(target), text, from)
}

// get gives the text of the struct that target points to, of a list its entries.
func (s setting) get(target any) []string { return s.form.get(s.field(target)) }

func (s setting) clear(target any) { s.field(target).SetZero() }

// isSet tells whether there is a secret.
func (s setting) isSet(target any) bool { return !s.field(target).IsZero() }

// The keys of the file beside "sources" and "models", and those of one source and one model, in
// the order in which they are documented and shown.
var (
	settings       = settingsOf(reflect.TypeFor[Config](), "", nil)
	sourceSettings = settingsOf(reflect.TypeFor[Source](), "", nil)
	modelSettings  = settingsOf(reflect.TypeFor[Model](), "", nil)
)

// settingsOf reads the tags of a struct. It panics where they are wrong.
func settingsOf(of reflect.Type, prefix string, index []int) []setting {
	var found []setting
	for i := range of.NumField() {
		field := of.Field(i)
		key, tagged := field.Tag.Lookup("key")
		if !tagged {
			continue
		}
		at := setting{key: prefix + key, env: nameVariable(prefix + key), index: append(slices.Clone(index), i), initial: field.Tag.Get("default")}
		switch {
		case field.Type == reflect.TypeFor[Address]():
			found = append(found, addressSettings(at, field.Tag.Get("form"))...)
		case field.Type == reflect.TypeFor[HiddenText]():
			found = append(found, secretSettings(at)...)
		case field.Type.Kind() == reflect.Struct:
			if key != "" {
				key += "."
			}
			found = append(found, settingsOf(field.Type, prefix+key, at.index)...)
		default:
			at.form = formOf(field.Type, field.Tag)
			at.list = field.Type.Kind() == reflect.Slice || field.Type.Kind() == reflect.Map
			found = append(found, at)
		}
	}
	return found
}

// formOf chooses the form of a field.
func formOf(of reflect.Type, tag reflect.StructTag) form {
	if made, ok := forms[tag.Get("form")]; ok {
		return made
	}
	switch {
	case of.Kind() == reflect.Slice:
		return listForm{entry: formOf(of.Elem(), tag), unique: tag.Get("unique") != ""}
	case of.Kind() == reflect.Pointer:
		return pointerForm{formOf(of.Elem(), tag)}
	case tag.Get("form") == "size":
		return newSizeForm(tag)
	case of == reflect.TypeFor[time.Duration]():
		return newDurationForm(tag)
	case of == reflect.TypeFor[slog.Level]():
		return levelForm{allowed: strings.Fields(tag.Get("oneof"))}
	case tag.Get("oneof") != "":
		return choiceForm(strings.Fields(tag.Get("oneof")))
	}
	switch of.Kind() {
	case reflect.Bool:
		return boolForm{optional: tag.Get("optional") != ""}
	case reflect.Int:
		return newWholeForm(tag)
	case reflect.Float64:
		return newNumberForm(tag)
	case reflect.String:
		if read, ok := texts[tag.Get("form")]; ok {
			return textForm{read: read, optional: tag.Get("optional") != ""}
		}
	}
	panic(fmt.Sprintf("a setting of type %s has no form: its tags are %q", of, tag))
}

// setDefaults sets what holds where nothing else is said.
func setDefaults(target any, settings []setting) {
	for _, s := range settings {
		if s.initial == "" {
			continue
		}
		if err := s.set(target, s.initial, base{}); err != nil {
			panic(fmt.Sprintf("the default of %s: %v", s.key, err)) // it stands in a tag
		}
	}
}

// nameVariable names the variable that a setting is read from: CAIRN_SLACK_URL for slack.url.
func nameVariable(key string) string {
	return "CAIRN_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
