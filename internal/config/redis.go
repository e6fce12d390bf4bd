package config

// Redis is where runs and conversations are kept; none where URL is zero: they are in
// the data directory then.
type Redis struct {
	Address `key:"url" form:"redis"`
}
