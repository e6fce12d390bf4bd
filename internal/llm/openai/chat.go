package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/schema"
)

// Model is a language model behind the wire format.
type Model struct {
	options  Options
	endpoint endpoint
	counter  counter
	gate     *gate.Gate
	learned  learned
}

var _ llm.Model = (*Model)(nil)

// New gives a model. The server is not asked anything yet.
func New(options Options) (*Model, error) {
	settled, user, err := options.settled()
	if err != nil {
		return nil, err
	}
	return &Model{
		options:  settled,
		endpoint: newEndpoint(settled, user),
		counter:  newCounter(settled.Model),
		gate:     gate.New(settled.Model, settled.Gate),
		learned:  learned{dialect: newDialect(settled)},
	}, nil
}

// String tells which model it is, and where.
func (m *Model) String() string { return m.options.String() }

// Tokens counts by the model's own encoding, or by OpenAI's newest and a fifth more.
func (m *Model) Tokens(text string) int { return m.counter.count(text) }

// Limits are the configured ones.
func (m *Model) Limits() llm.Limits {
	return llm.Limits{Context: m.options.Context, Reply: m.options.MaxReply, Longest: m.gate.Longest(m.options.RequestTimeout)}
}

// conversation is one call of Chat.
type conversation struct {
	request  llm.Request
	wanted   wanted
	prompt   int          // tokens
	maxReply int          // tokens
	began    time.Time    // when it was measured and about to be sent
	onToken  func(string) // nil: nobody listens
	handed   bool         // text was given to onToken
	got      *assembly    // of the last try
}

// Chat sends the conversation; see llm.Model. A reply that breaks its schema, or calls a
// tool wrongly, is asked for once more.
func (m *Model) Chat(ctx context.Context, request llm.Request, onToken func(string)) (llm.Reply, error) {
	c := &conversation{request: request, onToken: onToken}
	if request.Schema != nil {
		c.onToken = nil
	}
	var err error
	if c.wanted, err = want(request); err != nil {
		return llm.Reply{}, &llm.Error{Failure: llm.Rejected, Cause: err}
	}
	if err := m.measure(c); err != nil {
		return llm.Reply{}, err
	}
	c.began = time.Now()
	reply, broken, err := m.ask(ctx, c)
	if err != nil || broken == nil {
		return reply, err
	}
	spent := reply.Usage
	if reply.Finish == llm.Length || c.handed || request.Once {
		return llm.Reply{}, invalid(spent, reply, broken)
	}
	c.request = c.wanted.repaired(request, reply, broken)
	if err := m.measure(c); err != nil {
		return llm.Reply{}, invalid(spent, reply, broken)
	}
	reply, broken, err = m.ask(ctx, c)
	spent = spent.Plus(reply.Usage)
	var failure *llm.Error
	switch {
	case errors.As(err, &failure):
		failure.Usage = spent.Plus(failure.Usage)
		return llm.Reply{}, failure
	case broken != nil:
		return llm.Reply{}, invalid(spent, reply, broken)
	}
	reply.Usage = spent
	return reply, nil
}

func invalid(usage llm.Usage, reply llm.Reply, broken *schema.BreachError) *llm.Error {
	var cause error = broken
	if reply.Finish == llm.Length {
		cause = fmt.Errorf("%w; it was cut off at its limit of tokens, which may be raised", broken)
	}
	return &llm.Error{Failure: llm.Invalid, Usage: usage, Cause: cause}
}

// ask sends the request, in as much of the wire format as the server takes, and checks
// the reply.
func (m *Model) ask(ctx context.Context, c *conversation) (llm.Reply, *schema.BreachError, error) {
	known := m.learned.get()
	using := known
	var spent llm.Usage
	for {
		limit := m.longestReply(c, using)
		need := gate.Need{Run: c.request.Run, Tokens: c.prompt + limit, Cost: m.options.Prices.of(c.prompt, limit), Once: c.request.Once}
		var reply llm.Reply
		usage, err := m.gate.Pass(ctx, need, func(ctx context.Context) (gate.Try, *llm.Error) {
			var try gate.Try
			var failure *llm.Error
			reply, try, failure = m.try(ctx, c, using)
			return try, failure
		})
		spent = spent.Plus(usage)
		if err == nil {
			if using = using.afterReply(c.got); using != known {
				m.learned.set(using)
				known = using
			}
			if isAllThought(reply) && limit < m.longestReply(c, using) {
				continue
			}
			reply.Usage = spent
			return reply, c.wanted.check(&reply), nil
		}
		var failure *llm.Error
		if errors.As(err, &failure) {
			failure.Usage = spent
		}
		next, again := using.without(err, c.request.Schema != nil)
		if !again {
			return llm.Reply{}, nil, err
		}
		m.options.Logger.WarnContext(ctx, "language model's server refuses a part of the request, going without",
			"model", m.options.Model, "error", err)
		using = next
	}
}

// isAllThought says whether a reply came to its limit before it said anything.
func isAllThought(reply llm.Reply) bool {
	return reply.Finish == llm.Length && strings.TrimSpace(reply.Text) == "" && len(reply.Calls) == 0
}

// measure counts the prompt, and checks that it fits.
func (m *Model) measure(c *conversation) error {
	c.prompt = llm.PromptTokens(m, c.request)
	c.maxReply = m.options.MaxReply
	if c.request.MaxReply > 0 {
		c.maxReply = c.request.MaxReply
	}
	if c.prompt+c.maxReply > m.options.Context {
		return &llm.Error{Failure: llm.TooLong, Cause: fmt.Errorf(
			"a prompt of %d tokens and a reply of up to %d do not fit into %d", c.prompt, c.maxReply, m.options.Context)}
	}
	return nil
}
