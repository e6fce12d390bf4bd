package llmtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

func Example() {
	server, err := llmtest.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	server.On(llmtest.Schema("understanding"), llmtest.JSON(`{"intent":"how-to"}`))
	server.On(llmtest.System("You answer"), llmtest.By(func(r llmtest.Request) llmtest.Step {
		return llmtest.Text("You asked: ", r.User())
	}))

	model, err := openai.New(openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Chat(context.Background(), llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "You answer questions."}, {Role: llm.User, Text: "How?"},
	}}, func(token string) { fmt.Fprintf(os.Stdout, "[%s]", token) })
	fmt.Println("", reply.Finish, err, len(server.Requests()))
	// Output: [You asked: ][How?] stop <nil> 1
}

// post sends a body as a client would, and gives status and body of the answer.
func post(t *testing.T, url, key, body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

const (
	user = `{"role":"user","content":"JSON?"}`
	call = `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
)

func withSchema(schema string) string {
	return `{"model":"m","messages":[` + user + `],"response_format":{"type":"json_schema","json_schema":{"name":"s","strict":true,"schema":` + schema + `}}}`
}

// TestRequestsAreChecked sends what OpenAI refuses, and like it answers.
func TestRequestsAreChecked(t *testing.T) {
	for body, want := range map[string]string{
		`{`: "unexpected EOF",
		`{"model":"m","messages":[` + user + `]}{}`:                                                                                   "more than one",
		`{"messages":[` + user + `]}`:                                                                                                 "model",
		`{"model":"m","messages":[]}`:                                                                                                 "at least one",
		`{"model":"m","messages":[` + user + `],"extra":1}`:                                                                           "unknown field",
		`{"model":"m","messages":[{"role":"bot","content":""}]}`:                                                                      "role",
		`{"model":"m","messages":[{"role":"user"}]}`:                                                                                  "content is required",
		`{"model":"m","messages":[{"role":"assistant"}]}`:                                                                             "content or tool_calls",
		`{"model":"m","messages":[` + call + `,` + user + `]}`:                                                                        "have no results",
		`{"model":"m","messages":[` + call + `]}`:                                                                                     "have no results",
		`{"model":"m","messages":[{"role":"tool","content":"","tool_call_id":"c"}]}`:                                                  "tool_call_id",
		`{"model":"m","messages":[` + user + `],"temperature":3}`:                                                                     "temperature",
		`{"model":"m","messages":[` + user + `],"max_tokens":0}`:                                                                      "below 1",
		`{"model":"m","messages":[` + user + `],"max_tokens":1,"max_completion_tokens":1}`:                                            "together",
		`{"model":"m","messages":[` + user + `],"stream_options":{"include_usage":true}}`:                                             "stream_options",
		`{"model":"m","messages":[` + user + `],"response_format":{"type":"xml"}}`:                                                    "response_format",
		`{"model":"m","messages":[` + user + `],"response_format":{"type":"json_schema"}}`:                                            "needs a name",
		`{"model":"m","messages":[` + user + `],"tools":[{"type":"function"}]}`:                                                       "tools[0]",
		`{"model":"m","messages":[{"role":"user","content":""}],"response_format":{"type":"json_object"}}`:                            "'json'",
		`{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"array"}}}]}`: "schema of an object",
		withSchema(`{"type":"array","items":{"type":"string"}}`):                                                                      "root",
		withSchema(`{"type":"object","properties":{},"required":[]}`):                                                                 "additionalProperties",
		withSchema(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}},"required":[]}`):               "required",
		withSchema(`{"type":"object","additionalProperties":false,"properties":{"a":{}},"required":["a"]}`):                           "'type' key",
		withSchema(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"array"}},"required":["a"]}`):             "items",
		withSchema(`{"type":"object","additionalProperties":false,"properties":{},"required":[],"allOf":[]}`):                         "not permitted",
		withSchema(strings.Repeat(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":`, 12) + `{"type":"string"}` + strings.Repeat(`}}`, 12)): "nested",
	} {
		server := llmtest.New(t, llmtest.Text("fine"))
		server.Tolerate()
		status, answer := post(t, server.URL+"/chat/completions", llmtest.Key, body)
		if status != http.StatusBadRequest || !strings.Contains(answer, want) || len(server.Faults()) != 1 {
			t.Errorf("%s:\nstatus %d, %s; want %q", body, status, answer, want)
		}
		status, answer = post(t, server.URL+"/chat/completions", llmtest.Key, `{"model":"m","messages":[`+user+`]}`)
		if status != http.StatusOK || !strings.Contains(answer, `"content":"fine"`) {
			t.Errorf("a request that was refused used up a step: status %d, %s", status, answer)
		}
	}
}

func TestEmbeddingsAreChecked(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","input":[]}`:                                        "empty",
		`{"model":"m","input":["a",""]}`:                                  "empty",
		`{"input":["a"]}`:                                                 "model",
		`{"model":"m","input":7}`:                                         "input",
		`{"model":"m","input":["a"],"x":""}`:                              "unknown field",
		`{"model":"m","input":["a"],"encoding_format":"x"}`:               "encoding_format",
		`{"model":"m","input":["a"` + strings.Repeat(`,"a"`, 2048) + `]}`: "at most 2048",
	} {
		server := llmtest.New(t)
		server.Tolerate()
		if status, answer := post(t, server.URL+"/embeddings", llmtest.Key, body); status != http.StatusBadRequest || !strings.Contains(answer, want) {
			t.Errorf("%.80s: status %d, %s; want %q", body, status, answer, want)
		}
	}
	server := llmtest.New(t)
	if status, answer := post(t, server.URL+"/embeddings", llmtest.Key, `{"model":"m","input":"a"}`); status != http.StatusOK || !strings.Contains(answer, `"index":0`) {
		t.Errorf("without a script: status %d, %s", status, answer)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	const body = `{"model":"m","messages":[` + user + `]}`
	server := llmtest.New(t, llmtest.Text("fine"))
	server.Tolerate()
	for url, want := range map[string]int{
		server.URL + "/chat/completions": http.StatusUnauthorized,
		server.AzureURL + "/openai/deployments/d/chat/completions?api-version=2024-10-21": http.StatusUnauthorized,
		server.URL + "/completions": http.StatusNotFound,
	} {
		if status, _ := post(t, url, "sk-other", body); status != want {
			t.Errorf("%s: status %d, want %d", url, status, want)
		}
	}
}

// TestScripts checks which step a request gets.
func TestScripts(t *testing.T) {
	server := llmtest.New(t, llmtest.Text("queued 1"), llmtest.Text("queued 2"))
	server.On(llmtest.Says("rule"), llmtest.Text("rule 1"), llmtest.Text("rule 2"))
	server.On(llmtest.Says("rule again"), llmtest.Text("never"))
	server.Tolerate()
	for _, of := range []struct{ text, want string }{
		{"rule", "rule 1"}, {"x", "queued 1"}, {"rule again", "rule 2"}, {"rule", "rule 2"}, {"x", "queued 2"}, {"x", "no step is left"},
	} {
		_, answer := post(t, server.URL+"/chat/completions", llmtest.Key, `{"model":"m","messages":[{"role":"user","content":"`+of.text+`"}]}`)
		if !strings.Contains(answer, of.want) {
			t.Errorf("%q: %s, want %q", of.text, answer, of.want)
		}
	}
	if faults := server.Faults(); len(faults) != 1 || len(server.Requests()) != 6 {
		t.Errorf("faults %q", faults)
	}
}

// TestFaultsFailTests runs a test within, to see it fail.
func TestFaultsFailTests(t *testing.T) {
	inner := &recorder{TB: t}
	server := llmtest.New(inner)
	if status, _ := post(t, server.URL+"/chat/completions", llmtest.Key, `{}`); status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	inner.cleanup()
	if len(inner.said) != 1 || !strings.Contains(inner.said[0], "model") {
		t.Errorf("the test within says %q", inner.said)
	}
}

// recorder is a test that keeps what it fails with.
type recorder struct {
	testing.TB
	cleanup func()
	said    []string
}

func (r *recorder) Cleanup(f func()) { r.cleanup = f }

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// TestCloseCutsHangingReplies would not end if it did not.
func TestCloseCutsHangingReplies(t *testing.T) {
	started := make(chan struct{})
	server := llmtest.New(t, llmtest.Text("one", "two").Before(1, func(context.Context) { close(started) }).HangAfter(1))
	done := make(chan error)
	go func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/chat/completions",
			strings.NewReader(`{"model":"m","stream":true,"messages":[`+user+`]}`))
		if err != nil {
			done <- err
			return
		}
		request.Header.Set("Authorization", "Bearer "+llmtest.Key)
		response, err := new(http.Client).Do(request)
		if err != nil {
			done <- err
			return
		}
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		done <- err
	}()
	<-started
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("the reply came to an end")
	}
}
