package bot

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
)

//go:embed reply.tmpl reply.json
var promptFiles embed.FS

var (
	replyPrompt = template.Must(template.ParseFS(promptFiles, "reply.tmpl"))
	replySchema = prompt.Schema(promptFiles, "reply")
)

const (
	// classifiedTurns is how many turns of the thread the model is shown.
	classifiedTurns = 4
	// maxClassifiedTurn is how many letters of a turn it is shown, and maxClassifiedReply of the reply itself.
	maxClassifiedTurn  = 300
	maxClassifiedReply = 600
	// maxVerdictTokens bounds what it answers.
	maxVerdictTokens = 32
)

// Classifier tells by a language model whom a message in a thread is meant for, where the rules of
// package interact don't know. Its zero value is of no use: see NewClassifier.
type Classifier struct{ model llm.Model }

var _ interact.Classifier = (*Classifier)(nil)

// NewClassifier makes a classifier that asks a model.
func NewClassifier(model llm.Model) *Classifier { return &Classifier{model: model} }

// IsForBot implements interact.Classifier.
func (c *Classifier) IsForBot(ctx context.Context, thread []chat.Turn, text string) (bool, error) {
	question, err := writeClassifyPrompt(thread, text)
	if err != nil {
		return false, err
	}
	reply, err := c.model.Chat(ctx, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: question}}, MaxReply: maxVerdictTokens, Schema: &replySchema,
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

// classifiedReply is what the prompt shows.
type classifiedReply struct {
	Before []string // the last turns of the thread
	Text   string
}

func writeClassifyPrompt(thread []chat.Turn, text string) (string, error) {
	shown := classifiedReply{Text: quoteText(text, maxClassifiedReply)}
	for _, turn := range thread[max(0, len(thread)-classifiedTurns):] {
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
		return "Cairn: " + quoteText(turn.Reply.Text, maxClassifiedTurn)
	case turn.Question != nil:
		return "Cairn: " + quoteText(turn.Question.Text, maxClassifiedTurn)
	}
	return "Person: " + quoteText(turn.Text, maxClassifiedTurn)
}

// angles keeps text from closing the tags that it stands between.
var angles = strings.NewReplacer("<", "‹", ">", "›")

func quoteText(text string, letters int) string { return render.Cut(angles.Replace(text), letters) }
