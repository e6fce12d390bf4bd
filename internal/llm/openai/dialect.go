package openai

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/llm"
)

// structure is how a schema is brought to the server.
type structure int

// From the most certain to what every server takes.
const (
	strictSchema structure = iota
	jsonMode
	instructed
)

// dialect is what of the wire format a server takes.
type dialect struct {
	structure       structure
	whole           bool // no streams
	noStreamOptions bool
	oldMaxTokens    bool // max_tokens, not max_completion_tokens
	maxTokensTried  bool // both names were
	noTemperature   bool
	thinks          bool // before it replies; its thoughts count as tokens of the reply
	thoughtUnopened bool // its replies begin in a thought of which only the end has a tag
}

// newDialect is what a server is thought to take. OpenAI, and the models that reason,
// take only the newer name of the limit; other servers know the older one. Of some models
// the chat template opens a thought, of which the reply has the end alone.
func newDialect(o Options) dialect {
	reasons, unopened := false, false
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		reasons = reasons || strings.HasPrefix(o.Model, prefix)
	}
	for _, part := range []string{"deepseek-r1", "qwq", "-thinking"} {
		unopened = unopened || strings.Contains(strings.ToLower(o.Model), part)
	}
	return dialect{
		oldMaxTokens:    o.BaseURL != defaultBaseURL && !reasons,
		noTemperature:   reasons,
		thinks:          reasons || unopened,
		thoughtUnopened: unopened,
	}
}

// afterReply is the dialect that a reply shows its model to have.
func (d dialect) afterReply(got *assembly) dialect {
	d.thinks = d.thinks || got.hasThought()
	d.thoughtUnopened = d.thoughtUnopened && got.stream.Seen() || got.stream.EndedUnopened()
	return d
}

// feature is a part of a request that a server may refuse.
type feature string

const (
	featureStructure     feature = "response_format"
	featureStreamOptions feature = "stream_options"
	featureStream        feature = "stream"
	featureMaxTokens     feature = "max_tokens"
	featureTemperature   feature = "temperature"
)

// featureIn finds the feature that a server's error is about; "" for none.
func featureIn(text string) feature {
	for _, sign := range []struct {
		text string
		feature
	}{
		{"stream_options", featureStreamOptions},
		{"include_usage", featureStreamOptions},
		{"max_tokens", featureMaxTokens},
		{"max_completion_tokens", featureMaxTokens},
		{"temperature", featureTemperature},
		{"response_format", featureStructure},
		{"json_schema", featureStructure},
		{"json_object", featureStructure},
		{"grammar", featureStructure},
		{"stream", featureStream},
	} {
		if strings.Contains(text, sign.text) {
			return sign.feature
		}
	}
	return ""
}

// without is the dialect to try after a refusal, and false if there is none. A refusal
// that names nothing is laid to the schema, if there is one: it is what most servers
// that refuse do not know.
func (d dialect) without(err error, hasSchema bool) (dialect, bool) {
	if errors.Is(err, errNoStream) && !d.whole {
		d.whole = true
		return d, true
	}
	var refused *serverError
	var failure *llm.Error
	if !errors.As(err, &failure) || failure.Failure != llm.Rejected || !errors.As(err, &refused) ||
		refused.status != http.StatusBadRequest && refused.status != http.StatusUnprocessableEntity {
		return d, false
	}
	switch about := refused.about; {
	case about == featureStreamOptions && !d.noStreamOptions && !d.whole:
		d.noStreamOptions = true
	case about == featureStream && !d.whole:
		d.whole = true
	case about == featureMaxTokens && !d.maxTokensTried:
		d.oldMaxTokens, d.maxTokensTried = !d.oldMaxTokens, true
	case about == featureTemperature && !d.noTemperature:
		d.noTemperature = true
	case (about == featureStructure || about == "") && hasSchema && d.structure < instructed:
		d.structure++
	default:
		return d, false
	}
	return d, true
}

// learned is the dialect of a model as far as it is known.
type learned struct {
	mu      sync.Mutex
	dialect dialect
}

func (l *learned) get() dialect {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialect
}

func (l *learned) set(d dialect) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialect = d
}
