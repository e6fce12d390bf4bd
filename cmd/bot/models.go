package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"cairn/internal/config"
	"cairn/internal/graph/flows/answer"
	"cairn/internal/knowledge/embed"
	"cairn/internal/knowledge/embed/local"
	remote "cairn/internal/knowledge/embed/openai"
	"cairn/internal/llm"
	"cairn/internal/llm/gate"
	"cairn/internal/llm/openai"
	"cairn/internal/telemetry"
)

// modelOptions says how a configured model is reached; gates is what stands in front.
func modelOptions(m config.Model, gates gate.Options, logger *slog.Logger) openai.Options {
	gates.RequestsPerMinute, gates.TokensPerMinute = m.RequestsPerMinute, m.TokensPerMinute
	gates.Retries = m.Retries
	if m.Retries == 0 {
		gates.Retries = -1
	}
	options := openai.Options{
		BaseURL: m.BaseURL, Key: m.Key.Secret, Model: m.Name,
		Context: m.Context, MaxReply: m.MaxReply, Temperature: m.Temperature, Dimensions: m.Dimensions,
		RequestTimeout: m.Timeout, FirstToken: m.FirstTokenTimeout, Stall: m.StallTimeout,
		Prices: openai.Prices{Prompt: m.PricePrompt, Completion: m.PriceCompletion},
		Gate:   gates, Logger: logger,
	}
	if m.Has(config.RoleEmbed) {
		options.Context = 0 // which is of conversations; see openEmbedder
	}
	if m.AzureDeployment != "" {
		options.Azure = &openai.Azure{Deployment: m.AzureDeployment, APIVersion: m.AzureAPIVersion}
	}
	return options
}

// spending is what all models of the program may use together.
func (a *app) spending() *gate.Budget {
	if a.budget == nil {
		a.budget = gate.NewBudget(gate.Allowance(a.config.Budget))
	}
	return a.budget
}

// models are the configured models of conversation by role, which share one budget; nil
// where there is none. They are made once.
func (a *app) models() (answer.Models, error) {
	if a.made != nil {
		return *a.made, nil
	}
	var models answer.Models
	for _, m := range a.config.Models {
		if m.Has(config.RoleEmbed) {
			continue
		}
		model, err := openai.New(modelOptions(m, gate.Options{Budget: a.spending()}, a.logger))
		if err != nil {
			return answer.Models{}, err
		}
		for _, role := range m.Roles {
			switch role {
			case config.RoleUnderstand:
				models.Understand = a.telemetry.Model(model, called(m, role))
			case config.RoleAnswer:
				models.Answer = a.telemetry.Model(model, called(m, role))
			case config.RoleVerify:
				models.Verify = a.telemetry.Model(model, called(m, role))
			}
		}
	}
	a.made = &models
	return models, nil
}

// answers makes the flow that answers.
func (a *app) answers() (*answer.Flow, error) {
	models, err := a.models()
	if err != nil {
		return nil, err
	}
	return answer.New(answer.Options{
		Retriever: a.retriever(), Models: models, Documents: a.config.Answer.MaxSources, Collections: a.sources,
		SidePages: &a.config.Answer.SidePages, Judgement: a.judgement, Quoting: a.quoting, Ordering: a.ordering, LinkHosts: a.config.Answer.LinkHosts, Log: a.logger, OnRequest: a.telemetry.Agents(),
	})
}

// flowEnd is how long a flow's agents have to stop.
const flowEnd = 5 * time.Second

// closeFlow stops a flow's agents, also when what it worked for is over.
func closeFlow(ctx context.Context, flow *answer.Flow) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flowEnd)
	defer cancel()
	if err := flow.Close(ctx); err != nil {
		return fmt.Errorf("stop the agents of flow %s: %w", flow.Name(), err)
	}
	return nil
}

// openEmbedder gives the configured embedder, or the one that is built in. The budget is
// not for it: without its vectors there is no search, and nothing to quote.
func openEmbedder(ctx context.Context, configured config.Config, logger *slog.Logger, measured *telemetry.Telemetry) (embed.Embedder, error) {
	m, ok := configured.Model(config.RoleEmbed)
	if !ok {
		return local.Load()
	}
	server, err := openai.NewEmbedder(modelOptions(m, gate.Options{}, logger))
	if err != nil {
		return nil, err
	}
	return remote.Open(ctx, measured.Embedder(server, called(m, config.RoleEmbed)), remote.Options{Name: m.Name, Dimension: m.Dimensions, TextTokens: m.Context})
}

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
	options := modelOptions(m, gate.Options{}, nil)
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
