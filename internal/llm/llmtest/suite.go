package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
)

// Setting is how the suite wants a model.
type Setting struct {
	Key             string
	Context, Reply  int // tokens
	FirstToken      time.Duration
	Stall           time.Duration
	Retries         int // 0: none
	PromptPrice     float64
	CompletionPrice float64 // both per million tokens
}

// A patient model fails these tests by hanging, an impatient one must give up.
const (
	patient   = time.Minute
	impatient = 30 * time.Millisecond
)

func setting() Setting {
	return Setting{Key: Key, Context: 8000, Reply: 500, FirstToken: patient, Stall: patient, PromptPrice: 1, CompletionPrice: 2}
}

// Open gives the model to test; it asks the server.
type Open func(t *testing.T, server *Server, setting Setting) llm.Model

// Run checks the contract of llm.Model.
func Run(t *testing.T, open Open) {
	for name, part := range map[string]func(*testing.T, Open){
		"Text":       testText,
		"Streaming":  testStreaming,
		"Request":    testRequest,
		"Structured": testStructured,
		"Tools":      testTools,
		"Failures":   testFailures,
		"Streams":    testBrokenStreams,
		"Slow":       testSlow,
		"Cancelled":  testCancelled,
		"Retries":    testRetries,
		"TooLong":    testTooLong,
		"Usage":      testUsage,
		"Concurrent": testConcurrent,
	} {
		t.Run(name, func(t *testing.T) { part(t, open) })
	}
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "Be brief."}, {Role: llm.User, Text: text}}}
}

// verdict is the structured output of the suite.
var verdict = &llm.Schema{Name: "verdict", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,` +
	`"required":["supported","why"],"properties":{"supported":{"type":"boolean"},"why":{"type":"string"}}}`)}

var weather = llm.Tool{Name: "weather", Description: "The weather of a town.", Parameters: json.RawMessage(
	`{"type":"object","required":["town"],"properties":{"town":{"type":"string"}}}`)}

func wantFailure(t *testing.T, err error, want llm.Failure) llm.Error {
	t.Helper()
	var failure *llm.Error
	if !errors.As(err, &failure) {
		t.Fatalf("error %v of type %T, want an *llm.Error: %s", err, err, want)
	}
	if failure.Failure != want {
		t.Fatalf("failure %q (%v), want %q", failure.Failure, err, want)
	}
	return *failure
}

func mustChat(t *testing.T, model llm.Model, request llm.Request, onToken func(string)) llm.Reply {
	t.Helper()
	reply, err := model.Chat(t.Context(), request, onToken)
	if err != nil {
		t.Fatalf("Chat: %v", err)
	}
	return reply
}

func testText(t *testing.T, open Open) {
	server := New(t, Text("Every ", "night", "."), Text("cut").Finish("length"))
	model := open(t, server, setting())
	reply := mustChat(t, model, ask("When?"), nil)
	if reply.Text != "Every night." || reply.Finish != llm.Stop || len(reply.Calls) != 0 {
		t.Errorf("reply %+v", reply)
	}
	if reply := mustChat(t, model, ask("When?"), nil); reply.Text != "cut" || reply.Finish != llm.Length {
		t.Errorf("reply at its limit: %+v", reply)
	}
}

// testStreaming lets the server go on only when the token before was handed over.
func testStreaming(t *testing.T, open Open) {
	gate := make(chan struct{})
	server := New(t, Text("one ", "two ", "", "three").WaitFor(1, gate).WaitFor(3, gate))
	var tokens []string
	reply := mustChat(t, open(t, server, setting()), ask("Count."), func(text string) {
		tokens = append(tokens, text)
		if len(tokens) < 3 {
			gate <- struct{}{}
		}
	})
	if want := []string{"one ", "two ", "three"}; !slices.Equal(tokens, want) {
		t.Errorf("tokens %q, want %q", tokens, want)
	}
	if reply.Text != "one two three" || reply.Usage.FirstToken <= 0 || reply.Usage.Took < reply.Usage.FirstToken {
		t.Errorf("reply %+v", reply)
	}
}

func testRequest(t *testing.T, open Open) {
	server := New(t, Text("Fine."))
	request := ask("And today?")
	request.Messages = slices.Insert(request.Messages, 1,
		llm.Message{Role: llm.User, Text: "Weather in Bonn?"},
		llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c1", Name: "weather", Arguments: json.RawMessage(`{"town":"Bonn"}`)}}},
		llm.Message{Role: llm.ToolRole, CallID: "c1", Text: ""},
		llm.Message{Role: llm.Assistant, Text: "I don't know."})
	request.Tools = []llm.Tool{weather}
	request.MaxReply = 77
	mustChat(t, open(t, server, setting()), request, nil)
	sent := server.Requests()[0]
	var roles []string
	for _, message := range sent.Messages {
		roles = append(roles, message.Role)
	}
	if want := []string{"system", "user", "assistant", "tool", "assistant", "user"}; !slices.Equal(roles, want) {
		t.Errorf("roles %q, want %q", roles, want)
	}
	if sent.MaxReply != 77 || !slices.Equal(sent.Tools, []string{"weather"}) || sent.User() != "Weather in Bonn?\nAnd today?" {
		t.Errorf("sent %s", sent.Body)
	}
}

func testStructured(t *testing.T, open Open) {
	const good = `{"supported":true,"why":"it says so"}`
	request := ask("Is it so? Reply in JSON.")
	request.Schema = verdict
	never := func(text string) { t.Errorf("a request with a schema hands out %q", text) }
	for name, features := range map[string][]Feature{
		"strict": nil, "no schemas": {JSONSchema}, "no JSON mode": {JSONSchema, JSONObject},
	} {
		server := New(t, JSON(good), JSON("```json\n"+good+"\n```"))
		server.Without(features...)
		model := open(t, server, setting())
		for range 2 {
			if reply := mustChat(t, model, request, never); reply.Text != good {
				t.Errorf("%s: reply %q, want %q", name, reply.Text, good)
			}
		}
		if sent := len(server.Requests()); sent != len(features)+2 {
			t.Errorf("%s: %d requests, want what the server takes remembered", name, sent)
		}
	}
	for name, bad := range map[string]string{
		"another type": `{"supported":"yes","why":""}`, "missing": `{"supported":true}`, "truncated": good[:12],
		"none": "It is so.", "more": `{"supported":true,"why":"","more":1}`,
	} {
		server := New(t, JSON(bad), JSON(good), JSON(bad), JSON(bad))
		model := open(t, server, setting())
		if reply := mustChat(t, model, request, never); reply.Text != good || reply.Usage.Requests != 2 {
			t.Errorf("%s: reply %+v, want the second one", name, reply)
		}
		if last := server.Requests()[1].Messages; len(last) < 4 || last[2].Text != bad {
			t.Errorf("%s: the model is not shown its reply: %+v", name, last)
		}
		_, err := model.Chat(t.Context(), request, never)
		if failure := wantFailure(t, err, llm.Invalid); failure.Usage.Requests != 2 || failure.Usage.Prompt == 0 {
			t.Errorf("%s: usage of both requests is %+v", name, failure.Usage)
		}
	}
	for name, near := range map[string]string{
		"single quotes": `{'supported': true, 'why': 'it says so'}`, "a comma too many": `{"supported":true,"why":"it says so",}`,
		"names alone": `{supported: true, why: "it says so"}`, "of Python": `{'supported': True, 'why': "it says so"}`,
		"a fence and words": "Sure:\n```json\n" + `{"supported":true,"why":"it says so",}` + "\n```\nAnything else?", "a comment": `{"supported":true, // yes` + "\n" + `"why":"it says so"}`,
		"a thought": `<think>{"supported":false,"why":"perhaps"}</think>` + good,
	} {
		reply := mustChat(t, open(t, New(t, JSON(near)), setting()), request, never)
		var read struct {
			Supported bool   `json:"supported"`
			Why       string `json:"why"`
		}
		if err := json.Unmarshal([]byte(reply.Text), &read); err != nil || !read.Supported || read.Why != "it says so" {
			t.Errorf("%s: reply %q, %v", name, reply.Text, err)
		}
	}
	_, err := open(t, New(t, JSON(good[:12]).Finish("length")), setting()).Chat(t.Context(), request, never)
	if failure := wantFailure(t, err, llm.Invalid); failure.Usage.Requests != 1 || !strings.Contains(err.Error(), "limit") {
		t.Errorf("cut at its limit: %v after %d requests, want no second one, and to be told of the limit", err, failure.Usage.Requests)
	}
}

func testTools(t *testing.T, open Open) {
	good := Call{"call_7", "weather", `{"town":"Bonn"}`}
	server := New(t, Calling(good, Call{"call_8", "weather", `{"town":"Köln"}`}),
		Calling(good, Call{"x", "weather", `{"town":7}`}), Calling(good), Calling(Call{"x", "launch", `{}`}), Calling(Call{"x", "weather", `{"to`}))
	model := open(t, server, setting())
	request := ask("Weather in Bonn and Köln?")
	request.Tools = []llm.Tool{weather}
	reply := mustChat(t, model, request, nil)
	if len(reply.Calls) != 2 || reply.Finish != llm.Calls || reply.Calls[0].ID != "call_7" || string(reply.Calls[1].Arguments) != `{"town":"Köln"}` {
		t.Fatalf("reply %+v", reply)
	}
	reply = mustChat(t, model, request, nil)
	if len(reply.Calls) != 1 || reply.Usage.Requests != 2 {
		t.Errorf("reply after wrong arguments: %+v", reply)
	}
	_, err := model.Chat(t.Context(), request, nil)
	wantFailure(t, err, llm.Invalid)
}

func testFailures(t *testing.T, open Open) {
	for _, of := range []struct {
		name string
		step Step
		want llm.Failure
	}{
		{"key", Fail(http.StatusUnauthorized, "invalid_api_key", "no"), llm.Rejected},
		{"model", Fail(http.StatusNotFound, "model_not_found", "no"), llm.Rejected},
		{"request", Fail(http.StatusBadRequest, "invalid_value", "no"), llm.Rejected},
		{"context", Fail(http.StatusBadRequest, "context_length_exceeded", "This model's maximum context length is 10 tokens"), llm.TooLong},
		{"rate", Busy(0), llm.Limited},
		{"quota", Fail(http.StatusTooManyRequests, "insufficient_quota", "pay"), llm.Limited},
		{"server", Fail(http.StatusInternalServerError, "", "oops"), llm.Unavailable},
		{"gateway", Fail(http.StatusBadGateway, "", "oops"), llm.Unavailable},
		{"refusal", Refusal("I can't help with that."), llm.Refused},
		{"filter", Filtered("The be"), llm.Refused},
		{"filter of the prompt", Fail(http.StatusBadRequest, "content_filter", "no"), llm.Refused},
		{"nothing", Text(), llm.Unavailable},
	} {
		model := open(t, New(t, of.step), setting())
		t.Run(of.name, func(t *testing.T) {
			_, err := model.Chat(t.Context(), ask("Hello?"), nil)
			if failure := wantFailure(t, err, of.want); failure.Usage.Requests != 1 {
				t.Errorf("usage %+v, want one request", failure.Usage)
			}
		})
	}
	server := New(t)
	model := open(t, server, setting())
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := model.Chat(t.Context(), ask("Hello?"), nil)
	wantFailure(t, err, llm.Unavailable)
}

// testBrokenStreams ends streams in the middle: what was handed out is not repeated,
// even if retries are allowed.
func testBrokenStreams(t *testing.T, open Open) {
	text := Text("one ", "two ", "three")
	for name, step := range map[string]Step{
		"cut": text.CutAfter(2), "malformed": text.MalformedAfter(2), "error": text.FailAfter(2),
	} {
		t.Run(name, func(t *testing.T) {
			server := New(t, step, Text("again"))
			with := setting()
			with.Retries = 2
			model := open(t, server, with)
			var tokens []string
			_, err := model.Chat(t.Context(), ask("Count."), func(text string) { tokens = append(tokens, text) })
			failure := wantFailure(t, err, llm.Unavailable)
			if !slices.Equal(tokens, []string{"one ", "two "}) {
				t.Errorf("tokens %q, want those before the end, once", tokens)
			}
			if !failure.Usage.Estimated || failure.Usage.Completion == 0 || failure.Usage.Prompt == 0 {
				t.Errorf("usage %+v, want an estimate", failure.Usage)
			}
		})
	}
}

func testSlow(t *testing.T, open Open) {
	for name, step := range map[string]Step{
		"no header": Hang(), "no token": Text("one").HangAfter(0), "stalled": Text("one ", "two").HangAfter(1),
	} {
		t.Run(name, func(t *testing.T) {
			with := setting()
			with.FirstToken, with.Stall = impatient, impatient
			_, err := open(t, New(t, step), with).Chat(t.Context(), ask("Count."), func(string) {})
			wantFailure(t, err, llm.Slow)
		})
	}
}

func testCancelled(t *testing.T, open Open) {
	server := New(t, Text("one ", "two").HangAfter(1), Hang())
	model := open(t, server, setting())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := model.Chat(ctx, ask("Count."), func(string) { cancel() })
	if wantFailure(t, err, llm.Cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled within", err)
	}
	sent := len(server.Requests())
	if _, err = model.Chat(ctx, ask("Count."), nil); !errors.Is(err, context.Canceled) || len(server.Requests()) != sent {
		t.Errorf("Chat with a context that is over: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), impatient)
	defer cancel()
	_, err = model.Chat(ctx, ask("Count."), nil)
	if wantFailure(t, err, llm.Slow); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want context.DeadlineExceeded within", err)
	}
}

func testRetries(t *testing.T, open Open) {
	for name, step := range map[string]Step{
		"rate": Busy(0), "server": Fail(http.StatusServiceUnavailable, "", "oops"), "cut": Text("x").CutAfter(0),
	} {
		t.Run(name, func(t *testing.T) {
			with := setting()
			with.Retries = 2
			var tokens []string
			reply := mustChat(t, open(t, New(t, step, step, Text("done")), with), ask("Go on."), func(text string) { tokens = append(tokens, text) })
			if reply.Text != "done" || reply.Usage.Requests != 3 || !slices.Equal(tokens, []string{"done"}) {
				t.Errorf("reply %+v after tokens %q", reply, tokens)
			}
		})
	}
	model := open(t, New(t, Busy(time.Hour)), setting())
	_, err := model.Chat(t.Context(), ask("Go on."), nil)
	if failure := wantFailure(t, err, llm.Limited); failure.RetryAfter != time.Hour {
		t.Errorf("retry after %s, want an hour", failure.RetryAfter)
	}
}

func testTooLong(t *testing.T, open Open) {
	server := New(t)
	with := setting()
	with.Context, with.Reply = 600, 100
	model := open(t, server, with)
	if limits := model.Limits(); limits.Context != 600 || limits.Reply != 100 || limits.Longest <= 0 {
		t.Errorf("limits %+v", limits)
	}
	_, err := model.Chat(t.Context(), ask(strings.Repeat("word ", 500)), nil)
	wantFailure(t, err, llm.TooLong)
	if len(server.Requests()) != 0 {
		t.Error("a prompt that does not fit was sent")
	}
	few, many := model.Tokens("a word"), model.Tokens(strings.Repeat("a word ", 100))
	if model.Tokens("") != 0 || few < 2 || many < 150 || many > 400 {
		t.Errorf("%d tokens for two words, %d for two hundred", few, many)
	}
}

func testUsage(t *testing.T, open Open) {
	server := New(t, Text("a ", "b").Usage(1000, 500), Text("a ", "b").WithoutUsage())
	model := open(t, server, setting())
	usage := mustChat(t, model, ask("Hello?"), nil).Usage
	if usage.Prompt != 1000 || usage.Completion != 500 || usage.Estimated || usage.Cost != .002 || usage.Model == "" {
		t.Errorf("usage %+v", usage)
	}
	usage = mustChat(t, model, ask("Hello?"), nil).Usage
	if usage.Prompt == 0 || usage.Completion == 0 || !usage.Estimated || usage.Cost == 0 {
		t.Errorf("estimated usage %+v", usage)
	}
}

func testConcurrent(t *testing.T, open Open) {
	server := New(t)
	server.On(Any, By(func(request Request) Step { return Text("you said ", request.User()) }))
	model := open(t, server, setting())
	var callers sync.WaitGroup
	for _, text := range []string{"a", "b", "c", "d", "e", "f"} {
		callers.Go(func() {
			var streamed strings.Builder
			reply, err := model.Chat(t.Context(), ask(text), func(token string) { streamed.WriteString(token) })
			if err != nil || reply.Text != "you said "+text || streamed.String() != reply.Text {
				t.Errorf("Chat beside others: %q, %v", reply.Text, err)
			}
		})
	}
	callers.Wait()
}
