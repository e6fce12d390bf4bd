package openai

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
)

// Options say which model is asked, where and how.
type Options struct {
	// BaseURL is what the wire format's paths are appended to; "": OpenAI's own. A user
	// and password in it are sent as basic authorization if there is no Key. For Azure
	// it is the resource's endpoint.
	BaseURL string
	Key     llm.Secret // the zero Secret: none is sent
	Model   string     // required; for Azure the name of the model that is deployed
	Azure   *Azure     // nil: another server

	Context     int      // tokens of prompt and reply together; 0: 8192
	MaxReply    int      // tokens of a reply that a request does not limit; 0: 1024
	Temperature *float64 // 0 to 2; nil: the server's own
	Dimensions  int      // of embeddings, for models that can shorten them; 0: the model's own

	RequestTimeout time.Duration // for one try, all in all; 0: 2 minutes
	FirstToken     time.Duration // until a stream's first token, or thought where these are streamed; 0: 20 s
	Stall          time.Duration // between two tokens; 0: 20 s

	Prices    Prices
	Gate      gate.Options      // its Logger, if nil, is Logger
	Transport http.RoundTripper // nil: one of its own, which keeps connections for 90 s
	Logger    *slog.Logger      // nil: nothing is logged
}

// String tells model and host: the address may hold secrets elsewhere.
func (o Options) String() string {
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		return fmt.Sprintf("model %q", o.Model)
	}
	return fmt.Sprintf("model %q at %q", o.Model, base.Host)
}

// LogValue is String.
func (o Options) LogValue() slog.Value { return slog.StringValue(o.String()) }

// Azure is where Azure OpenAI keeps a model.
type Azure struct {
	Deployment string
	APIVersion string // as 2024-10-21
}

// Prices are per million tokens, in any currency.
type Prices struct {
	Prompt     float64
	Completion float64
}

func (p Prices) of(prompt, completion int) float64 {
	return (float64(prompt)*p.Prompt + float64(completion)*p.Completion) / 1e6
}

// defaultBaseURL is OpenAI's own.
const defaultBaseURL = "https://api.openai.com/v1"

// settled checks options, sets the zero ones, and takes the user out of the address.
func (o Options) settled() (Options, *url.Userinfo, error) {
	var problems []error
	if o.Model == "" {
		problems = append(problems, errors.New("the model's name is missing"))
	}
	if o.Azure != nil && (o.BaseURL == "" || o.Azure.Deployment == "" || o.Azure.APIVersion == "") {
		problems = append(problems, errors.New("azure needs the endpoint as base URL, a deployment and an API version"))
	}
	if o.Temperature != nil && (*o.Temperature < 0 || *o.Temperature > 2) {
		problems = append(problems, fmt.Errorf("temperature %g: want 0 to 2", *o.Temperature))
	}
	if o.Context < 0 || o.MaxReply < 0 || o.Dimensions < 0 || o.Prices.Prompt < 0 || o.Prices.Completion < 0 {
		problems = append(problems, errors.New("context, longest reply, dimensions and prices can't be negative"))
	}
	setZero(&o.BaseURL, defaultBaseURL)
	setZero(&o.Context, 8192)
	setZero(&o.MaxReply, 1024)
	setZero(&o.RequestTimeout, 2*time.Minute)
	setZero(&o.FirstToken, 20*time.Second)
	setZero(&o.Stall, 20*time.Second)
	setZero(&o.Logger, slog.New(slog.DiscardHandler))
	setZero(&o.Gate.Logger, o.Logger)
	if o.MaxReply >= o.Context {
		problems = append(problems, fmt.Errorf("a reply of %d tokens leaves no room for a prompt in a context of %d", o.MaxReply, o.Context))
	}
	user, err := o.takeUser()
	if err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		return Options{}, nil, fmt.Errorf("language model %q: %w", o.Model, errors.Join(problems...))
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	return o, user, nil
}

func setZero[T comparable](value *T, to T) {
	var zero T
	if *value == zero {
		*value = to
	}
}

// takeUser checks the address. Its text is not in the error: it may hold a password.
func (o *Options) takeUser() (*url.Userinfo, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("base URL: want http:// or https://, a host and a path, with no query")
	}
	user := base.User
	base.User = nil
	o.BaseURL = strings.TrimRight(base.String(), "/")
	return user, nil
}
