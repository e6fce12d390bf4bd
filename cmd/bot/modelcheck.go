package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// whoAnswers says, in a line, what makes the answers.
func whoAnswers(configured config.Config) string {
	m, ok := configured.Model(config.RoleAnswer)
	if !ok {
		return "No language model is configured: answers are quotes from the documents."
	}
	return fmt.Sprintf("Answers are written by the language model %s at %s.", printable(m.Name), server(m))
}

// server is where a model is, for people.
func server(m config.Model) string {
	if m.BaseURL == "" {
		return "api.openai.com"
	}
	return printable(m.BaseURL)
}

// checkTime bounds the request by which a model is checked.
const checkTime = 10 * time.Second

// checked is what came of a request to a configured model.
type checked struct {
	model config.Model
	got   string
	took  time.Duration
	err   error
}

// checkModels sends one small request to each configured model, all at the same time.
func checkModels(ctx context.Context, configured []config.Model) []checked {
	results := make([]checked, len(configured))
	var asked sync.WaitGroup
	for i, m := range configured {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTime)
			defer cancel()
			began := time.Now()
			got, err := checkModel(ctx, m)
			results[i] = checked{m, got, time.Since(began), err}
		})
	}
	asked.Wait()
	return results
}

// checkModel sends one request, and no second one, and says what came back.
func checkModel(ctx context.Context, m config.Model) (string, error) {
	m.Retries = 0
	options := app.ModelOptions(m, gate.Options{}, nil)
	if m.Has(config.RoleEmbed) {
		embedder, err := openai.NewEmbedder(options)
		if err != nil {
			return "", err
		}
		vectors, usage, err := embedder.Embed(ctx, []string{"Is anybody there?"})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("a vector of %d components for %s", len(vectors[0]), count(usage.Prompt, "token")), nil
	}
	model, err := openai.New(options)
	if err != nil {
		return "", err
	}
	reply, err := model.Chat(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Reply with one word: ready"}}}, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s for %s", count(reply.Usage.Completion, "token"), count(reply.Usage.Prompt, "token")), nil
}

// String is the line that tells it.
func (c checked) String() string {
	roles := make([]string, len(c.model.Roles))
	for i, role := range c.model.Roles {
		roles[i] = string(role)
	}
	result := "replied with " + c.got
	if c.err != nil {
		result = "FAILED: " + printable(c.err.Error())
	}
	return fmt.Sprintf("%s: %s at %s: %s (%s)", strings.Join(roles, ", "), printable(c.model.Name), server(c.model),
		result, c.took.Round(time.Millisecond))
}
