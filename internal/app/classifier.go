package app

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"cairn/internal/chat/interact"
	"cairn/internal/llm"
)

//go:embed classify.tmpl
var overheardText string

//go:embed classify.json
var overheardSchema []byte

var overheardPrompt = template.Must(template.New("overheard").Parse(overheardText))

// untagged is text that can't close the tags that it stands between.
var untagged = strings.NewReplacer("<", "‹", ">", "›")

// maxOverheard is how many letters of a message the model is shown.
const maxOverheard = 600

// newSlackJudge asks a model whether a reply in a thread is meant for Cairn; nil where there is
// none.
func newSlackJudge(model llm.Model) func(context.Context, interact.Overheard) (bool, error) {
	if model == nil {
		return nil // the rules decide alone
	}
	return func(ctx context.Context, of interact.Overheard) (bool, error) { return judge(ctx, model, of) }
}

func judge(ctx context.Context, model llm.Model, of interact.Overheard) (bool, error) {
	prompt, err := overheard(of)
	if err != nil {
		return false, err
	}
	reply, err := model.Chat(ctx, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: prompt}}, MaxReply: 32,
		Schema: &llm.Schema{Name: "overheard", JSON: overheardSchema},
	}, nil)
	if err != nil {
		return false, fmt.Errorf("ask a model whom a reply is for: %w", err)
	}
	var told struct {
		ForCairn bool `json:"for_cairn"`
	}
	if err := json.Unmarshal([]byte(reply.Text), &told); err != nil {
		return false, fmt.Errorf("read whom a reply is for: %w", err)
	}
	return told.ForCairn, nil
}

// overheard is what the model is asked.
func overheard(of interact.Overheard) (string, error) {
	shown := interact.Overheard{Text: shortened(of.Text)}
	for _, said := range of.Before {
		shown.Before = append(shown.Before, shortened(said))
	}
	var out strings.Builder
	if err := overheardPrompt.Execute(&out, shown); err != nil {
		return "", fmt.Errorf("write what a model is asked about a reply: %w", err)
	}
	return out.String(), nil
}

func shortened(text string) string {
	letters := []rune(untagged.Replace(text))
	return string(letters[:min(len(letters), maxOverheard)])
}
