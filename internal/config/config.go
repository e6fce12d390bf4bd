// Package config reads Cairn's settings: one YAML file, then environment variables
// over it. Every key is known, every value is checked, and all that is wrong is
// reported at once, with the line or the variable it stands in. Without a file the
// defaults hold. docs/configuration.md describes each setting.
//
// The keys of models and the passwords in addresses are secrets. They come from a variable
// or from a file that the configuration names, never stand in the YAML itself, and are
// never shown.
package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// Config is all settings, valid as a whole.
type Config struct {
	// File is the file that was read, "" where there was none.
	File string
	// DataDir is absolute; what no server keeps lives below it: sessions, runs, the index.
	DataDir  string   `key:"data_dir" form:"path"`
	Redis    Redis    `key:"redis"`
	Postgres Postgres `key:"postgres"`
	Slack    Slack    `key:"slack"`
	Discord  Discord  `key:"discord"`
	Flows    Flows    `key:"flows"`
	Inspect  Inspect  `key:"inspect"`
	Access   Access   `key:"access"`
	Limits   Limits   `key:"limits"`
	Audit    Audit    `key:"audit"`
	Web      Web      `key:"web"`
	Webhooks Webhooks `key:"webhooks"`
	Answer   Answer   `key:"answer"`
	Search   Search   `key:"search"`
	Budget   Budget   `key:"budget"`
	OCR      OCR      `key:"ocr"`
	Log      Log      `key:"log"`
	// Telemetry is what a process that serves measures of itself.
	Telemetry Telemetry `key:"telemetry"`
	// Operations is the page for those who run Cairn.
	Operations Operations `key:"operations"`

	Sources []Source
	Models  []Model // a role is played by one of them at most
}

// Model gives the model that plays a role.
func (c Config) Model(role Role) (Model, bool) {
	for _, m := range c.Models {
		if m.Has(role) {
			return m, true
		}
	}
	return Model{}, false
}

// Web is the web page's address, "host:port"; port 0 is a free one.
type Web struct {
	Listen string `key:"listen" form:"listen" default:"127.0.0.1:0"`
	// URL is the address that people reach it at, without a / at its end; "" where unknown.
	URL string `key:"url" form:"address" optional:"true"`
}

// Webhooks is where forges tell of changes in sources.
type Webhooks struct {
	// Listen is "host:port", "" for nowhere.
	Listen string `key:"listen" form:"listen" optional:"true"`
}

// Answer is how much an answer says where the person does not choose, and what it may
// link to.
type Answer struct {
	Depth chat.Depth `key:"depth" default:"detailed" oneof:"brief detailed comprehensive"`
	// MaxSources is how many documents are listed under an answer.
	MaxSources int `key:"max_sources" default:"10" min:"1" max:"50"`
	// SidePages is the weight of release notes and the like where nobody asked for them, 0 to 1.
	SidePages float64 `key:"side_pages" default:"0.75" max:"1"`
	// PinDays is how long an answer is given that somebody pinned to a question.
	PinDays int `key:"pin_days" default:"180" min:"1" max:"3650"`
	// LinkHosts are beside the documents, in lower case: "wiki.example.com".
	LinkHosts []string `key:"link_hosts" form:"host"`
}

// Search is how what was found by words and by meaning becomes one list, and what is kept of
// questions.
type Search struct {
	Fusion      retrieve.Method `key:"fusion" default:"convex" oneof:"convex rrf"`
	DenseWeight float64         `key:"dense_weight" default:"0.3" max:"1"` // of meaning against words, 0 to 1
	QueryLog    QueryLog        `key:"query_log" default:"hashed" oneof:"off hashed plain"`
	// QueryDays is how long the query log keeps a question.
	QueryDays int `key:"query_log_days" default:"30" min:"1" max:"3650"`
}

// QueryLog is what the query log keeps of a question.
type QueryLog string

// Nothing at all, that it was asked, or its text as well.
const (
	QueriesOff    QueryLog = "off"
	QueriesHashed QueryLog = "hashed"
	QueriesPlain  QueryLog = "plain"
)

// Log is what is logged, and how.
type Log struct {
	Level  slog.Level `key:"level" default:"info" oneof:"debug info warn error"`
	Format LogFormat  `key:"format" default:"text" oneof:"text json"`
}

// LogFormat is how log lines are written.
type LogFormat string

// Log lines are for people (key=value) or for machines.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// maxFile bounds the configuration file, in bytes.
const maxFile = 1 << 20

//go:embed example.yaml
var example string

// Example is a file with every setting, at its default, and one source.
func Example() string { return example }

// Defaults are the settings that hold where neither file nor environment say otherwise.
// DataDir is "" for a user without a home directory.
func Defaults(host Host) Config {
	config := Config{DataDir: host.dataDir()}
	setDefaults(&config, settings)
	return config
}

// Load reads the settings on the machine that the program runs on, see Host.Load.
func Load(flag string) (Config, error) {
	host, err := ThisHost()
	if err != nil {
		return Config{}, err
	}
	return host.Load(flag)
}

// Load finds the file, see Locate, reads it and applies the environment. flag is the
// file that the command line names, or "". The error holds everything that is wrong,
// one line each.
func (h Host) Load(flag string) (Config, error) {
	config := Defaults(h)
	path, err := h.Locate(flag)
	if err != nil {
		return Config{}, err
	}
	var faults []error
	if path != "" {
		data, err := readFile(path)
		if err != nil {
			return Config{}, err
		}
		config.File = path
		faults = append(faults, decode(&config, path, data, h)...)
	}
	faults = append(faults, applyEnvironment(&config, h)...)
	faults = append(faults, environmentModel(&config, h)...)
	if config.DataDir != "" {
		faults = append(faults, config.readAdded(h)...)
	}
	if len(faults) == 0 {
		faults = append(faults, config.Validate())
	}
	if err := errors.Join(faults...); err != nil {
		return Config{}, err
	}
	return config, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("configuration %s is larger than %d bytes: is it the right file?", path, maxFile)
	}
	return data, nil
}

// applyEnvironment sets what CAIRN_ variables say. One that is empty counts as unset; the
// entries of a list are divided by commas.
// Relative paths are taken from the working directory.
func applyEnvironment(config *Config, host Host) []error {
	var faults []error
	for _, s := range settings {
		text := host.Getenv(s.env)
		if text == "" {
			continue
		}
		values := []string{text}
		if s.list {
			s.clear(config)
			values = strings.Split(text, ",")
		}
		for _, value := range values {
			if err := s.set(config, strings.TrimSpace(value), base{dir: host.WorkDir, home: host.Home, environment: true}); err != nil {
				faults = append(faults, fmt.Errorf("environment variable %s: %w", s.env, err))
			}
		}
	}
	return faults
}

// Validate gives what is missing or does not fit together, one line each.
func (c Config) Validate() error {
	if c.DataDir == "" {
		return errors.New("data_dir: this user has no home directory to keep data in: set data_dir or CAIRN_DATA_DIR")
	}
	return errors.Join(c.validateCosts(), c.Postgres.validate(), c.Slack.validate(), c.Discord.validate(),
		c.Telemetry.validate(), c.Operations.validate(), c.Inspect.validate(), c.validateSignIn())
}

// base is what a relative path and a leading "~/" stand for.
type base struct {
	dir, home   string
	environment bool // the text stands in a variable, not in a file
}

func (b base) absolute(path string) (string, error) {
	if path == "" {
		return "", errors.New("must not be empty")
	}
	if path == "~" || len(path) > 1 && path[0] == '~' && os.IsPathSeparator(path[1]) {
		if b.home == "" {
			return "", fmt.Errorf("%q: this user has no home directory, give an absolute path", path)
		}
		return filepath.Join(b.home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(b.dir, path), nil
}
