// Package llm is the contract between flows and language models. A flow is given a
// Model for each role that one plays in it, or none, and works without. Backends are
// below; llmtest is a scripted server to test them and flows against.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Model is a language model that holds a conversation. Its methods may be called
// concurrently.
type Model interface {
	// Chat sends a conversation and gives the reply. onToken, where it is not nil, is
	// given the reply's text as it comes, in order and from the caller's goroutine, without
	// what the model thinks before it; a
	// request with a Schema is not streamed. After an error what onToken was given is
	// no reply: nothing is sent again once it was given text, so a caller that can take
	// it back may ask again. A failure is an *Error.
	Chat(ctx context.Context, request Request, onToken func(text string)) (Reply, error)
	// Tokens is how many tokens a text has for this model, or a little more where its
	// tokenizer is not known.
	Tokens(text string) int
	// Limits is what one request may hold.
	Limits() Limits
}

// Limits is what one request may hold, in tokens, and how long it may take.
type Limits struct {
	Context int           // of prompt and reply together
	Reply   int           // of a reply
	Longest time.Duration // with its retries and the waits between them; 0: not known
}

// Role is who wrote a message of a conversation with a model.
type Role string

// The roles of the wire format.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one entry of a conversation with a model.
type Message struct {
	Role   Role
	Text   string
	Calls  []ToolCall // of an Assistant
	CallID string     // of a ToolRole: the call that Text is the result of
}

// Request is what a model is asked.
type Request struct {
	Messages []Message
	Schema   *Schema // the reply is JSON that follows it; nil for text
	Tools    []Tool
	RawCalls bool   // calls of tools are not checked: the caller answers those that are wrong
	MaxReply int    // tokens; 0: Limits.Reply
	Run      string // whose budget pays; "": the day's alone
	Once     bool   // what fails is not asked again: its caller is in a hurry
}

// Schema is what structured output looks like.
type Schema struct {
	Name string // letters, digits, "_" and "-"
	// JSON is a JSON Schema (draft 2020-12) of an object. Servers hold replies to it
	// only if every object in it names all of its properties as required and allows no
	// additional ones; what may be absent has null among its types.
	JSON json.RawMessage
}

// Tool is what a model may ask to be called.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema of an object
}

// ToolCall is a model's wish to have a tool called. Arguments follow the tool's
// schema: they were checked, unless the request wants RawCalls, where they may be anything.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Reply is what a model said.
type Reply struct {
	Text   string // of a Request with a Schema: JSON that follows it
	Calls  []ToolCall
	Finish Finish
	Usage  Usage
}

// Finish is why a reply ended.
type Finish string

// A reply ends by itself, at its limit of tokens, or with calls of tools.
const (
	Stop   Finish = "stop"
	Length Finish = "length"
	Calls  Finish = "calls"
)

// Usage is what a request took. A failed one took something too.
type Usage struct {
	Model      string        // as the server names it
	Prompt     int           // tokens
	Completion int           // tokens
	Estimated  bool          // the server gave no counts
	Cost       float64       // in the currency of the configured prices; 0 without prices
	Requests   int           // sent, retries included
	FirstToken time.Duration // since the request was made ready; 0 if none came
	Took       time.Duration // waits and retries included
}

// Plus is what two requests took, one after the other.
func (u Usage) Plus(v Usage) Usage {
	sum := Usage{
		Model:      u.Model,
		Prompt:     u.Prompt + v.Prompt,
		Completion: u.Completion + v.Completion,
		Estimated:  u.Estimated || v.Estimated,
		Cost:       u.Cost + v.Cost,
		Requests:   u.Requests + v.Requests,
		FirstToken: u.FirstToken,
		Took:       u.Took + v.Took,
	}
	if v.Model != "" {
		sum.Model = v.Model
	}
	if sum.FirstToken == 0 {
		sum.FirstToken = v.FirstToken
	}
	return sum
}

// Failure is why a model gave no reply.
type Failure string

// The failures; a flow that can works without the model after any of them but
// Cancelled, whose Cause is the context's error.
const (
	Unavailable Failure = "unavailable" // no connection, 5xx, the breaker is open
	Slow        Failure = "slow"        // no token, or no end of the reply, in time
	Limited     Failure = "limited"     // rate limit, and waiting would take too long
	OverBudget  Failure = "over budget" // the configured budget is used up
	Refused     Failure = "refused"     // by the model or its content filter
	Invalid     Failure = "invalid"     // output or arguments that break their schema, twice; wrong vectors
	Rejected    Failure = "rejected"    // 4xx: key, model or request are wrong
	TooLong     Failure = "too long"    // prompt and reply do not fit together
	Cancelled   Failure = "cancelled"   // by the caller
)

// Error is a model's failure. Its text holds no prompt, no reply and no secret.
type Error struct {
	Failure Failure
	Usage   Usage // what was used up nevertheless
	Cause   error
	// RetryAfter is how long the server, or the rate limit, asks to wait; 0: unknown.
	RetryAfter time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("language model: %s: %v", e.Failure, e.Cause) }

func (e *Error) Unwrap() error { return e.Cause }

// Ended is the failure of a request whose context is over.
func Ended(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Failure: Slow, Cause: ctx.Err()}
	}
	return &Error{Failure: Cancelled, Cause: ctx.Err()}
}

// Embedder turns texts into vectors over the wire.
type Embedder interface {
	// Embed gives one vector a text, in their order, of the same dimension. A failure
	// is an *Error.
	Embed(ctx context.Context, texts []string) (vectors [][]float32, usage Usage, err error)
	// Tokens is how many tokens a text has, as Model's.
	Tokens(text string) int
}

// What the wire format adds to texts, in tokens, at least as much as any chat template
// does. A schema may have to be explained in words.
const (
	perRequest = 3
	perMessage = 4
	perSchema  = 40
)

// PromptTokens is how many tokens a request has for a model: of its messages, schema
// and tools, and of what holds them together.
func PromptTokens(model Model, request Request) int {
	tokens := perRequest
	for _, message := range request.Messages {
		tokens += perMessage + model.Tokens(message.Text)
		for _, call := range message.Calls {
			tokens += perMessage + model.Tokens(call.Name) + model.Tokens(string(call.Arguments))
		}
	}
	if request.Schema != nil {
		tokens += perSchema + model.Tokens(string(request.Schema.JSON))
	}
	for _, tool := range request.Tools {
		tokens += perMessage + model.Tokens(tool.Name) + model.Tokens(tool.Description) + model.Tokens(string(tool.Parameters))
	}
	return tokens
}
