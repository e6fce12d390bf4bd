package openai_test

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

func options(server *llmtest.Server, with llmtest.Setting) openai.Options {
	retries := with.Retries
	if retries == 0 {
		retries = -1
	}
	return openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(with.Key), Model: "gpt-4o",
		Context: with.Context, MaxReply: with.Reply, FirstToken: with.FirstToken, Stall: with.Stall,
		Prices: openai.Prices{Prompt: with.PromptPrice, Completion: with.CompletionPrice},
		Gate:   gate.Options{Retries: retries, BackOff: time.Millisecond},
	}
}

func mustOpen(t testing.TB, options openai.Options) *openai.Model {
	t.Helper()
	model, err := openai.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func TestModel(t *testing.T) {
	llmtest.Run(t, func(t *testing.T, server *llmtest.Server, with llmtest.Setting) llm.Model {
		return mustOpen(t, options(server, with))
	})
}

func azure(server *llmtest.Server, with llmtest.Setting) openai.Options {
	o := options(server, with)
	o.BaseURL = server.AzureURL
	o.Azure = &openai.Azure{Deployment: "ours", APIVersion: "2024-10-21"}
	return o
}

func TestAzure(t *testing.T) {
	llmtest.Run(t, func(t *testing.T, server *llmtest.Server, with llmtest.Setting) llm.Model {
		return mustOpen(t, azure(server, with))
	})
}

// TestRawCallsAreNotChecked has a model call tools wrongly, for a caller that answers it itself.
func TestRawCallsAreNotChecked(t *testing.T) {
	server := llmtest.New(t, llmtest.Calling(llmtest.Call{ID: "a", Name: "look", Arguments: `{"n"`}, llmtest.Call{ID: "b", Name: "jump", Arguments: `{}`}))
	model, err := openai.New(openai.Options{BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Context: 8000})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := model.Chat(t.Context(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "look"}}, RawCalls: true,
		Tools: []llm.Tool{{Name: "look", Parameters: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}},
	}, nil)
	if err != nil || len(reply.Calls) != 2 || string(reply.Calls[0].Arguments) != `{"n"` || reply.Calls[1].Name != "jump" {
		t.Errorf("%v, %+v", err, reply)
	}
}
