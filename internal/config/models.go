package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Model is a language model or an embedding model, and what it does. Fields that mean
// nothing for its roles are zero.
type Model struct {
	Roles   []Role `key:"roles" oneof:"understand answer verify embed" unique:"true"`
	BaseURL string `key:"base_url" form:"server"` // "": OpenAI's own
	Name    string `key:"model" form:"name"`      // as the server knows it
	Key     Key    `key:""`

	AzureDeployment string `key:"azure_deployment" form:"name"` // "": not Azure
	AzureAPIVersion string `key:"azure_api_version" form:"name"`

	// Context is the tokens of prompt and reply together; of RoleEmbed those that it reads of one
	// text, 0: the embedder's default.
	Context     int      `key:"context" min:"64" max:"100000000" optional:"true"`
	MaxReply    int      `key:"max_reply" min:"16" max:"10000000" optional:"true"` // tokens
	Temperature *float64 `key:"temperature" max:"2"`                               // nil: the server's own
	Dimensions  int      `key:"dimensions" min:"1" max:"65536" optional:"true"`    // of vectors; 0: the model's own

	Timeout           time.Duration `key:"timeout" min:"100ms" max:"1h"` // of one try
	FirstTokenTimeout time.Duration `key:"first_token_timeout" min:"100ms" max:"1h"`
	StallTimeout      time.Duration `key:"stall_timeout" min:"100ms" max:"1h"`                         // between two tokens
	Retries           int           `key:"retries" default:"2" max:"10"`                               // beyond the first try
	RequestsPerMinute int           `key:"requests_per_minute" min:"1" max:"1000000" optional:"true"`  // 0: as many as come
	TokensPerMinute   int           `key:"tokens_per_minute" min:"1" max:"1000000000" optional:"true"` // 0: as many as come

	PricePrompt     float64 `key:"price_prompt" max:"1e6" optional:"true"` // per million tokens
	PriceCompletion float64 `key:"price_completion" max:"1e6" optional:"true"`
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
	RunTokens int     `key:"run_tokens" max:"2000000000"`
	DayTokens int     `key:"day_tokens" max:"2000000000"`
	RunCost   float64 `key:"run_cost" max:"1e9"` // in the currency of the models' prices
	DayCost   float64 `key:"day_cost" max:"1e9"`
}

// What holds for a model where nothing else is said.
const (
	defaultContext    = 8192
	defaultMaxReply   = 3000
	defaultTimeout    = 2 * time.Minute
	defaultFirstToken = 20 * time.Second
	defaultStall      = 20 * time.Second
)

// openAIHost takes no request without a key.
const openAIHost = "api.openai.com"

// ofReplies are the keys that say something about replies only, which RoleEmbed has none
// of; ofVectors those that say something about vectors only.
var (
	ofReplies = []string{"max_reply", "temperature", "first_token_timeout", "stall_timeout", "price_completion"}
	ofVectors = []string{"dimensions"}
)

// complete sets what was left open, and gives what does not fit together, by key.
func (m *Model) complete() []fault {
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
