package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cairn-bot/cairn/internal/llm"
)

// HiddenText is a text that is shown nowhere.
type HiddenText struct {
	llm.Secret
	File string // that it was read from, absolute; "" where it stood in a variable
}

// SecretFile is a file that a secret was read from.
type SecretFile struct{ Key, Path string }

// SecretFiles are the files that secrets were read from: keys, tokens and addresses with
// passwords.
func (c Config) SecretFiles() []SecretFile {
	var found []SecretFile
	for _, s := range settings {
		if !strings.HasSuffix(s.key, "_file") {
			continue
		}
		if path := s.get(&c)[0]; path != "" {
			found = append(found, SecretFile{s.key, path})
		}
	}
	for _, m := range c.Models {
		if m.Key.File != "" {
			found = append(found, SecretFile{"key_file of model " + m.Name, m.Key.File})
		}
	}
	for _, source := range c.Sources {
		if source.Key.File != "" {
			found = append(found, SecretFile{"key_file of source " + source.Name, source.Key.File})
		}
		if source.WebhookKey.File != "" {
			found = append(found, SecretFile{"webhook_key_file of source " + source.Name, source.WebhookKey.File})
		}
	}
	return found
}

// secretSettings are those of a HiddenText: KEY, which the environment alone may hold, and
// KEY_file, a file that holds it.
func secretSettings(at setting) []setting {
	text, file := at, at
	text.form, text.secret = secretForm{key: at.key, env: at.env}, true
	file.key, file.env, file.form = at.key+"_file", at.env+"_FILE", secretFileForm{}
	return []setting{text, file}
}

type secretForm struct{ key, env string }

func (f secretForm) set(field reflect.Value, text string, from base) error {
	if text == "" {
		return nil
	}
	if !from.environment {
		return fmt.Errorf("a secret does not stand here: set %s, or put it into a file and name that with %s_file", f.env, f.key)
	}
	kept, err := checkSecret(text)
	field.Set(reflect.ValueOf(HiddenText{Secret: kept}))
	return err
}

func (secretForm) get(reflect.Value) []string { return []string{""} }

type secretFileForm struct{}

func (secretFileForm) set(field reflect.Value, text string, from base) error {
	if text == "" {
		return nil
	}
	path, err := from.absolute(text)
	if err != nil {
		return err
	}
	held, err := readKey(path)
	if err != nil {
		return err
	}
	kept, err := checkSecret(held)
	field.Set(reflect.ValueOf(HiddenText{Secret: kept, File: path}))
	return err
}

func (secretFileForm) get(field reflect.Value) []string {
	return []string{field.Interface().(HiddenText).File}
}

// checkSecret checks that a key can be sent as it is.
func checkSecret(text string) (llm.Secret, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return llm.Secret{}, errors.New("want a key of visible ASCII characters alone, in one line and without white space")
	}
	return llm.NewSecret(text), nil
}

// checkServiceAccount makes a secret of the JSON key of a service account of Google Cloud.
func checkServiceAccount(text string) (llm.Secret, error) {
	var key struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(text), &key) != nil || key.Type != "service_account" {
		return llm.Secret{}, errors.New("want the JSON key of a service account: the whole file that Google Cloud gives when a key is made")
	}
	return llm.NewSecret(text), nil
}
