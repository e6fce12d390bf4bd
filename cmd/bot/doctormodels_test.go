package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
)

// playedProfile is a scripted model that the doctor plays its questions through.
type playedProfile struct {
	without []llmtest.Feature
	answer  func(llmtest.Request) llmtest.Step
	read    func(llmtest.Request) llmtest.Step
	judge   func(llmtest.Request) llmtest.Step
}

// goodAnswer cites, gives steps, and says so where the sources hold no answer.
func goodAnswer(r llmtest.Request) llmtest.Step {
	switch {
	case strings.Contains(r.User(), "table tennis"):
		return llmtest.Text("NOT_IN_", "SOURCES")
	case strings.Contains(r.User(), "step by step"):
		return llmtest.Text("1. Create ", "the app [1].\n", "2. Install it [1].")
	}
	return llmtest.Text("It is ", "as the source ", "says [1].")
}

// goodJudgement says "full" of every statement but the one that no source has.
func goodJudgement(r llmtest.Request) llmtest.Step {
	var told []string
	for i, statement := range statementTag.FindAllString(r.User(), -1) {
		support := "full"
		if strings.Contains(statement, "Quellmar") {
			support = "none"
		}
		told = append(told, fmt.Sprintf(`{"statement":%d,"support":%q}`, i+1, support))
	}
	return llmtest.JSON(`{"verdicts":[` + strings.Join(told, ",") + `]}`)
}

// TestTheDoctorPlaysQuestions has a good model, a bad one, and one that is good in part: it
// thinks aloud, writes nearly JSON, supports anything and has no JSON modes.
func TestTheDoctorPlaysQuestions(t *testing.T) {
	prose := func(llmtest.Request) llmtest.Step { return llmtest.Text("I would say so.") }
	profiles := map[string]struct {
		playedProfile
		want []string
	}{
		"good": {
			playedProfile{answer: goodAnswer, read: understood, judge: goodJudgement},
			[]string{
				"✓ model m, replies: a reply to each of", "✓ model m, citations: 4 of 4 answers name their sources", "✓ model m, form: as asked for",
				"✓ model m, streaming:", "✓ model m, structures: valid", "✓ model m, speed: first token after", "✓ model m, cost:", "at the configured prices", "temperature: 0 makes",
			},
		},
		"bad": {
			playedProfile{without: []llmtest.Feature{llmtest.Streaming}, answer: prose, read: prose, judge: prose},
			[]string{
				"! model m, citations: 0 of 5 answers name their sources", "! model m, form: steps are no numbered list; it answers what the documents don't tell",
				"! model m, streaming: replies come whole", "! model m, structures:", "can't be read as the JSON", "→ give the roles understand and verify to a model that keeps to JSON",
			},
		},
		"half-good": {
			playedProfile{
				without: []llmtest.Feature{llmtest.JSONSchema, llmtest.JSONObject},
				answer: func(llmtest.Request) llmtest.Step {
					return llmtest.Text("<think>", "Hm [9].", "</think>", "1. Do ", "it【1】.").Finish("length")
				},
				read: func(llmtest.Request) llmtest.Step {
					return llmtest.JSON("Sure:\n```json\n{'question': 'What is it?', 'intent': 'lookup', 'searches': [], 'relation': 'one', 'keywords': [], 'unclear': '', 'choices': [],}\n```")
				},
				judge: func(r llmtest.Request) llmtest.Step {
					var told []string
					for i := range statementTag.FindAllString(r.User(), -1) {
						told = append(told, fmt.Sprintf(`{'statement': %d, 'support': 'full'}`, i+1))
					}
					return llmtest.JSON(`{'verdicts': [` + strings.Join(told, ",") + `]}`)
				},
			},
			[]string{
				"! model m, replies: to 5 of", "→ raise max_reply (now 3000)", "✓ model m, citations: 5 of 5", "! model m, form: it answers what the documents don't tell",
				"✓ model m, streaming:", "✓ model m, structures: valid; ", "! model m, judgement: it takes for supported what no source has",
			},
		},
	}
	for name, of := range profiles {
		t.Run(name, func(t *testing.T) {
			server := llmtest.New(t)
			server.Without(of.without...)
			server.On(llmtest.System("You prepare questions"), llmtest.By(of.read))
			server.On(llmtest.System("You look for what answers"), llmtest.JSON(`{"enough":true,"search":""}`))
			server.On(llmtest.System("You check statements"), llmtest.By(of.judge))
			server.On(llmtest.System("You answer a team's questions"), llmtest.By(of.answer))
			model := config.Model{
				Roles: []config.Role{config.RoleUnderstand, config.RoleAnswer, config.RoleVerify}, Name: "m", BaseURL: server.URL,
				Key: config.Key{Secret: llm.NewSecret(llmtest.Key)}, Context: 16384, MaxReply: 3000,
				Timeout: time.Minute, FirstTokenTimeout: time.Minute, StallTimeout: time.Minute, PricePrompt: 1, PriceCompletion: 1,
			}
			configured, err := config.Load("")
			if err != nil {
				t.Fatal(err)
			}
			configured.Models = []config.Model{model}
			nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer nowhere.Close()
			var said strings.Builder
			if err := printFindings(&said, playModels(t.Context(), configured, stdio{Out: nowhere, Err: nowhere})); err != nil {
				t.Fatal(err)
			}
			for _, want := range of.want {
				if !strings.Contains(said.String(), want) {
					t.Errorf("%q is not in\n%s", want, said.String())
				}
			}
		})
	}
}
