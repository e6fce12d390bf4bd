package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Model is a language model or an embedding model, and what it does. Fields that mean
// nothing for its roles are zero.
type Model struct {
	Roles   []Role
	BaseURL string // "": OpenAI's own
	Name    string // as the server knows it
	Key     Key

	AzureDeployment string // "": not Azure
	AzureAPIVersion string

	Context     int      // tokens of prompt and reply together; of RoleEmbed: that it reads of one text, 0: the embedder's default
	MaxReply    int      // tokens
	Temperature *float64 // nil: the server's own
	Dimensions  int      // of vectors; 0: the model's own

	Timeout           time.Duration // of one try
	FirstTokenTimeout time.Duration
	StallTimeout      time.Duration // between two tokens
	Retries           int           // beyond the first try
	RequestsPerMinute int           // 0: as many as come
	TokensPerMinute   int           // 0: as many as come

	PricePrompt     float64 // per million tokens
	PriceCompletion float64
}

// Has says whether a model plays a role.
func (m Model) Has(role Role) bool { return slices.Contains(m.Roles, role) }

// Role is what a model does.
type Role string

// The roles. One model may play several of the first three.
const (
	RoleUnderstand Role = "understand" // reads questions
	RoleAnswer     Role = "answer"     // writes answers
	RoleVerify     Role = "verify"     // checks what answers say against their sources
	RoleEmbed      Role = "embed"      // makes vectors
)

// chatRoles are the roles of models that hold conversations.
var chatRoles = []Role{RoleUnderstand, RoleAnswer, RoleVerify}

// Budget is what models may use; 0 is without limit. A day is one of UTC.
type Budget struct {
	RunTokens, DayTokens int
	RunCost, DayCost     float64 // in the currency of the models' prices
}

// What holds for a model where nothing else is said.
const (
	defaultContext    = 8192
	defaultMaxReply   = 3000
	defaultTimeout    = 2 * time.Minute
	defaultFirstToken = 20 * time.Second
	defaultStall      = 20 * time.Second
	defaultRetries    = 2
)

// openAIHost takes no request without a key.
const openAIHost = "api.openai.com"

// modelsKey holds the list of models, of which the environment can set one.
const modelsKey = "models"

// modelSettings are the keys of one model.
var modelSettings = []setting[Model]{
	{
		key: "roles", list: true,
		set: func(m *Model, text string, _ base) error {
			role, err := oneOf(text, append(slices.Clone(chatRoles), RoleEmbed)...)
			if err == nil && m.Has(role) {
				err = fmt.Errorf("%q: stands there twice", text)
			}
			if err != nil {
				return err
			}
			m.Roles = append(m.Roles, role)
			return nil
		},
		get: func(m Model) []string {
			var names []string
			for _, role := range m.Roles {
				names = append(names, string(role))
			}
			return names
		},
	},
	{
		key: "base_url",
		set: func(m *Model, text string, _ base) (err error) {
			m.BaseURL, err = serverAddress(text)
			return err
		},
		get: func(m Model) []string { return []string{m.BaseURL} },
	},
	{
		key: "model",
		set: func(m *Model, text string, _ base) (err error) {
			m.Name, err = name(text)
			return err
		},
		get: func(m Model) []string { return []string{m.Name} },
	},
	{
		key: "key_env",
		set: func(m *Model, text string, _ base) error {
			if !variableName.MatchString(text) { // which may be a key: it is not repeated
				return errors.New("want the name of an environment variable, in capitals, such as OPENAI_API_KEY")
			}
			m.Key.Env = text
			return nil
		},
		get: func(m Model) []string { return []string{m.Key.Env} },
	},
	{
		key: "key_file",
		set: func(m *Model, text string, from base) (err error) {
			m.Key.File, err = from.absolute(text)
			return err
		},
		get: func(m Model) []string { return []string{m.Key.File} },
	},
	{
		key: "azure_deployment",
		set: func(m *Model, text string, _ base) (err error) {
			m.AzureDeployment, err = name(text)
			return err
		},
		get: func(m Model) []string { return []string{m.AzureDeployment} },
	},
	{
		key: "azure_api_version",
		set: func(m *Model, text string, _ base) (err error) {
			m.AzureAPIVersion, err = name(text)
			return err
		},
		get: func(m Model) []string { return []string{m.AzureAPIVersion} },
	},
	modelNumber("context", 64, 100_000_000, func(m *Model) *int { return &m.Context }),
	modelNumber("max_reply", 16, 10_000_000, func(m *Model) *int { return &m.MaxReply }),
	{
		key: "temperature",
		set: func(m *Model, text string, _ base) error {
			temperature, err := number(text, 2)
			if err == nil {
				m.Temperature = &temperature
			}
			return err
		},
		get: func(m Model) []string {
			if m.Temperature == nil {
				return []string{""}
			}
			return []string{numberText(*m.Temperature)}
		},
	},
	modelNumber("dimensions", 1, 65536, func(m *Model) *int { return &m.Dimensions }),
	modelDuration("timeout", func(m *Model) *time.Duration { return &m.Timeout }),
	modelDuration("first_token_timeout", func(m *Model) *time.Duration { return &m.FirstTokenTimeout }),
	modelDuration("stall_timeout", func(m *Model) *time.Duration { return &m.StallTimeout }),
	{
		key: "retries",
		set: func(m *Model, text string, _ base) (err error) {
			m.Retries, err = wholeNumber(text, 0, 10)
			return err
		},
		get: func(m Model) []string { return []string{strconv.Itoa(m.Retries)} },
	},
	modelNumber("requests_per_minute", 1, 1_000_000, func(m *Model) *int { return &m.RequestsPerMinute }),
	modelNumber("tokens_per_minute", 1, 1_000_000_000, func(m *Model) *int { return &m.TokensPerMinute }),
	modelPrice("price_prompt", func(m *Model) *float64 { return &m.PricePrompt }),
	modelPrice("price_completion", func(m *Model) *float64 { return &m.PriceCompletion }),
}

// ofReplies are the keys that say something about replies only, which RoleEmbed has none
// of; ofVectors those that say something about vectors only.
var (
	ofReplies = []string{"max_reply", "temperature", "first_token_timeout", "stall_timeout", "price_completion"}
	ofVectors = []string{"dimensions"}
)

// modelNumber is a setting of which 0 stands for "not set".
func modelNumber(key string, least, most int, field func(*Model) *int) setting[Model] {
	return setting[Model]{
		key: key,
		set: func(m *Model, text string, _ base) (err error) {
			*field(m), err = wholeNumber(text, least, most)
			return err
		},
		get: func(m Model) []string {
			if n := *field(&m); n != 0 {
				return []string{strconv.Itoa(n)}
			}
			return []string{""}
		},
	}
}

func modelDuration(key string, field func(*Model) *time.Duration) setting[Model] {
	return setting[Model]{
		key: key,
		set: func(m *Model, text string, _ base) (err error) {
			*field(m), err = duration(text, 100*time.Millisecond, time.Hour)
			return err
		},
		get: func(m Model) []string {
			if d := *field(&m); d != 0 {
				return []string{d.String()}
			}
			return []string{""}
		},
	}
}

func modelPrice(key string, field func(*Model) *float64) setting[Model] {
	return setting[Model]{
		key: key,
		set: func(m *Model, text string, _ base) (err error) {
			*field(m), err = number(text, 1e6)
			return err
		},
		get: func(m Model) []string {
			if price := *field(&m); price != 0 {
				return []string{numberText(price)}
			}
			return []string{""}
		},
	}
}

var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// serverAddress checks where a model is. Its faults don't repeat the text: it may hold a
// password, or be a key in the wrong place.
func serverAddress(text string) (string, error) {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" || address.Fragment != "":
		return "", errors.New("want an address such as https://api.example.com/v1")
	case address.User != nil:
		return "", errors.New("a user and password do not stand in an address: give the server's key with key_env or key_file")
	case address.RawQuery != "" || address.ForceQuery:
		return "", errors.New("want an address without a query: for Azure set azure_api_version, for a key key_env or key_file")
	}
	return strings.TrimRight(text, "/"), nil
}

// name checks what a server calls something.
func name(text string) (string, error) {
	const most = 200
	if text == "" || len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%q: want a name of 1 to %d characters, without white space", text, most)
	}
	return text, nil
}

func number(text string, most float64) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > most {
		return 0, fmt.Errorf("%q: want a number from 0 to %s", text, numberText(most))
	}
	return math.Abs(f), nil // -0 is 0
}

func numberText(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func duration(text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%q: want a time from %s to %s, such as 30s", text, least, most)
	}
	return d, nil
}

// settle sets what was left open, and gives what does not fit together, by key.
func (m *Model) settle() []fault {
	var faults []fault
	if m.Has(RoleEmbed) && len(m.Roles) > 1 {
		faults = append(faults, fault{"roles", errors.New("embed stands alone: a model that makes vectors does not talk, give it an entry of its own")})
	}
	setZero(&m.Timeout, defaultTimeout)
	if !m.Has(RoleEmbed) {
		setZero(&m.Context, defaultContext)
		setZero(&m.MaxReply, min(defaultMaxReply, m.Context/2))
		setZero(&m.FirstTokenTimeout, min(defaultFirstToken, m.Timeout))
		setZero(&m.StallTimeout, min(defaultStall, m.Timeout))
		if m.MaxReply >= m.Context {
			faults = append(faults, fault{"max_reply", fmt.Errorf("%d leaves no room for a question in a context of %d", m.MaxReply, m.Context)})
		}
	}
	switch {
	case (m.AzureDeployment == "") != (m.AzureAPIVersion == ""):
		faults = append(faults, fault{"azure_deployment", errors.New("azure_deployment and azure_api_version go together: set both")})
	case m.AzureDeployment != "" && m.BaseURL == "":
		faults = append(faults, fault{"base_url", errors.New("is missing: for Azure it is the resource's endpoint, https://NAME.openai.azure.com")})
	}
	return faults
}

// fault is what is wrong with a key.
type fault struct {
	key string
	err error
}

func setZero[T comparable](value *T, to T) {
	var zero T
	if *value == zero {
		*value = to
	}
}

// needsKey says whether the server is known to take no request without a key.
func (m Model) needsKey() bool {
	if m.BaseURL == "" || m.AzureDeployment != "" {
		return true
	}
	address, err := url.Parse(m.BaseURL)
	return err == nil && strings.EqualFold(address.Hostname(), openAIHost)
}
