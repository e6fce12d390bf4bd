package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"cairn/internal/llm"
)

// HiddenText is a text that is shown nowhere.
type HiddenText struct {
	llm.Secret
	File string // that it was read from, absolute; "" where it stood in a variable
}

// variable is the one that a setting is read from: CAIRN_SLACK_URL for slack.url.
func variable(key string) string {
	return "CAIRN_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// pairs gives what shown makes of each entry, in the order of the keys.
func pairs[K ~string, T any](of map[K]T, shown func(key K, value T) []string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out = append(out, shown(key, of[key])...)
	}
	return out
}

// channelSetting is a list of channels and how each is listened to, "ID=HOW".
func channelSetting[L ~string](key string, id *regexp.Regexp, want string, read func(string) (L, error), field func(*Config) *map[string]L) setting[Config] {
	return setting[Config]{
		key: key, env: variable(key), list: true,
		set: func(c *Config, text string, _ base) error {
			channel, how, found := strings.Cut(text, "=")
			if !found || !id.MatchString(channel) {
				return fmt.Errorf("%q: want %s", text, want)
			}
			channels := field(c)
			if (*channels)[channel] != "" {
				return fmt.Errorf("%q: the channel stands there twice", text)
			}
			listening, err := read(how)
			if *channels == nil {
				*channels = map[string]L{}
			}
			(*channels)[channel] = listening
			return err
		},
		get: func(c Config) []string {
			return pairs(*field(&c), func(channel string, how L) []string { return []string{channel + "=" + string(how)} })
		},
		clear: func(c *Config) { *field(c) = nil },
	}
}

// humansSetting is a list of those whom "Ask a human" calls, everywhere or in one channel.
func humansSetting(key string, id, human *regexp.Regexp, want string, field func(*Config) *map[string][]string) setting[Config] {
	return setting[Config]{
		key: key, env: variable(key), list: true,
		set: func(c *Config, text string, _ base) error {
			channel, called, found := strings.Cut(text, "=")
			if !found {
				channel, called = "", text
			}
			if found && !id.MatchString(channel) || !human.MatchString(called) {
				return fmt.Errorf("%q: want %s", text, want)
			}
			humans := field(c)
			if *humans == nil {
				*humans = map[string][]string{}
			}
			(*humans)[channel] = append((*humans)[channel], called)
			return nil
		},
		get: func(c Config) []string {
			return pairs(*field(&c), func(channel string, humans []string) []string {
				var shown []string
				for _, called := range humans {
					if channel != "" {
						called = channel + "=" + called
					}
					shown = append(shown, called)
				}
				return shown
			})
		},
		clear: func(c *Config) { *field(c) = nil },
	}
}

// chatAddress is an address without a password; "" is none.
func chatAddress(key string, field func(*Config) *string, tidy func(string) string) setting[Config] {
	return setting[Config]{
		key: key, env: variable(key),
		set: func(c *Config, text string, _ base) error {
			if text == "" {
				return nil
			}
			parsed, err := url.Parse(text)
			if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
				parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
				return errors.New("want an address such as https://cairn.example.com, with no user, query or fragment")
			}
			*field(c) = tidy(text)
			return nil
		},
		get: func(c Config) []string { return []string{*field(&c)} },
	}
}

// chatSecret is a pair of settings: KEY, which the environment alone may hold, and
// KEY_file, a file that holds it.
func chatSecret(key string, field func(*Config) *HiddenText) []setting[Config] {
	env := variable(key)
	return []setting[Config]{
		{
			key: key, env: env,
			set: func(c *Config, text string, from base) error {
				if text == "" {
					return nil
				}
				if !from.environment {
					return fmt.Errorf("a secret does not stand here: set %s, or put it into a file and name that with %s_file", env, key)
				}
				kept, err := secret(text)
				*field(c) = HiddenText{Secret: kept}
				return err
			},
			get:  func(Config) []string { return []string{""} },
			held: func(c Config) bool { return !field(&c).IsZero() },
		},
		{
			key: key + "_file", env: env + "_FILE",
			set: func(c *Config, text string, from base) error {
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
				kept, err := secret(held)
				*field(c) = HiddenText{Secret: kept, File: path}
				return err
			},
			get: func(c Config) []string { return []string{field(&c).File} },
		},
	}
}
