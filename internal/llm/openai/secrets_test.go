package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// What no error and no log line may hold, by the markers in them.
const (
	markedPrompt   = "PROMPT-7f3a"
	markedReply    = "REPLY-91bc"
	markedPassword = "PASSWORD-52de"
	markedServer   = "SERVERTEXT-08aa"
)

var marks = []string{llmtest.Key, markedPrompt, markedReply, markedPassword, markedServer, "secretpath"}

func markedRequest() llm.Request {
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "System JSON " + markedPrompt},
			{Role: llm.User, Text: "User " + markedPrompt},
		},
		Schema: &llm.Schema{Name: "answer", JSON: json.RawMessage(
			`{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer"}}}`)},
		Tools: []llm.Tool{{Name: "look", Description: markedPrompt, Parameters: json.RawMessage(
			`{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer"}}}`)}},
	}
}

// telling is an error that quotes everything.
func telling(status int) llmtest.Step {
	quote := strings.Join(marks, " ")
	return llmtest.Fail(status, quote, quote)
}

func TestSecretsAreKept(t *testing.T) {
	reply := llmtest.Text(markedReply+" ", markedReply)
	steps := map[string]llmtest.Step{
		"filter":     llmtest.Filtered(markedReply),
		"refusal":    llmtest.Refusal(markedReply),
		"cut":        reply.CutAfter(1),
		"malformed":  reply.MalformedAfter(1),
		"in stream":  reply.FailAfter(1),
		"stalled":    reply.HangAfter(1),
		"hang":       llmtest.Hang(),
		"no JSON":    reply,
		"wrong type": llmtest.JSON(`{"n":"` + markedReply + `"}`),
		"wrong name": llmtest.JSON(`{"` + markedReply + `":1}`),
		"truncated":  llmtest.JSON(`{"n":"` + markedReply),
		"length":     reply.Finish("length"),
		"arguments":  llmtest.Calling(llmtest.Call{ID: markedReply, Name: "look", Arguments: `{"n":"` + markedReply + `"}`}),
		"tool":       llmtest.Calling(llmtest.Call{ID: "x", Name: markedReply, Arguments: markedReply}),
	}
	for _, status := range []int{400, 401, 403, 404, 413, 422, 429, 500, 503} {
		steps[fmt.Sprint("status ", status)] = telling(status)
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			server := llmtest.New(t)
			server.On(llmtest.Any, step)
			checkSecrets(t, server.URL, nil)
		})
	}
}

// TestSecretsAreKeptFromTheNetwork has no server of the wire format behind the address.
func TestSecretsAreKeptFromTheNetwork(t *testing.T) {
	answer := func(status int, header http.Header, body string) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r,
			}, nil
		})
	}
	fail := func(err error) http.RoundTripper {
		return roundTripper(func(*http.Request) (*http.Response, error) { return nil, err })
	}
	for name, transport := range map[string]http.RoundTripper{
		"nobody listens": nil,
		"redirect":       answer(http.StatusFound, http.Header{"Location": {"http://elsewhere.test/" + markedPassword}}, markedServer),
		"not HTTP":       fail(fmt.Errorf("malformed HTTP response %q", markedServer)),
		"url":            fail(&url.Error{Op: "Post", URL: "http://u:" + markedPassword + "@h/", Err: errors.New(markedServer)}),
		"a page":         answer(http.StatusOK, http.Header{"Content-Type": {"text/html"}}, "<p>"+markedServer),
		"an error page":  answer(http.StatusBadGateway, nil, "<p>"+markedServer),
		"no stream":      answer(http.StatusOK, http.Header{"Content-Type": {"application/json"}}, `{"choices":[{"message":{"content":["`+markedReply+`"]}}]}`),
		"status":         answer(http.StatusEarlyHints, nil, markedServer),
	} {
		t.Run(name, func(t *testing.T) {
			checkSecrets(t, "http://user:"+markedPassword+"@127.0.0.1:1/secretpath/v1", transport)
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// checkSecrets makes a request fail, with retries and fallbacks, and looks through all
// that is said of it.
func checkSecrets(t *testing.T, address string, transport http.RoundTripper) {
	t.Helper()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	settings := openai.Options{
		BaseURL: address, Key: llm.NewSecret(llmtest.Key), Model: "m", Logger: logger, Transport: transport,
		FirstToken: 20 * time.Millisecond, Stall: 20 * time.Millisecond, Gate: gate.Options{BackOff: time.Millisecond},
	}
	model := mustOpen(t, settings)
	request := markedRequest()
	_, structured := model.Chat(t.Context(), request, nil)
	request.Schema = nil
	_, plain := model.Chat(t.Context(), request, func(string) {})
	var said string
	for _, err := range []error{structured, plain} {
		var failure *llm.Error
		if err != nil && !errors.As(err, &failure) {
			t.Errorf("error %v of type %T", err, err)
		}
		said += fmt.Sprintf("%v %+v %#v\n", err, err, err)
	}
	if structured == nil {
		t.Error("no error")
	}
	logger.Error("as a whole", "error", structured, "model", model, "options", settings)
	said += log.String()
	said += fmt.Sprintf("%v %+v %s %v", settings, settings, model, []openai.Options{settings})
	for _, mark := range marks {
		if strings.Contains(said, mark) {
			t.Errorf("%q is told:\n%s", mark, said)
		}
	}
}

func TestBadOptions(t *testing.T) {
	hot := 3.0
	for want, options := range map[string]openai.Options{
		"name is missing":             {},
		"want http:// or https://":    {Model: "m", BaseURL: "ftp://u:" + markedPassword + "@h"},
		"with no query":               {Model: "m", BaseURL: "http://h/v1?key=" + markedPassword},
		"azure needs":                 {Model: "m", Azure: &openai.Azure{}},
		"temperature 3":               {Model: "m", Temperature: &hot},
		"leaves no room for a prompt": {Model: "m", Context: 100, MaxReply: 100},
		"can't be negative":           {Model: "m", Context: -1, MaxReply: -5},
	} {
		_, err := openai.New(options)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), markedPassword) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

func TestAuthorization(t *testing.T) {
	for name, of := range map[string]struct {
		address string
		key     string
		want    string
	}{
		"none":          {"http://", "", ""},
		"key":           {"http://", "k", "Bearer k"},
		"user":          {"http://u:p@", "", "Basic dTpw"},
		"key over user": {"http://u:p@", "k", "Bearer k"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header.Get("Authorization")
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer server.Close()
			model := mustOpen(t, openai.Options{
				BaseURL: of.address + strings.TrimPrefix(server.URL, "http://"), Key: llm.NewSecret(of.key), Model: "m",
			})
			if _, err := model.Chat(t.Context(), llm.Request{}, nil); err == nil {
				t.Error("no error")
			}
			if got != of.want {
				t.Errorf("Authorization %q, want %q", got, of.want)
			}
		})
	}
}
