package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/dustin/go-humanize"

	"cairn/internal/chat"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/retrieve"
)

// setting is one key of a T: how its text is checked and stored, and written again.
type setting[T any] struct {
	key string // dotted, e.g. "web.listen"
	env string
	// list says that the value is a list; set is called for each entry.
	list  bool
	set   func(target *T, text string, from base) error
	get   func(target T) []string // one entry unless list
	clear func(target *T)         // of a list that has an env
	held  func(target T) bool     // of a secret: whether there is one
}

// settings are the keys of the file beside "sources" and "models", in the order in which they are
// documented and shown.
var settings = slices.Concat([]setting[Config]{dataDir}, redisAddress.settings(),
	postgresAddress.settings(), replicaAddress.settings(), postgresLimits, slackSettings, discordSettings, flowSettings, accessSettings, limitSettings, others, telemetrySettings, operationsSettings)

var dataDir = setting[Config]{
	key: "data_dir", env: "CAIRN_DATA_DIR",
	set: func(c *Config, text string, from base) (err error) {
		c.DataDir, err = from.absolute(text)
		return err
	},
	get: func(c Config) []string { return []string{c.DataDir} },
}

var others = []setting[Config]{
	{
		key: "web.listen", env: "CAIRN_WEB_LISTEN",
		set: func(c *Config, text string, _ base) (err error) {
			c.Web.Listen, err = listenAddress(text)
			return err
		},
		get: func(c Config) []string { return []string{c.Web.Listen} },
	},
	chatAddress("web.url", func(c *Config) *string { return &c.Web.URL }, func(text string) string { return strings.TrimRight(text, "/") }),
	{
		key: "answer.depth", env: "CAIRN_ANSWER_DEPTH",
		set: func(c *Config, text string, _ base) (err error) {
			c.Answer.Depth, err = oneOf(text, chat.Brief, chat.Detailed, chat.Comprehensive)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Answer.Depth)} },
	},
	{
		key: "answer.max_sources", env: "CAIRN_ANSWER_MAX_SOURCES",
		set: func(c *Config, text string, _ base) (err error) {
			c.Answer.MaxSources, err = wholeNumber(text, 1, 50)
			return err
		},
		get: func(c Config) []string { return []string{strconv.Itoa(c.Answer.MaxSources)} },
	},
	{
		key: "answer.side_pages", env: "CAIRN_ANSWER_SIDE_PAGES",
		set: func(c *Config, text string, _ base) (err error) {
			c.Answer.SidePages, err = shareOfOne(text)
			return err
		},
		get: func(c Config) []string { return []string{strconv.FormatFloat(c.Answer.SidePages, 'g', -1, 64)} },
	},
	{
		key: "answer.link_hosts", env: "CAIRN_ANSWER_LINK_HOSTS", list: true,
		set: func(c *Config, text string, _ base) error {
			host := strings.ToLower(text)
			if !hostName.MatchString(host) {
				return fmt.Errorf("%q: want the name of a host alone, such as wiki.example.com", text)
			}
			c.Answer.LinkHosts = append(c.Answer.LinkHosts, host)
			return nil
		},
		get:   func(c Config) []string { return c.Answer.LinkHosts },
		clear: func(c *Config) { c.Answer.LinkHosts = nil },
	},
	{
		key: "search.fusion", env: "CAIRN_SEARCH_FUSION",
		set: func(c *Config, text string, _ base) (err error) {
			c.Search.Fusion, err = oneOf(text, retrieve.Convex, retrieve.RRF)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Search.Fusion)} },
	},
	{
		key: "search.dense_weight", env: "CAIRN_SEARCH_DENSE_WEIGHT",
		set: func(c *Config, text string, _ base) (err error) {
			c.Search.DenseWeight, err = shareOfOne(text)
			return err
		},
		get: func(c Config) []string { return []string{strconv.FormatFloat(c.Search.DenseWeight, 'g', -1, 64)} },
	},
	budgetTokens("budget.run_tokens", "CAIRN_BUDGET_RUN_TOKENS", func(c *Config) *int { return &c.Budget.RunTokens }),
	budgetTokens("budget.day_tokens", "CAIRN_BUDGET_DAY_TOKENS", func(c *Config) *int { return &c.Budget.DayTokens }),
	budgetCost("budget.run_cost", "CAIRN_BUDGET_RUN_COST", func(c *Config) *float64 { return &c.Budget.RunCost }),
	budgetCost("budget.day_cost", "CAIRN_BUDGET_DAY_COST", func(c *Config) *float64 { return &c.Budget.DayCost }),
	{
		key: "log.level", env: "CAIRN_LOG_LEVEL",
		set: func(c *Config, text string, _ base) error {
			name, err := oneOf(text, "debug", "info", "warn", "error")
			if err != nil {
				return err
			}
			return c.Log.Level.UnmarshalText([]byte(name))
		},
		get: func(c Config) []string { return []string{levelName(c.Log.Level)} },
	},
	{
		key: "log.format", env: "CAIRN_LOG_FORMAT",
		set: func(c *Config, text string, _ base) (err error) {
			c.Log.Format, err = oneOf(text, LogText, LogJSON)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Log.Format)} },
	},
}

func budgetTokens(key, env string, field func(*Config) *int) setting[Config] {
	return wholeFrom0(key, env, 2_000_000_000, field)
}

func wholeFrom0(key, env string, most int, field func(*Config) *int) setting[Config] {
	return setting[Config]{
		key: key, env: env,
		set: func(c *Config, text string, _ base) (err error) {
			*field(c), err = wholeNumber(text, 0, most)
			return err
		},
		get: func(c Config) []string { return []string{strconv.Itoa(*field(&c))} },
	}
}

func budgetCost(key, env string, field func(*Config) *float64) setting[Config] {
	return setting[Config]{
		key: key, env: env,
		set: func(c *Config, text string, _ base) (err error) {
			*field(c), err = number(text, 1e9)
			return err
		},
		get: func(c Config) []string { return []string{numberText(*field(&c))} },
	}
}

// sourcesKey holds the list of sources, which the environment can't set.
const sourcesKey = "sources"

// sourceSettings are the keys of one source.
var sourceSettings = slices.Concat([]setting[Source]{
	{
		key: "name",
		set: func(s *Source, text string, _ base) error {
			if !sourceName.MatchString(text) {
				return fmt.Errorf("%q: want 1 to 64 lower-case letters, digits, - and _, a letter or digit first", text)
			}
			s.Name = text
			return nil
		},
		get: func(s Source) []string { return []string{s.Name} },
	},
	{
		key: "kind",
		set: func(s *Source, text string, _ base) (err error) {
			s.Kind, err = oneOf(text, SourceFiles)
			return err
		},
		get: func(s Source) []string { return []string{string(s.Kind)} },
	},
	{
		key: "path",
		set: func(s *Source, text string, from base) (err error) {
			s.Path, err = from.absolute(text)
			return err
		},
		get: func(s Source) []string { return []string{s.Path} },
	},
	{
		key: "include", list: true,
		set: func(s *Source, text string, _ base) error { return addPattern(&s.Include, text) },
		get: func(s Source) []string { return s.Include },
	},
	{
		key: "exclude", list: true,
		set: func(s *Source, text string, _ base) error { return addPattern(&s.Exclude, text) },
		get: func(s Source) []string { return s.Exclude },
	},
	{
		key: "url_base",
		set: func(s *Source, text string, _ base) error {
			address, err := url.Parse(text)
			if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
				return fmt.Errorf("%q: want an address that starts with http:// or https://", text)
			}
			s.URLBase = text
			return nil
		},
		get: func(s Source) []string { return []string{s.URLBase} },
	},
	{
		key: "kind_of_documents",
		set: func(s *Source, text string, _ base) (err error) {
			s.Documents, err = oneOf(text, knowledge.KindDocumentation, knowledge.KindCode, knowledge.KindDrive,
				knowledge.KindPage, knowledge.KindConversation, knowledge.KindWeb)
			return err
		},
		get: func(s Source) []string { return []string{string(s.Documents)} },
	},
	{
		key: "max_document_bytes",
		set: func(s *Source, text string, _ base) (err error) {
			s.MaxDocumentBytes, err = size(text, 1<<10, 1<<30)
			return err
		},
		get: func(s Source) []string { return []string{sizeText(s.MaxDocumentBytes)} },
	},
}, sourceAccess)

// hostName is a DNS name, without a port.
var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

var sourceName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func oneOf[T ~string](text string, allowed ...T) (T, error) {
	if slices.Contains(allowed, T(text)) {
		return T(text), nil
	}
	names := make([]string, len(allowed))
	for i, name := range allowed {
		names[i] = string(name)
	}
	return "", fmt.Errorf("%q: want %s", text, strings.Join(names, ", "))
}

func wholeNumber(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q: want a whole number from %d to %d", text, least, most)
	}
	return n, nil
}

func shareOfOne(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return 0, fmt.Errorf("%q: want a number from 0 to 1", text)
	}
	return math.Abs(f), nil // -0 is 0
}

// size reads bytes, with a unit as in "32MiB" or without.
func size(text string, least, most uint64) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q: want a size from %s to %s, such as 32MiB", text, humanize.IBytes(least), humanize.IBytes(most))
	}
	return int64(n), nil
}

// sizeText writes a size so that it reads back as the same number of bytes.
func sizeText(n int64) string {
	if n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + "MiB"
	}
	return strconv.FormatInt(n, 10)
}

func listenAddress(text string) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = wholeNumber(port, 0, math.MaxUint16)
	}
	if err != nil {
		return "", fmt.Errorf("%q: want host:port, such as 127.0.0.1:8080", text)
	}
	return text, nil
}

func addPattern(patterns *[]string, text string) error {
	if text == "" {
		return errors.New("an empty pattern matches nothing: remove it")
	}
	if !doublestar.ValidatePattern(text) {
		return fmt.Errorf("%q is no valid pattern: want one such as docs/**/*.md", text)
	}
	*patterns = append(*patterns, text)
	return nil
}

func levelName(level slog.Level) string { return strings.ToLower(level.String()) }
