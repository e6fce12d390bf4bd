package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// fixed answers every request with the same bytes.
func fixed(status int, header http.Header, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
}

// FuzzChat gives a model whatever bytes for an answer: a reply follows what was asked
// for, or there is an *llm.Error that does not quote them.
func FuzzChat(f *testing.F) {
	const head = `data: {"model":"m","choices":[{"index":0,"delta":`
	f.Add(200, "text/event-stream", "", head+`{"content":"{\"n\":1}"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", true)
	f.Add(200, "text/event-stream", "", head+`{"tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":"{\"n\""}}]}}]}`+"\n\n"+
		head+`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n", false)
	f.Add(200, "text/event-stream", "", head+`{"tool_calls":[{"index":9999999,"id":"c"}]}}]}`+"\n\n", false)
	f.Add(200, "text/event-stream", "", `data: {"error":{"message":"MARK","code":429}}`+"\n\n", false)
	f.Add(200, "application/json", "", `{"choices":[{"message":{"content":"MARK"},"finish_reason":"length"}],"usage":{"prompt_tokens":-5}}`, false)
	f.Add(429, "application/json", "1e300", `{"error":{"message":["MARK"],"code":"MARK"}}`, true)
	f.Add(503, "text/html", "Wed, 21 Oct 2015 07:28:00 GMT", "<p>MARK", false)
	f.Add(400, "", "-1", `{"error":{"message":"response_format MARK"}}`, true)
	f.Add(101, "", "NaN", "", false)
	f.Fuzz(func(t *testing.T, status int, contentType, retryAfter, body string, structured bool) {
		model := mustOpen(t, openai.Options{
			Model: "m", Gate: gate.Options{Retries: -1},
			Transport: fixed(status, http.Header{"Content-Type": {contentType}, "Retry-After": {retryAfter}}, body),
		})
		request := markedRequest()
		if !structured {
			request.Schema = nil
		}
		var streamed strings.Builder
		reply, err := model.Chat(t.Context(), request, func(text string) { streamed.WriteString(text) })
		if err != nil {
			var failure *llm.Error
			if !errors.As(err, &failure) || failure.RetryAfter < 0 {
				t.Fatalf("error %v of type %T", err, err)
			}
			if strings.Contains(err.Error(), "MARK") {
				t.Fatalf("error %q quotes the server", err)
			}
			return
		}
		if !structured && !strings.HasSuffix(streamed.String(), reply.Text) { // what was a thought is known at its end
			t.Fatalf("reply %q, streamed %q", reply.Text, streamed.String())
		}
		if structured && len(reply.Calls) == 0 && !strings.HasPrefix(reply.Text, "{") {
			t.Fatalf("structured reply %q", reply.Text)
		}
		if reply.Usage.Prompt < 0 || reply.Usage.Completion < 0 {
			t.Fatalf("usage %+v", reply.Usage)
		}
	})
}

// FuzzNearlyJSON gives a model whatever text for a structured reply: it follows the schema, or
// there is an error.
func FuzzNearlyJSON(f *testing.F) {
	for _, reply := range []string{
		`{'n': 1,}`, "Here it is:\n```json\n{n: 1} // so\n```\nThat is all.", `{"n": 1`, `{"n": {"n": [[[{`, `{{{"n":1}}}`, `{"n": 1e999}`, "\u2028{“n”: 1}",
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, said string) {
		body, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": said}, "finish_reason": "stop"}}})
		if err != nil {
			t.Fatal(err)
		}
		model := mustOpen(t, openai.Options{
			Model: "m", Gate: gate.Options{Retries: -1}, Transport: fixed(http.StatusOK, http.Header{"Content-Type": {"application/json"}}, string(body)),
		})
		reply, err := model.Chat(t.Context(), markedRequest(), nil)
		var got struct{ N *json.Number }
		if err == nil && (json.Unmarshal([]byte(reply.Text), &got) != nil || got.N == nil) {
			t.Fatalf("%q is read as %q", said, reply.Text)
		}
	})
}

// FuzzEmbed gives an embedder whatever bytes for an answer.
func FuzzEmbed(f *testing.F) {
	f.Add(200, `{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3,4]}],"usage":{"prompt_tokens":2}}`)
	f.Add(200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`)
	f.Add(200, `{"data":[{"index":-1,"embedding":[]},{"index":7,"embedding":null}]}`)
	f.Add(500, `{"error":{"message":"MARK"}}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		e, err := openai.NewEmbedder(openai.Options{
			Model: "m", Gate: gate.Options{Retries: -1}, Transport: fixed(status, http.Header{}, body),
		})
		if err != nil {
			t.Fatal(err)
		}
		vectors, usage, err := e.Embed(t.Context(), []string{"a", "b"})
		var failure *llm.Error
		switch {
		case err != nil:
			if !errors.As(err, &failure) || strings.Contains(err.Error(), "MARK") {
				t.Fatalf("error %v of type %T", err, err)
			}
		case len(vectors) != 2 || len(vectors[0]) == 0 || len(vectors[0]) != len(vectors[1]):
			t.Fatalf("vectors %v", vectors)
		case usage.Prompt < 0:
			t.Fatalf("usage %+v", usage)
		}
	})
}
