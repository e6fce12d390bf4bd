package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	wire "github.com/sashabaranov/go-openai"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
)

var errRefused = errors.New("by the model or its content filter")

// patience ends a try whose server takes too long.
type patience struct {
	end   context.CancelCauseFunc
	timer *time.Timer
}

// newPatience gives the context of a try: it ends after whole, and, once await was
// called, when the timer is neither stopped nor set again in time.
func (m *Model) newPatience(ctx context.Context) (context.Context, *patience, context.CancelFunc) {
	timed, stop := context.WithTimeoutCause(ctx, m.options.RequestTimeout, errTooSlow)
	ctx, end := context.WithCancelCause(timed)
	p := &patience{end: end}
	return ctx, p, func() {
		p.rest()
		end(nil)
		stop()
	}
}

func (p *patience) await(limit time.Duration, cause error) {
	p.rest()
	p.timer = time.AfterFunc(limit, func() { p.end(cause) })
}

func (p *patience) rest() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// attempt is one try.
type attempt struct {
	model    *Model
	talk     *conversation
	form     chatForm
	seen     *exchange
	patience *patience
	got      assembly
	first    time.Duration // until the first token; 0: none came
}

// try sends the request once.
func (m *Model) try(ctx context.Context, c *conversation, d dialect) (llm.Reply, gate.Try, *llm.Error) {
	ctx, patience, stop := m.newPatience(ctx)
	defer stop()
	client, seen := m.endpoint.open()
	a := &attempt{model: m, talk: c, form: m.form(c, d), seen: seen, patience: patience}
	a.got.stream.Unopened = d.thoughtUnopened
	seen.form = &a.form
	reply, err := a.run(ctx, client)
	c.got = &a.got
	try := gate.Try{Usage: llm.Usage{Model: m.options.Model, Requests: 1, FirstToken: a.first}}
	if seen.answered {
		m.count(c, &a.got, &try.Usage)
	}
	if err == nil {
		return reply, try, nil
	}
	if errors.Is(err, errRefused) {
		return llm.Reply{}, try, &llm.Error{Failure: llm.Refused, Cause: errRefused}
	}
	failure, again := seen.failure(ctx, err)
	try.Again = again && !c.handed
	return llm.Reply{}, try, failure
}

func (a *attempt) run(ctx context.Context, client *wire.Client) (llm.Reply, error) {
	receive := a.receive
	if !a.form.Stream {
		receive = a.receiveWhole
	}
	if err := receive(ctx, client); err != nil {
		return llm.Reply{}, err
	}
	if rest := a.got.endText(); rest != "" {
		a.hand(rest)
	}
	return a.got.reply()
}

// receive reads a stream to its end.
func (a *attempt) receive(ctx context.Context, client *wire.Client) error {
	a.patience.await(a.model.options.FirstToken, errFirstToken)
	stream, err := client.CreateChatCompletionStream(ctx, a.form.ChatCompletionRequest)
	if err != nil {
		return err
	}
	defer stream.Close() //nolint:errcheck // of a body that was only read from
	for {
		data, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			a.patience.await(drainTime, errStalled)
			a.seen.body.drain()
			return nil // whether the reply is whole is told by its reason to finish
		}
		if err != nil {
			return err
		}
		text, moved, err := a.got.add(data)
		if err != nil {
			return err
		}
		if moved {
			a.hand(text)
			a.patience.await(a.model.options.Stall, errStalled)
		}
	}
}

// receiveWhole is for servers without streams: all of the reply is the first token.
func (a *attempt) receiveWhole(ctx context.Context, client *wire.Client) error {
	response, err := client.CreateChatCompletion(ctx, a.form.ChatCompletionRequest)
	if err != nil {
		return err
	}
	if err := a.got.addWhole(response); err != nil {
		return err
	}
	a.hand(a.got.shown.String())
	return nil
}

// hand gives text to who listens; the server is not waited for meanwhile. There is none
// in a token of a call or of a thought.
func (a *attempt) hand(text string) {
	if a.first == 0 {
		a.first = max(time.Since(a.talk.began), 1)
	}
	if text == "" || a.talk.onToken == nil {
		return
	}
	a.talk.handed = true
	a.patience.rest()
	a.talk.onToken(text)
}

// count sets the tokens that a try took: the server's numbers, or estimates.
func (m *Model) count(c *conversation, got *assembly, usage *llm.Usage) {
	if got.model != "" {
		usage.Model = got.model
	}
	if got.usage != nil && got.usage.PromptTokens >= 0 && got.usage.CompletionTokens >= 0 {
		usage.Prompt, usage.Completion = got.usage.PromptTokens, got.usage.CompletionTokens
	} else {
		usage.Estimated = true
		usage.Prompt, usage.Completion = c.prompt, m.Tokens(got.text.String())
		for _, call := range got.calls {
			usage.Completion += m.Tokens(call.Function.Name) + m.Tokens(call.Function.Arguments)
		}
	}
	usage.Cost = m.options.Prices.of(usage.Prompt, usage.Completion)
}

// form is the request as the wire's client wants it.
func (m *Model) form(c *conversation, d dialect) chatForm {
	form := chatForm{ChatCompletionRequest: wire.ChatCompletionRequest{Model: m.options.Model, Stream: !d.whole}}
	for _, message := range c.request.Messages {
		form.Messages = append(form.Messages, wireMessage(message))
	}
	for _, tool := range c.request.Tools {
		form.Tools = append(form.Tools, wire.Tool{Type: wire.ToolTypeFunction, Function: &wire.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters,
		}})
	}
	if d.oldMaxTokens {
		form.MaxTokens = m.longestReply(c, d) //nolint:staticcheck // OpenAI's, but what most other servers know
	} else {
		form.MaxCompletionTokens = m.longestReply(c, d)
	}
	if !d.noTemperature {
		form.Temperature = m.options.Temperature
	}
	if !d.whole && !d.noStreamOptions {
		form.StreamOptions = &wire.StreamOptions{IncludeUsage: true}
	}
	if c.request.Schema != nil {
		structured(&form.ChatCompletionRequest, *c.request.Schema, d.structure)
	}
	return form
}

// longestReply is how many tokens the server may write: as many as the request allows, and of
// a model that thinks, whose thoughts count as well, as many as the model may.
func (m *Model) longestReply(c *conversation, d dialect) int {
	if !d.thinks {
		return c.maxReply
	}
	return max(c.maxReply, min(m.options.MaxReply, m.options.Context-c.prompt))
}

// structured asks for output that follows a schema.
func structured(form *wire.ChatCompletionRequest, schema llm.Schema, how structure) {
	if how == strictSchema {
		form.ResponseFormat = &wire.ChatCompletionResponseFormat{
			Type: wire.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &wire.ChatCompletionResponseFormatJSONSchema{
				Name: schema.Name, Schema: schema.JSON, Strict: true,
			},
		}
		return
	}
	if how == jsonMode {
		form.ResponseFormat = &wire.ChatCompletionResponseFormat{Type: wire.ChatCompletionResponseFormatTypeJSONObject}
	}
	// Many chat templates take one system message, and only as the first.
	text := prompt("instruct.tmpl", wish{Schema: string(schema.JSON)})
	if len(form.Messages) > 0 && form.Messages[0].Role == string(llm.System) {
		form.Messages[0].Content += "\n\n" + text
		return
	}
	form.Messages = slices.Insert(form.Messages, 0, wire.ChatCompletionMessage{Role: string(llm.System), Content: text})
}

func wireMessage(message llm.Message) wire.ChatCompletionMessage {
	to := wire.ChatCompletionMessage{Role: string(message.Role), Content: message.Text, ToolCallID: message.CallID}
	if to.Content == "" && len(message.Calls) == 0 {
		to.Content = " " // the client leaves out an empty text, which servers refuse
	}
	for _, call := range message.Calls {
		arguments := string(call.Arguments)
		if !json.Valid(call.Arguments) {
			arguments = "{}" // servers parse what is said to have been called
		}
		to.ToolCalls = append(to.ToolCalls, wire.ToolCall{
			ID: call.ID, Type: wire.ToolTypeFunction,
			Function: wire.FunctionCall{Name: call.Name, Arguments: arguments},
		})
	}
	return to
}
