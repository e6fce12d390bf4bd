package discord

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// seen tells messages as they are sent.
func seen(t *testing.T, shown rendered) string {
	t.Helper()
	var out strings.Builder
	for i := range shown.notes {
		made, files := shown.buildMessage(mark{key: "KEY000000000000000000001", index: i, of: len(shown.notes)}, false)
		raw, err := json.MarshalIndent(struct {
			Embeds     []embed     `json:"embeds"`
			Components []component `json:"components"`
			Mentions   mentions    `json:"allowed_mentions"`
		}{made.Embeds, made.Components, made.Mentions}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "== message %d ==\n%s\n%s\n", i+1, made.Content, raw)
		for _, file := range files {
			fmt.Fprintf(&out, "with %s of %d bytes\n", file.name, len(file.content))
		}
	}
	return out.String()
}

func manySources() chat.Reply {
	reply := chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "Much was found [1]."}
	group := chat.SourceGroup{Category: "Documentation"}
	for i := range 14 {
		group.Sources = append(group.Sources, chat.Source{Numbers: []int{i + 1}, Title: fmt.Sprintf("Page %d", i+1), Path: "docs", State: "live"})
	}
	reply.Sources = []chat.SourceGroup{group}
	return reply
}

func TestRendering(t *testing.T) {
	how := look{human: true, hears: true}
	reply := func(r chat.Reply) chat.Post { return chat.Post{Reply: &r} }
	question := chattest.Question()
	question.Asker = "42"
	meant := question
	meant.Meant = "You meant: the API"
	many := question
	many.Choices = nil
	for i := range 8 {
		many.Choices = append(many.Choices, chat.Choice{ID: fmt.Sprint(i), Label: fmt.Sprintf("Choice %d", i+1), Detail: "docs/deploy.md"})
	}
	for name, test := range map[string]struct {
		post chat.Post
		how  look
	}{
		"answer":             {reply(chattest.Answer()), how},
		"answer-private":     {reply(chattest.Answer()), look{private: true, single: true}},
		"answer-unheard":     {reply(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "Yes."}), look{goOn: "To go on, mention me or reply to this message."}},
		"abstained":          {reply(chattest.Abstained()), how},
		"failed":             {reply(chattest.Failed()), how},
		"folded":             {reply(manySources()), how},
		"hostile":            {reply(func() chat.Reply { r := chattest.Hostile(); r.Run = "run-1"; return r }()), how},
		"worldly":            {reply(chattest.Worldly()), how},
		"notice":             {reply(chat.Reply{Outcome: chat.Noticed, Text: "The question above still waits."}), how},
		"question":           {chat.Post{Question: &question}, how},
		"question-unheard":   {chat.Post{Question: &question}, look{}},
		"question-many":      {chat.Post{Question: &many}, how},
		"question-answered":  {chat.Post{Question: &question, Answer: "api", AnsweredBy: "42"}, how},
		"question-meant":     {chat.Post{Question: &meant, Answer: "api", AnsweredBy: "42"}, how},
		"question-worded":    {chat.Post{Question: &question, Answer: "the *web* shop", AnsweredBy: "42"}, how},
		"question-cancelled": {chat.Post{Question: &question, Answer: "cancelled", AnsweredBy: "42"}, how},
		"question-expired":   {chat.Post{Question: &question, Answer: "expired"}, how},
	} {
		t.Run(name, func(t *testing.T) {
			shown, err := renderPost(test.post, test.how)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkShown(shown); err != nil {
				t.Error(err)
			}
			golden(t, "render-"+name, seen(t, shown))
		})
	}
}

func TestWhatCannotBeRendered(t *testing.T) {
	hostile := chattest.HostileQuestion()
	for name, post := range map[string]chat.Post{
		"nothing": {}, "both": {Reply: &chat.Reply{}, Question: &chat.Question{}}, "ids that don't fit": {Question: &hostile},
	} {
		if shown, err := renderPost(post, look{}); err == nil {
			t.Errorf("%s is shown as %+v", name, shown)
		}
	}
}

// TestALongFenceIsNeverCut has code before, at and behind the limits.
func TestALongFenceIsNeverCut(t *testing.T) {
	for lines := 1; lines < 260; lines += 7 {
		text := "Before.\n\n```go\n" + strings.Repeat("code := 1\n", lines) + "```\n\n- an item " + strings.Repeat("word ", lines) + "\n\n[a link](https://a.example/x)\n"
		if err := check(text, "x"); err != nil {
			t.Errorf("%d lines: %v", lines, err)
		}
	}
}
