package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/llm"
)

// Key is what a server knows us by, and where it was found. Where it is from neither a
// variable nor a file, there is none.
type Key struct {
	Secret llm.Secret
	Env    string `key:"key_env" form:"variable"` // the variable that it came from
	File   string `key:"key_file" form:"path"`    // the file that it came from, absolute
}

// WebhookKey is a secret that deliveries are signed with, and where it was found.
type WebhookKey struct {
	Secret llm.Secret
	Env    string `key:"webhook_key_env" form:"variable"`
	File   string `key:"webhook_key_file" form:"path"` // absolute
}

// MergeKey is the token by which merge requests are opened, and where it was found.
type MergeKey struct {
	Secret llm.Secret
	Env    string `key:"merge_key_env" form:"variable"`
	File   string `key:"merge_key_file" form:"path"` // absolute
}

// The variables of a model that plays every role which the file leaves open. Its key is
// also that of the file's models that name none.
const (
	envModelURL     = "CAIRN_LLM_URL"
	envModelName    = "CAIRN_LLM_MODEL"
	envModelKey     = "CAIRN_LLM_KEY"
	envModelKeyFile = "CAIRN_LLM_KEY_FILE"
)

// maxKey bounds a file with a key, in bytes.
const maxKey = 64 << 10

// find reads a model's key from where it is said to be. Faults name neither the key nor
// its file: what stands there may be a key in the wrong place.
func (m *Model) find(host Host) []fault {
	if m.Key.Env != "" && m.Key.File != "" {
		return []fault{{"key_file", errors.New("key_env says already where the key is: keep one of them")}}
	}
	said := m.Key != Key{}
	if !said {
		inherited, err := environmentKey(host)
		if err != nil {
			return []fault{{"key_env", err}}
		}
		m.Key = inherited
	}
	var text, key string
	var err error
	switch {
	case m.Key.Env != "":
		key, text = "key_env", host.Getenv(m.Key.Env)
		if text == "" {
			err = fmt.Errorf("the environment variable %s is not set", m.Key.Env)
		}
	case m.Key.File != "":
		key = "key_file"
		text, err = readKey(m.Key.File)
	case m.needsKey():
		return []fault{{"key_env", fmt.Errorf("this server takes no request without a key: set the environment variable %s, or say with key_env or key_file where the key is", envModelKey)}}
	default:
		return nil
	}
	if err == nil {
		m.Key.Secret, err = checkSecret(text)
	}
	if err != nil && !said && key == "key_file" {
		err = fmt.Errorf("environment variable %s: %w", envModelKeyFile, err)
	}
	if err != nil {
		return []fault{{key, err}}
	}
	return nil
}

// environmentKey is the key that the environment has for models that name none.
func environmentKey(host Host) (Key, error) {
	file := host.Getenv(envModelKeyFile)
	switch {
	case host.Getenv(envModelKey) == "" && file == "":
		return Key{}, nil
	case file == "":
		return Key{Env: envModelKey}, nil
	case host.Getenv(envModelKey) != "":
		return Key{}, fmt.Errorf("the environment variables %s and %s are both set: keep one of them", envModelKey, envModelKeyFile)
	}
	path, err := base{dir: host.WorkDir, home: host.Home}.absolute(file)
	return Key{File: path}, err
}

// readKey reads a file that holds nothing but a key.
func readKey(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", unreadable(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("want a file that holds the key: this is a folder or no regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", unreadable(err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxKey+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return "", unreadable(err)
	}
	if len(data) > maxKey {
		return "", fmt.Errorf("the file is larger than %d bytes: is it the right one?", maxKey)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", errors.New("the file is empty: put the key into it")
	}
	return text, nil
}

// unreadable says why a file can't be read, without its name.
func unreadable(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("the user that Cairn runs as may not read the file: change its owner or mode")
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("the file can't be read: %w", err)
}

// newModel is a model with these roles, and the defaults.
func newModel(roles ...Role) Model {
	made := Model{Roles: slices.Clone(roles)}
	setDefaults(&made, modelSettings)
	return made
}

// environmentModel adds the model that the environment names, for the roles that the
// file leaves open.
func environmentModel(config *Config, host Host) []error {
	address, model := host.Getenv(envModelURL), host.Getenv(envModelName)
	if address == "" && model == "" {
		return nil
	}
	made := newModel(openRoles(config.Models)...)
	if len(made.Roles) == 0 {
		return nil
	}
	var faults []error
	for _, given := range []struct{ variable, key, text string }{
		{envModelURL, "base_url", address},
		{envModelName, "model", model},
	} {
		if given.text == "" {
			continue
		}
		if err := findSetting(modelSettings, given.key).set(&made, given.text, base{}); err != nil {
			faults = append(faults, fmt.Errorf("environment variable %s: %w", given.variable, err))
		}
	}
	if model == "" {
		faults = append(faults, fmt.Errorf("environment variable %s: is not set, but %s is: say which model the server is asked for", envModelName, envModelURL))
	}
	for _, fault := range append(made.complete(), made.find(host)...) {
		faults = append(faults, fmt.Errorf("model of the environment variable %s: %w", envModelName, fault.err))
	}
	config.Models = append(config.Models, made)
	return faults
}

// ChatModel is a model that plays all roles of conversation, at an address, "" for OpenAI's,
// with the key that the environment has for models.
func ChatModel(host Host, address, name string) (Model, error) {
	made := newModel(chatRoles...)
	for key, text := range map[string]string{"base_url": address, "model": name} {
		if text == "" {
			continue
		}
		if err := findSetting(modelSettings, key).set(&made, text, base{}); err != nil {
			return Model{}, fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, fault := range append(made.complete(), made.find(host)...) {
		return Model{}, fmt.Errorf("%s: %w", fault.key, fault.err)
	}
	return made, nil
}

// openRoles are the roles of conversation that no model plays.
func openRoles(models []Model) []Role {
	var open []Role
	for _, role := range chatRoles {
		taken := false
		for _, m := range models {
			taken = taken || m.Has(role)
		}
		if !taken {
			open = append(open, role)
		}
	}
	return open
}

// findKey reads the token and the secret of webhooks from where they are said to be.
func (s *Source) findKey(host Host) []fault {
	check := secretCheck(checkSecret)
	if s.Kind == SourceDrive {
		check = checkServiceAccount
	}
	secret, faults := check.find(host, "key", s.Key.Env, s.Key.File)
	s.Key.Secret = secret
	signing, found := secretCheck(checkSecret).find(host, "webhook_key", s.WebhookKey.Env, s.WebhookKey.File)
	s.WebhookKey.Secret = signing
	merging, wrong := secretCheck(checkSecret).find(host, "merge_key", s.MergeKey.Env, s.MergeKey.File)
	s.MergeKey.Secret = merging
	return slices.Concat(faults, found, wrong)
}

// secretCheck makes a secret of a text, or says what it has to look like.
type secretCheck func(text string) (llm.Secret, error)

// find reads the secret of NAME_env or NAME_file. Faults name neither it nor its file.
func (check secretCheck) find(host Host, name, variable, file string) (secret llm.Secret, faults []fault) {
	var text string
	var err error
	key := name + "_env"
	switch {
	case variable != "" && file != "":
		return secret, []fault{{name + "_file", fmt.Errorf("%s_env says already where the key is: keep one of them", name)}}
	case variable != "":
		if text = host.Getenv(variable); text == "" {
			err = fmt.Errorf("the environment variable %s is not set", variable)
		}
	case file != "":
		key = name + "_file"
		text, err = readKey(file)
	default:
		return secret, nil
	}
	if err == nil {
		secret, err = check(text)
	}
	if err != nil {
		return secret, []fault{{key, err}}
	}
	return secret, nil
}
