// Package classify tells by a language model whom a message in a thread is meant for, where the
// rules of the package interact don't know.
package classify

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"cairn/internal/chat"
	"cairn/internal/chat/interact"
	"cairn/internal/chat/render"
	"cairn/internal/llm"
	"cairn/internal/llm/prompt"
)

//go:embed reply.tmpl reply.json
var files embed.FS

var (
	replyPrompt = template.Must(template.ParseFS(files, "reply.tmpl"))
	replySchema = prompt.Schema(files, "reply")
)

const (
	// shownTurns is how many turns of the thread the model is shown.
	shownTurns = 4
	// maxTurn is how many letters of a turn it is shown, and maxReply of the reply itself.
	maxTurn  = 300
	maxReply = 600
	// maxTokens bounds what it answers.
	maxTokens = 32
)

// Classifier asks a model. Its zero value is of no use: see New.
type Classifier struct{ model llm.Model }

var _ interact.Classifier = (*Classifier)(nil)

// New makes a classifier that asks a model.
func New(model llm.Model) *Classifier { return &Classifier{model: model} }

// IsForBot implements interact.Classifier.
func (c *Classifier) IsForBot(ctx context.Context, thread []chat.Turn, text string) (bool, error) {
	question, err := writePrompt(thread, text)
	if err != nil {
		return false, err
	}
	reply, err := c.model.Chat(ctx, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: question}}, MaxReply: maxTokens, Schema: &replySchema,
	}, nil)
	if err != nil {
		return false, fmt.Errorf("ask a model whom a reply is for: %w", err)
	}
	var verdict struct {
		ForCairn bool `json:"for_cairn"`
	}
	if err := json.Unmarshal([]byte(reply.Text), &verdict); err != nil {
		return false, fmt.Errorf("read whom a reply is for: %w", err)
	}
	return verdict.ForCairn, nil
}

// shownReply is what the prompt shows.
type shownReply struct {
	Before []string // the last turns of the thread
	Text   string
}

func writePrompt(thread []chat.Turn, text string) (string, error) {
	shown := shownReply{Text: quoteText(text, maxReply)}
	for _, turn := range thread[max(0, len(thread)-shownTurns):] {
		shown.Before = append(shown.Before, quoteTurn(turn))
	}
	var out strings.Builder
	if err := replyPrompt.Execute(&out, shown); err != nil {
		return "", fmt.Errorf("write what a model is asked about a reply: %w", err)
	}
	return out.String(), nil
}

func quoteTurn(turn chat.Turn) string {
	switch {
	case turn.Reply != nil:
		return "Cairn: " + quoteText(turn.Reply.Text, maxTurn)
	case turn.Question != nil:
		return "Cairn: " + quoteText(turn.Question.Text, maxTurn)
	}
	return "Person: " + quoteText(turn.Text, maxTurn)
}

// angles keeps text from closing the tags that it stands between.
var angles = strings.NewReplacer("<", "‹", ">", "›")

func quoteText(text string, letters int) string { return render.Cut(angles.Replace(text), letters) }
