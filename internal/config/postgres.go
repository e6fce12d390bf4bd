package config

import (
	"errors"
	"time"
)

// Postgres is the database that holds the index; none where its Address is zero: the
// index is in the data directory then.
type Postgres struct {
	Address `key:"url" form:"postgres"`
	// Read is a replica that searches and look-ups go to; zero: none.
	Read Address `key:"read_url" form:"postgres"`
	// Connections are open to a server at most.
	Connections int `key:"connections" default:"8" min:"1" max:"1000"`
	// Statement is the limit of one look-up.
	Statement time.Duration `key:"statement_timeout" default:"10s" min:"100ms" max:"1h"`
	// BuildMemory is of the server, in bytes, to build a vector index in.
	BuildMemory int64 `key:"build_memory" form:"size" default:"512MiB" min:"1MiB" max:"1TiB"`
}

// validate says what is missing where only a replica is named.
func (p Postgres) validate() error {
	if p.Read.URL.IsZero() || !p.URL.IsZero() {
		return nil
	}
	return errors.New("postgres.read_url: it names a replica, but postgres.url names no primary: set it")
}
