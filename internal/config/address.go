package config

import (
	"errors"
	"net/url"
	"slices"

	"cairn/internal/llm"
)

// Address is where a server is, the zero Address none. It may hold a password, and is
// shown without it.
type Address struct {
	URL  llm.Secret
	File string // that the address was read from, absolute; "" where it stood elsewhere
}

// address is a pair of settings, KEY and KEY_file, that say where a server is.
type address struct {
	key, env string
	// check says why a well-formed address is none of such a server, or nil. What it
	// says never quotes the address, which may hold a password.
	check func(*url.URL) error
	// wanted is what to say of a text that is no address at all.
	wanted error
	field  func(*Config) *Address
}

func (a address) settings() []setting[Config] {
	return []setting[Config]{
		{
			key: a.key, env: a.env,
			set: func(c *Config, text string, from base) (err error) {
				*a.field(c), err = a.at(text, from)
				return err
			},
			get: func(c Config) []string { return []string{a.field(&c).shown()} },
		},
		{
			key: a.key + "_file", env: a.env + "_FILE",
			set: func(c *Config, text string, from base) (err error) {
				if text == "" {
					return nil
				}
				*a.field(c), err = a.in(text, from)
				return err
			},
			get: func(c Config) []string { return []string{a.field(&c).File} },
		},
	}
}

// at takes an address. One with a password is taken from the environment alone.
func (a address) at(text string, from base) (Address, error) {
	if text == "" {
		return Address{}, nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" || parsed.Host == "" {
		return Address{}, a.wanted
	}
	if _, err := url.ParseQuery(parsed.RawQuery); err != nil { // it could hide a password
		return Address{}, a.wanted
	}
	if err := a.check(parsed); err != nil {
		return Address{}, err
	}
	if _, hidden := withoutPassword(parsed); hidden && !from.environment {
		return Address{}, errors.New("it holds a password: set " + a.env + ", or put the address into a file and name that with " + a.key + "_file")
	}
	return Address{URL: llm.NewSecret(text)}, nil
}

// in takes the address that a file holds.
func (a address) in(path string, from base) (Address, error) {
	path, err := from.absolute(path)
	if err != nil {
		return Address{}, err
	}
	text, err := readKey(path)
	if err != nil {
		return Address{}, err
	}
	made, err := a.at(text, base{environment: true})
	made.File = path
	return made, err
}

// shown is the address as it may be shown: with no password, and only where it does not
// stand in a file.
func (a Address) shown() string {
	if a.URL.IsZero() || a.File != "" {
		return ""
	}
	parsed, err := url.Parse(a.URL.Reveal())
	if err != nil {
		return ""
	}
	if safe, hidden := withoutPassword(parsed); hidden {
		return safe
	}
	return a.URL.Reveal()
}

// secretParameters are those of PostgreSQL's addresses that nobody is to see.
var secretParameters = []string{"password", "sslpassword"}

// withoutPassword gives an address as it may be shown, and whether it held a password.
func withoutPassword(parsed *url.URL) (safe string, hidden bool) {
	shown := *parsed
	if _, secret := parsed.User.Password(); secret {
		shown.User, hidden = url.User(parsed.User.Username()), true
	}
	parameters := parsed.Query()
	for name := range parameters {
		if slices.Contains(secretParameters, name) {
			parameters.Del(name)
			shown.RawQuery, hidden = parameters.Encode(), true
		}
	}
	return shown.String(), hidden
}
