package config

import (
	"errors"
	"net/url"
	"strconv"
	"time"
)

// Postgres is the database that holds the index; none where its Address is zero: the
// index is in the data directory then.
type Postgres struct {
	Address
	Read        Address       // a replica that searches and look-ups go to; zero: none
	Connections int           // open to a server at most
	Statement   time.Duration // limit of one look-up
	BuildMemory int64         // bytes of the server's memory to build a vector index in
	QueryLog    QueryLog
	QueryDays   int // how long the query log keeps a question
}

// QueryLog is what the query log keeps of a question.
type QueryLog string

// Nothing at all, that it was asked, or its text as well.
const (
	QueriesOff    QueryLog = "off"
	QueriesHashed QueryLog = "hashed"
	QueriesPlain  QueryLog = "plain"
)

// defaultPostgres are the settings of a database that no address names yet.
var defaultPostgres = Postgres{
	Connections: 8, Statement: 10 * time.Second, BuildMemory: 512 << 20, QueryLog: QueriesHashed, QueryDays: 30,
}

var errPostgresAddress = errors.New("want an address such as postgres://user@host:5432/database")

var (
	postgresAddress = address{
		key: "postgres.url", env: "CAIRN_POSTGRES_URL", check: checkPostgres, wanted: errPostgresAddress,
		field: func(c *Config) *Address { return &c.Postgres.Address },
	}
	replicaAddress = address{
		key: "postgres.read_url", env: "CAIRN_POSTGRES_READ_URL", check: checkPostgres, wanted: errPostgresAddress,
		field: func(c *Config) *Address { return &c.Postgres.Read },
	}
)

// checkPostgres wants the database named: the server's default would be that of the
// user's name, where nobody looks for it.
func checkPostgres(address *url.URL) error {
	if address.Scheme != "postgres" && address.Scheme != "postgresql" {
		return errPostgresAddress
	}
	if len(address.Path) < 2 && address.Query().Get("dbname") == "" {
		return errors.New("it names no database: want postgres://user@host:5432/database")
	}
	return nil
}

// replicaAlone says what is missing where only a replica is named; nil if nothing is.
func (c Config) replicaAlone() error {
	if c.Postgres.Read.URL.IsZero() || !c.Postgres.URL.IsZero() {
		return nil
	}
	return errors.New("postgres.read_url: it names a replica, but postgres.url names no primary: set it")
}

var postgresLimits = []setting[Config]{
	{
		key: "postgres.connections", env: "CAIRN_POSTGRES_CONNECTIONS",
		set: func(c *Config, text string, _ base) (err error) {
			c.Postgres.Connections, err = wholeNumber(text, 1, 1000)
			return err
		},
		get: func(c Config) []string { return []string{strconv.Itoa(c.Postgres.Connections)} },
	},
	{
		key: "postgres.statement_timeout", env: "CAIRN_POSTGRES_STATEMENT_TIMEOUT",
		set: func(c *Config, text string, _ base) (err error) {
			c.Postgres.Statement, err = duration(text, 100*time.Millisecond, time.Hour)
			return err
		},
		get: func(c Config) []string { return []string{c.Postgres.Statement.String()} },
	},
	{
		key: "postgres.build_memory", env: "CAIRN_POSTGRES_BUILD_MEMORY",
		set: func(c *Config, text string, _ base) (err error) {
			c.Postgres.BuildMemory, err = size(text, 1<<20, 1<<40)
			return err
		},
		get: func(c Config) []string { return []string{sizeText(c.Postgres.BuildMemory)} },
	},
	{
		key: "postgres.query_log", env: "CAIRN_POSTGRES_QUERY_LOG",
		set: func(c *Config, text string, _ base) (err error) {
			c.Postgres.QueryLog, err = oneOf(text, QueriesOff, QueriesHashed, QueriesPlain)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Postgres.QueryLog)} },
	},
	{
		key: "postgres.query_log_days", env: "CAIRN_POSTGRES_QUERY_LOG_DAYS",
		set: func(c *Config, text string, _ base) (err error) {
			c.Postgres.QueryDays, err = wholeNumber(text, 1, 3650)
			return err
		},
		get: func(c Config) []string { return []string{strconv.Itoa(c.Postgres.QueryDays)} },
	},
}
