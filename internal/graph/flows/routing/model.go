package routing

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
	"github.com/cairn-bot/cairn/internal/shorten"
)

const (
	// modelTimeout is how long a model may take to choose a flow.
	modelTimeout = 5 * time.Second
	// maxShown is how much of a message the model is shown, in letters.
	maxShown = 2000
	maxReply = 200 // tokens
)

//go:embed route.tmpl
var files embed.FS

// routePrompt shows the model a message, as a JSON string.
var routePrompt = prompt.Template(files, "route", nil)

// byModel lets the model decide between the offered flows. Where it fails, the first flow has
// the message.
func (r *Router) byModel(ctx context.Context, m flows.Message, offered []string) (flows.Choice, error) {
	flow, err := r.askModel(ctx, m.Text, offered)
	if err != nil && ctx.Err() != nil {
		return flows.Choice{}, fmt.Errorf("route a message: %w", context.Cause(ctx))
	}
	if err != nil {
		return r.choiceOf(r.options.First, m.Text, ByModel, "the rules are unsure, and the model failed"), nil //nolint:nilerr // the first flow does
	}
	return r.choiceOf(flow, m.Text, ByModel, "the rules are unsure, and the model says so"), nil
}

func (r *Router) askModel(ctx context.Context, text string, offered []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	quoted, err := json.Marshal(shorten.Head(text, maxShown))
	if err != nil {
		return "", fmt.Errorf("show the message to the model: %w", err)
	}
	messages, err := prompt.Messages(routePrompt, string(quoted))
	if err != nil {
		return "", err
	}
	schema, err := flowSchema(offered)
	if err != nil {
		return "", err
	}
	reply, err := r.options.Model.Chat(ctx, llm.Request{Messages: messages, Schema: &schema, MaxReply: maxReply}, nil)
	if err != nil {
		return "", err
	}
	var chosen struct {
		Flow string `json:"flow"`
	}
	if err := json.Unmarshal([]byte(reply.Text), &chosen); err != nil {
		return "", fmt.Errorf("read the model's choice: %w", err)
	}
	if flow := strings.ToLower(chosen.Flow); slices.Contains(offered, flow) {
		return flow, nil
	}
	return "", fmt.Errorf("the model chose %q, which was not offered", chosen.Flow)
}

// flowSchema is the schema of a reply that names one of the offered flows.
func flowSchema(offered []string) (llm.Schema, error) {
	text, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"flow"}, "additionalProperties": false,
		"properties": map[string]any{"flow": map[string]any{"type": "string", "enum": offered}},
	})
	if err != nil {
		return llm.Schema{}, fmt.Errorf("offer flows to the model: %w", err)
	}
	return llm.Schema{Name: "flow", JSON: text}, nil
}
