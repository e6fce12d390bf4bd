package config

import (
	"errors"
	"net/url"
)

// Redis is where runs and conversations are kept; none where URL is zero: they are in
// the data directory then.
type Redis struct{ Address }

var redisAddress = address{
	key: "redis.url", env: "CAIRN_REDIS_URL",
	check:  func(*url.URL) error { return nil }, // the schemes are the client's to know
	wanted: errors.New("want an address such as redis://host:6379/0; redis+sentinel:// and redis+cluster:// are known too"),
	field:  func(c *Config) *Address { return &c.Redis.Address },
}
