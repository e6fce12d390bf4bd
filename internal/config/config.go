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

	"cairn/internal/chat"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/retrieve"
)

// Config is all settings, valid as a whole.
type Config struct {
	// File is the file that was read, "" where there was none.
	File     string
	DataDir  string // absolute; what no server keeps lives below it: sessions, runs, the index
	Sources  []Source
	Models   []Model // a role is played by one of them at most
	Budget   Budget
	Redis    Redis
	Postgres Postgres
	Web      Web
	Slack    Slack
	Discord  Discord
	Flows    Flows
	Access   Access
	Answer   Answer
	Search   Search
	Log      Log
	Limits   Limits
	Audit    Audit
	// Telemetry is what a process that serves measures of itself.
	Telemetry Telemetry
	// Operations is the page for those who run Cairn.
	Operations Operations
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

// Source is a place that documents come from.
type Source struct {
	Name             string // unique; becomes the documents' knowledge.SourceID
	Kind             SourceKind
	Path             string // absolute
	Include, Exclude []string
	URLBase          string         // absolute, or "" for file addresses
	Documents        knowledge.Kind // the category that its documents are shown under
	MaxDocumentBytes int64
	Audience         []knowledge.Principal // none: public
	Owner            string                // of documents that name none
}

// SourceKind says which connector reads a source.
type SourceKind string

// SourceFiles is a folder of documents.
const SourceFiles SourceKind = "files"

// Web is the web page's address, "host:port"; port 0 is a free one.
type Web struct {
	Listen string
	URL    string // the address that people reach it at, without a / at its end; "" where unknown
}

// Answer is how much an answer says where the person does not choose, and what it may
// link to.
type Answer struct {
	Depth      chat.Depth
	MaxSources int      // documents listed under an answer
	SidePages  float64  // weight of release notes and the like where nobody asked for them, 0 to 1
	LinkHosts  []string // beside the documents, in lower case: "wiki.example.com"
}

// Search is how what was found by words and by meaning becomes one list.
type Search struct {
	Fusion      retrieve.Method
	DenseWeight float64 // of meaning against words, 0 to 1
}

// Log is what is logged, and how.
type Log struct {
	Level  slog.Level
	Format LogFormat
}

// LogFormat is how log lines are written.
type LogFormat string

// Log lines are for people (key=value) or for machines.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

const (
	defaultMaxDocumentBytes = 32 << 20
	// maxFile bounds the configuration file, in bytes.
	maxFile = 1 << 20
)

//go:embed example.yaml
var example string

// Example is a file with every setting, at its default, and one source.
func Example() string { return example }

// Defaults are the settings that hold where neither file nor environment say otherwise.
// DataDir is "" for a user without a home directory.
func Defaults(host Host) Config {
	return Config{
		DataDir:  host.dataDir(),
		Postgres: defaultPostgres,
		Web:      Web{Listen: "127.0.0.1:0"},
		Slack:    defaultSlack,
		Discord:  defaultDiscord,
		Access:   defaultAccess,
		Answer:   Answer{Depth: chat.Detailed, MaxSources: 10, SidePages: 0.75},
		Search:   Search{Fusion: retrieve.DefaultFusion.Method, DenseWeight: retrieve.DefaultFusion.Dense},
		Log:      Log{Level: slog.LevelInfo, Format: LogText},
	}
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
	if config.DataDir == "" && len(faults) == 0 {
		faults = append(faults, errors.New("data_dir: this user has no home directory to keep data in: set data_dir or CAIRN_DATA_DIR"))
	}
	if len(faults) == 0 {
		faults = append(faults, config.unpriced(), config.unpricedLimits(), config.replicaAlone(), config.slackAlone(), config.discordAlone(), config.telemetryAlone(), config.operationsAlone(), config.signInAlone())
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

// unpriced says what is missing to count the costs that the budget limits; nil if
// nothing is.
func (c Config) unpriced() error {
	if c.Budget.RunCost == 0 && c.Budget.DayCost == 0 || len(c.Models) == 0 || c.priced() {
		return nil
	}
	return errors.New("budget: run_cost and day_cost count nothing without prices: set price_prompt and price_completion of a model, or limit tokens")
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
