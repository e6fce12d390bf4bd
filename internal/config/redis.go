package config

import (
	"errors"
	"net/url"

	"cairn/internal/llm"
)

// Redis is where runs and conversations are kept; none where URL is zero: they are in
// the data directory then. The address may hold a password.
type Redis struct {
	URL  llm.Secret
	File string // that the address was read from, absolute; "" where it stood elsewhere
}

var errRedisAddress = errors.New("want an address such as redis://host:6379/0; redis+sentinel:// and redis+cluster:// are known too")

// redisAt takes an address. One with a password is taken from the environment alone.
func redisAt(text string, from base) (Redis, error) {
	if text == "" {
		return Redis{}, nil
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme == "" || address.Host == "" {
		return Redis{}, errRedisAddress // which may hold a password: it is not quoted
	}
	if _, secret := address.User.Password(); secret && !from.environment {
		return Redis{}, errors.New("it holds a password: set CAIRN_REDIS_URL, or put the address into a file and name that with redis.url_file")
	}
	return Redis{URL: llm.NewSecret(text)}, nil
}

// redisIn takes the address that a file holds.
func redisIn(path string, from base) (Redis, error) {
	path, err := from.absolute(path)
	if err != nil {
		return Redis{}, err
	}
	text, err := readKey(path)
	if err != nil {
		return Redis{}, err
	}
	made, err := redisAt(text, base{environment: true})
	made.File = path
	return made, err
}

// shown is the address as it may be shown: with no password, and only where it does not
// stand in a file.
func (r Redis) shown() string {
	if r.URL.IsZero() || r.File != "" {
		return ""
	}
	address, err := url.Parse(r.URL.Reveal())
	if err != nil {
		return ""
	}
	if _, secret := address.User.Password(); secret {
		address.User = url.User(address.User.Username())
		return address.String()
	}
	return r.URL.Reveal()
}
