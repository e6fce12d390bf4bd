package config

import (
	"strconv"
	"strings"
)

// Shown is one setting as it may be shown.
type Shown struct {
	Key      string
	Value    string // the entries of a list are divided by commas; "" for a secret
	Variable string // of the environment; "" where it has none
	Secret   bool
	Set      bool // of a secret: whether there is one
}

// Shown gives all settings as they may be shown, secrets without their text. The entries of
// the lists "models" and "sources" are numbered from 1.
func (c Config) Shown() []Shown {
	shown := showSettings("", settings, &c)
	for i, model := range c.Models {
		prefix := modelsKey + "." + strconv.Itoa(i+1) + "."
		shown = append(shown, showEntry(prefix, modelSettings, &model)...)
		shown = append(shown, Shown{Key: prefix + "key", Secret: true, Set: !model.Key.Secret.IsZero()})
	}
	for i, source := range c.Sources {
		shown = append(shown, showEntry(sourcesKey+"."+strconv.Itoa(i+1)+".", sourceSettings, &source)...)
	}
	return shown
}

// showEntry shows an entry of a list, which no variable sets.
func showEntry(prefix string, settings []setting, target any) []Shown {
	shown := showSettings(prefix, settings, target)
	for i := range shown {
		shown[i].Variable = ""
	}
	return shown
}

func showSettings(prefix string, settings []setting, target any) []Shown {
	var shown []Shown
	for _, s := range settings {
		one := Shown{Key: prefix + s.key, Variable: s.env}
		if s.secret {
			one.Secret, one.Set = true, s.isSet(target)
		} else {
			one.Value = strings.Join(s.get(target), ", ")
		}
		shown = append(shown, one)
	}
	return shown
}
