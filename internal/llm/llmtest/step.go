package llmtest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Step is what the server does about one request. Its methods give changed copies.
type Step struct {
	tokens  []string
	thought thought
	refusal string
	calls   []Call
	finish  string // "": by what the reply holds
	usage   usage
	before  map[int][]func(context.Context)
	ending  ending
	endAt   int // tokens that are sent before the ending
	failure *failure
	by      func(Request) Step

	dimension int // of embeddings; 0: as asked
	missing   int // embeddings that are left out
}

// ending is how a reply goes on when its tokens up to Step.endAt are sent.
type ending int

const (
	complete ending = iota
	hangs
	cuts
	garbles
	fails
	silent // not even the header of the reply is sent
)

// thought is what a model thinks in a field beside its reply.
type thought struct {
	field  string
	tokens []string
}

type usage struct {
	absent             bool
	prompt, completion int // 0: counted by the server, in words
}

// failure is an error of the wire format.
type failure struct {
	status     int
	code       string
	kind       string
	param      string
	message    string
	retryAfter string
}

// Text streams a reply, one token at a time.
func Text(tokens ...string) Step { return Step{tokens: tokens} }

// Thinking has the model think before its reply, in a field beside it: reasoning_content,
// reasoning or thinking, by the server.
func (s Step) Thinking(field string, tokens ...string) Step {
	s.thought = thought{field, tokens}
	return s
}

// JSON streams a reply in pieces of a few characters: structured output, valid or not.
func JSON(text string) Step {
	const piece = 7
	var step Step
	for len(text) > piece {
		step.tokens = append(step.tokens, text[:piece])
		text = text[piece:]
	}
	step.tokens = append(step.tokens, text)
	return step
}

// Value is a reply of structured output.
func Value[T any](value T) Step {
	data, err := json.Marshal(value)
	if err != nil {
		return Fail(http.StatusInternalServerError, "", "script: "+err.Error())
	}
	return JSON(string(data))
}

// Calling asks for tools to be called; names and arguments come in pieces.
func Calling(calls ...Call) Step { return Step{calls: calls} }

// Refusal is a model's refusal, given in the field that is made for it.
func Refusal(text string) Step { return Step{refusal: text} }

// Filtered is a reply that the content filter ends after some tokens.
func Filtered(tokens ...string) Step { return Text(tokens...).Finish("content_filter") }

// Hang answers with nothing at all until the client goes.
func Hang() Step { return Step{ending: silent} }

// Fail answers with an error.
func Fail(status int, code, message string) Step {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	return Step{failure: &failure{status: status, code: code, kind: kind, message: message}}
}

// Busy answers with status 429 and, unless it is 0, Retry-After in whole seconds.
func Busy(retryAfter time.Duration) Step {
	step := Fail(http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached")
	if retryAfter > 0 {
		step.failure.retryAfter = strconv.Itoa(int(retryAfter.Round(time.Second) / time.Second))
	}
	return step
}

// Unsupported answers with the error of a server that has no such feature.
func Unsupported(feature Feature) Step {
	param := string(feature)
	if feature == JSONSchema || feature == JSONObject {
		param = "response_format"
	}
	step := Fail(http.StatusBadRequest, "unsupported_parameter", "Unsupported parameter: "+string(feature))
	step.failure.param = param
	return step
}

// By decides on the request what to do.
func By(decide func(Request) Step) Step { return Step{by: decide} }

// Vectors answers a request for embeddings with fewer vectors than texts, or of a
// dimension of its own unless it is 0.
func Vectors(missing, dimension int) Step { return Step{missing: missing, dimension: dimension} }

// Finish sets why the reply ended, as the wire format calls it: length, for one.
func (s Step) Finish(reason string) Step { s.finish = reason; return s }

// Usage sets the tokens that the server counts.
func (s Step) Usage(prompt, completion int) Step {
	s.usage = usage{prompt: prompt, completion: completion}
	return s
}

// WithoutUsage leaves out the counts of tokens.
func (s Step) WithoutUsage() Step { s.usage = usage{absent: true}; return s }

// HangAfter sends the header and some tokens, then nothing until the client goes.
func (s Step) HangAfter(tokens int) Step { return s.endsAfter(tokens, hangs) }

// CutAfter breaks the connection after some tokens.
func (s Step) CutAfter(tokens int) Step { return s.endsAfter(tokens, cuts) }

// MalformedAfter sends a chunk that is no JSON after some tokens.
func (s Step) MalformedAfter(tokens int) Step { return s.endsAfter(tokens, garbles) }

// FailAfter sends an error within the stream after some tokens.
func (s Step) FailAfter(tokens int) Step { return s.endsAfter(tokens, fails) }

func (s Step) endsAfter(tokens int, how ending) Step {
	s.ending, s.endAt = how, tokens
	return s
}

// Before calls a function before a token (of Text, from 0) is sent. It may block, but
// not beyond the context, which ends when the client goes. A reply that is not
// streamed calls all of them at once.
func (s Step) Before(token int, call func(context.Context)) Step {
	before := make(map[int][]func(context.Context), len(s.before)+1)
	for at, calls := range s.before {
		before[at] = calls
	}
	before[token] = append(before[token][:len(before[token]):len(before[token])], call)
	s.before = before
	return s
}

// WaitFor holds a token back until the channel is closed or sent to.
func (s Step) WaitFor(token int, gate <-chan struct{}) Step {
	return s.Before(token, func(ctx context.Context) {
		select {
		case <-gate:
		case <-ctx.Done():
		}
	})
}
