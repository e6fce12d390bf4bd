package answer_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// profile is a kind of model as people run them.
type profile struct {
	options func(*openai.Options)
	without []llmtest.Feature
	// think is what is put before and after a reply, and thinking the field of thoughts.
	think    [2]string
	thinking string
	fence    bool // structured replies come in words and a fence, with single quotes
}

var profiles = map[string]profile{
	"plain": {},
	"reasoning, OpenAI's": {
		options: func(o *openai.Options) { o.Model = "gpt-5-mini" },
		without: []llmtest.Feature{llmtest.MaxTokens, llmtest.Temperature},
	},
	"reasoning, in tags":        {think: [2]string{"<think>Which one [7]?\n\nHm.", "</think>\n\n"}},
	"reasoning, end alone":      {options: func(o *openai.Options) { o.Model = "deepseek-r1:14b" }, think: [2]string{"Which one [7]?", "</think>"}},
	"reasoning, in a field":     {thinking: "reasoning_content"},
	"reasoning, in another one": {thinking: "reasoning"},
	"4k of context":             {options: func(o *openai.Options) { o.Context, o.MaxReply = 4096, 1024 }},
	"1M of context":             {options: func(o *openai.Options) { o.Context, o.MaxReply = 1_000_000, 64_000 }},
	"no JSON modes":             {without: []llmtest.Feature{llmtest.JSONSchema, llmtest.JSONObject}, fence: true},
	"no streams, no counts":     {without: []llmtest.Feature{llmtest.Streaming, llmtest.StreamOptions}},
	"no max_tokens":             {without: []llmtest.Feature{llmtest.MaxTokens, llmtest.Temperature}},
}

// dress makes a reply what the profile's model makes of it.
func (p profile) dress(text string, structured bool) llmtest.Step {
	if structured && p.fence {
		text = "Sure, here it is:\n```json\n" + strings.ReplaceAll(text, `"`, "'") + "\n```\nAnything else?"
	}
	step := llmtest.JSON(p.think[0] + p.think[1] + text)
	if p.thinking != "" {
		step = step.Thinking(p.thinking, "Which one ", "[7]?")
	}
	return step
}

// TestProfilesOfModels has models of each kind answer a follow-up, with all of their roles.
func TestProfilesOfModels(t *testing.T) {
	f := open(t)
	for name, p := range profiles {
		t.Run(name, func(t *testing.T) {
			server := llmtest.New(t)
			server.Without(p.without...)
			server.On(llmtest.System("You prepare questions"), p.dress(`{"question":"How many days of leave do I get?","intent":"lookup","searches":["days of leave"],"relation":"one","keywords":[],"unclear":"","choices":[]}`, true))
			server.On(llmtest.System("You check statements"), llmtest.By(func(r llmtest.Request) llmtest.Step {
				_, before, _ := strings.Cut(r.User(), "<statement n=\"1\"")
				first, second := "full", "none"
				if statement, _, _ := strings.Cut(before, "</statement>"); strings.Contains(statement, "Quellmar") {
					first, second = second, first
				}
				return p.dress(`{"verdicts":[{"statement":1,"support":"`+first+`"},{"statement":2,"support":"`+second+`"}]}`, true)
			}))
			server.On(isAnswer, llmtest.By(func(r llmtest.Request) llmtest.Step {
				return p.dress("You have 28 days of leave a year ["+numberOf(r, "Leave › Days of leave")+"].", false)
			}))
			zero := 0.0
			model := modelOf(t, server, func(o *openai.Options) {
				o.Model, o.Temperature = "m", &zero
				if p.options != nil {
					p.options(o)
				}
			})
			flow := f.with(t, answer.Options{Models: answer.Models{Understand: model, Answer: model, Verify: model}})
			var streamed strings.Builder
			got, err := flow.Start(t.Context(), flows.Request{
				Run: "r", Text: "and how many days of it?", Depth: flows.Comprehensive,
				History: []flows.Turn{{Role: flows.User, Text: "what about leave?"}, {Role: flows.Assistant, Text: "Ask your lead [1]."}},
			}, flows.Runtime{Observe: func(event graph.Event) {
				if event.Kind == graph.Token {
					streamed.WriteString(event.Text)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			const want = "You have 28 days of leave a year [1]."
			if got.Text != want || strings.TrimSpace(streamed.String()) != want || got.Note != "" {
				t.Errorf("%s: %q (%s), streamed %q; %+v", got.Kind, got.Text, got.Note, streamed.String(), got.Trace.Models)
			}
			checkRequests(t, server, model)
		})
	}
}

// checkRequests holds what was sent against the model's room.
func checkRequests(t *testing.T, server *llmtest.Server, model llm.Model) {
	t.Helper()
	for _, sent := range server.Requests() {
		if tokens := model.Tokens(sent.Text()); tokens+sent.MaxReply > model.Limits().Context || sent.MaxReply == 0 || len(sent.Tools) > 0 {
			t.Errorf("a prompt of %d tokens, a reply of up to %d, tools %q", tokens, sent.MaxReply, sent.Tools)
		}
	}
}
