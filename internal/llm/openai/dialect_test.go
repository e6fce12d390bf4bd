package openai_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// TestServersThatLackFeatures checks that each is gone without after one refusal, and
// that this is remembered.
func TestServersThatLackFeatures(t *testing.T) {
	cool := .2
	for _, of := range []struct {
		without []llmtest.Feature
		check   func(llmtest.Request) bool
	}{
		{[]llmtest.Feature{llmtest.StreamOptions}, func(r llmtest.Request) bool { return r.Stream && !r.Usage }},
		{[]llmtest.Feature{llmtest.Streaming}, func(r llmtest.Request) bool { return !r.Stream }},
		{[]llmtest.Feature{llmtest.MaxTokens}, func(r llmtest.Request) bool { return r.MaxReply == 1024 }},
		{[]llmtest.Feature{llmtest.Temperature}, func(r llmtest.Request) bool { return r.Temperature == nil }},
		{[]llmtest.Feature{llmtest.StreamOptions, llmtest.MaxTokens, llmtest.Temperature, llmtest.JSONSchema, llmtest.JSONObject},
			func(r llmtest.Request) bool { return r.Format == "" && strings.Contains(r.System(), `"integer"`) }},
	} {
		server := llmtest.New(t, llmtest.JSON(`{"n":1}`), llmtest.JSON(`{"n":2}`))
		server.Without(of.without...)
		model := mustOpen(t, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m", Temperature: &cool})
		request := markedRequest()
		for range 2 {
			if _, err := model.Chat(t.Context(), request, nil); err != nil {
				t.Fatalf("without %v: %v", of.without, err)
			}
		}
		sent := server.Requests()
		if len(sent) != len(of.without)+2 || !of.check(sent[len(sent)-1]) {
			t.Errorf("without %v: %d requests, the last is %s", of.without, len(sent), sent[len(sent)-1].Body)
		}
	}
}

// TestFeaturesAreLearntConcurrently lets many requests find out the same at once.
func TestFeaturesAreLearntConcurrently(t *testing.T) {
	server := llmtest.New(t)
	server.On(llmtest.Any, llmtest.JSON(`{"n":1}`))
	server.Without(llmtest.JSONSchema, llmtest.StreamOptions, llmtest.MaxTokens)
	model := mustOpen(t, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m"})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if reply, err := model.Chat(t.Context(), markedRequest(), nil); err != nil || reply.Text != `{"n":1}` {
				t.Errorf("reply %q, %v", reply.Text, err)
			}
		})
	}
	callers.Wait()
	before := len(server.Requests())
	if _, err := model.Chat(t.Context(), markedRequest(), nil); err != nil || len(server.Requests()) != before+1 {
		t.Errorf("%d requests when all is known, %v", len(server.Requests())-before, err)
	}
}

// TestWholeReplies checks a server without streams: all of it is one token.
func TestWholeReplies(t *testing.T) {
	server := llmtest.New(t, llmtest.Text("one ", "two").Usage(7, 2), llmtest.Text("a ", "b").CutAfter(1),
		llmtest.Text("a ", "b").MalformedAfter(1), llmtest.Calling(llmtest.Call{ID: "c", Name: "look", Arguments: `{"n":1}`}), llmtest.Refusal("no"))
	server.Without(llmtest.Streaming)
	model := mustOpen(t, openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m", Gate: gate.Options{Retries: -1},
	})
	request := markedRequest()
	request.Schema = nil
	var tokens []string
	reply, err := model.Chat(t.Context(), request, func(text string) { tokens = append(tokens, text) })
	if err != nil || reply.Text != "one two" || !slices.Equal(tokens, []string{"one two"}) || reply.Usage.Prompt != 7 || reply.Usage.FirstToken <= 0 {
		t.Errorf("reply %+v, tokens %q, %v", reply, tokens, err)
	}
	for _, want := range []llm.Failure{llm.Unavailable, llm.Unavailable, "", llm.Refused} {
		reply, err := model.Chat(t.Context(), request, nil)
		var failure *llm.Error
		switch {
		case want == "":
			if err != nil || len(reply.Calls) != 1 || string(reply.Calls[0].Arguments) != `{"n":1}` {
				t.Errorf("reply %+v, %v", reply, err)
			}
		case !errors.As(err, &failure) || failure.Failure != want:
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestModelsThatReason checks what OpenAI's own models of that kind refuse.
func TestModelsThatReason(t *testing.T) {
	cool := .2
	server := llmtest.New(t, llmtest.Text("yes"))
	server.Without(llmtest.MaxTokens, llmtest.Temperature)
	model := mustOpen(t, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-5-mini", Temperature: &cool})
	request := markedRequest()
	request.Schema = nil
	if _, err := model.Chat(t.Context(), request, nil); err != nil || len(server.Requests()) != 1 {
		t.Errorf("%d requests, %v", len(server.Requests()), err)
	}
}

// TestTemperature checks that a zero is sent as one, and none where none is set.
func TestTemperature(t *testing.T) {
	zero, half := 0., .5
	for want, temperature := range map[string]*float64{`"temperature":0}`: &zero, `"temperature":0.5}`: &half, "": nil} {
		server := llmtest.New(t, llmtest.Text("yes"))
		model := mustOpen(t, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m", Temperature: temperature})
		request := markedRequest()
		request.Schema = nil
		if _, err := model.Chat(t.Context(), request, nil); err != nil {
			t.Fatal(err)
		}
		body := string(server.Requests()[0].Body)
		if !strings.HasSuffix(body, want) || strings.Contains(body, "temperature") != (want != "") {
			t.Errorf("temperature %v is sent as %s", temperature, body)
		}
	}
}

// TestThoughtsAreTakenOut has models think in the ways that servers have, and checks that
// neither what is streamed nor the reply holds any of it.
func TestThoughtsAreTakenOut(t *testing.T) {
	request := markedRequest()
	request.Schema = nil
	for name, of := range map[string]struct {
		model string
		step  llmtest.Step
	}{
		"tags":              {"m", llmtest.Text("<thi", "nk>Hm", ". </th", "ink>\n", "\nEvery ", "night.")},
		"end alone":         {"deepseek-r1:7b", llmtest.Text("Hm", ". </think>", "\n\nEvery ", "night.")},
		"none after all":    {"qwq-32b", llmtest.Text("Every ", "night.")},
		"reasoning_content": {"m", llmtest.Text("Every ", "night.").Thinking("reasoning_content", "Hm", ".")},
		"reasoning":         {"m", llmtest.Text("Every ", "night.").Thinking("reasoning", "Hm", ".")},
		"thinking":          {"m", llmtest.Text("Every ", "night.").Thinking("thinking", "Hm", ".")},
	} {
		for _, whole := range []bool{false, true} {
			server := llmtest.New(t, of.step)
			if whole {
				server.Without(llmtest.Streaming)
			}
			model := mustOpen(t, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: of.model})
			var streamed strings.Builder
			reply, err := model.Chat(t.Context(), request, func(text string) { streamed.WriteString(text) })
			if err != nil || reply.Text != "Every night." || streamed.String() != reply.Text {
				t.Errorf("%s (whole: %t): reply %q, streamed %q, %v", name, whole, reply.Text, streamed.String(), err)
			}
		}
	}
}

// TestAThoughtThatOnlyEndsIsLearnt: what came before the end of the first one was shown, and
// of the next nothing.
func TestAThoughtThatOnlyEndsIsLearnt(t *testing.T) {
	server := llmtest.New(t)
	server.On(llmtest.Any, llmtest.Text("Hm. ", "</think>", "Every ", "night."))
	model := mustOpen(t, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m"})
	request := markedRequest()
	request.Schema = nil
	for _, want := range []string{"Hm. Every night.", "Every night."} {
		var streamed strings.Builder
		reply, err := model.Chat(t.Context(), request, func(text string) { streamed.WriteString(text) })
		if err != nil || reply.Text != "Every night." || streamed.String() != want {
			t.Errorf("reply %q, streamed %q, %v", reply.Text, streamed.String(), err)
		}
	}
}

// TestThoughtsLeaveRoomForTheReply has a model whose thoughts take all that the request
// allows: it is asked again with all that the model may write, and so from then on.
func TestThoughtsLeaveRoomForTheReply(t *testing.T) {
	server := llmtest.New(t)
	server.On(llmtest.Any, llmtest.By(func(r llmtest.Request) llmtest.Step {
		if r.MaxReply < 500 {
			return llmtest.Text("<think>", "Hm").Finish("length")
		}
		return llmtest.Text("<think>", "Hm</think>", "Yes.")
	}))
	model := mustOpen(t, openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m", MaxReply: 500})
	request := markedRequest()
	request.Schema, request.MaxReply = nil, 100
	for want := 2; want <= 3; want++ {
		reply, err := model.Chat(t.Context(), request, nil)
		if sent := len(server.Requests()); err != nil || reply.Text != "Yes." || sent != want {
			t.Errorf("reply %q after %d requests, want %d, %v", reply.Text, sent, want, err)
		}
	}
}

func TestBudgetIsAskedFirst(t *testing.T) {
	server := llmtest.New(t, llmtest.Text("yes").Usage(30, 10))
	budget := gate.NewBudget(gate.Allowance{RunTokens: 200})
	model := mustOpen(t, openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m", MaxReply: 100, Gate: gate.Options{Budget: budget},
	})
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: strings.Repeat("word ", 60)}}, Run: "r1"}
	if _, err := model.Chat(t.Context(), request, nil); err != nil || budget.Run("r1").Tokens != 40 {
		t.Fatalf("spent %+v, %v", budget.Run("r1"), err)
	}
	_, err := model.Chat(t.Context(), request, nil)
	var failure *llm.Error
	if !errors.As(err, &failure) || failure.Failure != llm.OverBudget || len(server.Requests()) != 1 {
		t.Errorf("error %v after %d requests", err, len(server.Requests()))
	}
}

func TestBadSchemas(t *testing.T) {
	model := mustOpen(t, openai.Options{BaseURL: "http://127.0.0.1:1", Model: "m"})
	for _, schema := range []string{"", "{", `{"type":7}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"http://127.0.0.1:1/s"}`, `{"pattern":"("}`} {
		request := markedRequest()
		request.Schema = &llm.Schema{Name: "s", JSON: []byte(schema)}
		_, err := model.Chat(t.Context(), request, nil)
		var failure *llm.Error
		if !errors.As(err, &failure) || failure.Failure != llm.Rejected || !strings.Contains(err.Error(), `schema "s"`) {
			t.Errorf("schema %q: %v", schema, err)
		}
	}
}
