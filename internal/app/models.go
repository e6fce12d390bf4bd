package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/rerank"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	remote "github.com/cairn-bot/cairn/internal/knowledge/embed/openai"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/openai"
	"github.com/cairn-bot/cairn/internal/telemetry"
)

// ModelOptions says how a configured model is reached; gates is what stands in front.
func ModelOptions(m config.Model, gates gate.Options, logger *slog.Logger) openai.Options {
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

// Models are the configured models of conversation by role, nil where there is none.
type Models struct {
	answer.Models
	Budget *gate.Budget // of all of them together
}

// NewModels makes the configured models.
func NewModels(setup Setup) (Models, error) {
	models := Models{Budget: gate.NewBudget(gate.Allowance(setup.Config.Budget))}
	for _, m := range setup.Config.Models {
		if m.Has(config.RoleEmbed) {
			continue
		}
		model, err := openai.New(ModelOptions(m, gate.Options{Budget: models.Budget}, setup.Logger))
		if err != nil {
			return Models{}, err
		}
		for _, role := range m.Roles {
			measured := setup.Telemetry.Model(model, calledModel(m, role))
			switch role {
			case config.RoleUnderstand:
				models.Understand = measured
			case config.RoleAnswer:
				models.Answer = measured
			case config.RoleVerify:
				models.Verify = measured
			}
		}
	}
	return models, nil
}

// calledModel is how a configured model shows in a role.
func calledModel(m config.Model, role config.Role) telemetry.Called {
	as := telemetry.Called{Role: string(role), Name: m.Name, Provider: "openai"}
	if m.AzureDeployment != "" {
		as.Provider = "azure.ai.openai"
	}
	return as
}

// Tuning changes and watches how answers are made, for those who measure that. Its fields are as
// in answer.Options.
type Tuning struct {
	Judgement *answer.Judgement
	Quoting   func(answer.Quotable)
	Ordering  func(run string, question rerank.Question, evidence []retrieve.Evidence)
}

// NewAnswers makes the flow that answers, and starts its agents: see CloseAnswers.
func NewAnswers(l *Library, models answer.Models, tuning Tuning) (*answer.Flow, error) {
	configured := l.Config.Answer
	return answer.New(answer.Options{
		Retriever: l.Retriever(), Models: models, Documents: configured.MaxSources, Collections: l.listSources,
		SidePages: &configured.SidePages, LinkHosts: configured.LinkHosts, Log: l.Logger, OnRequest: l.Telemetry.Agents(),
		Live: l.live.search, Judgement: tuning.Judgement, Quoting: tuning.Quoting, Ordering: tuning.Ordering,
	})
}

// agentsEnd is how long a flow's agents have to stop.
const agentsEnd = 5 * time.Second

// CloseAnswers stops a flow's agents, also when ctx has ended.
func CloseAnswers(ctx context.Context, flow *answer.Flow) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), agentsEnd)
	defer cancel()
	if err := flow.Close(ctx); err != nil {
		return fmt.Errorf("stop the agents of flow %s: %w", flow.Name(), err)
	}
	return nil
}

// openEmbedder returns the configured embedder, or the one that is built in. The budget is
// not for it: without its vectors there is no search, and nothing to quote.
func openEmbedder(ctx context.Context, setup Setup) (embed.Embedder, error) {
	m, ok := setup.Config.Model(config.RoleEmbed)
	if !ok {
		return local.Load()
	}
	server, err := openai.NewEmbedder(ModelOptions(m, gate.Options{}, setup.Logger))
	if err != nil {
		return nil, err
	}
	measured := setup.Telemetry.Embedder(server, calledModel(m, config.RoleEmbed))
	return remote.Open(ctx, measured, remote.Options{Name: m.Name, Dimension: m.Dimensions, TextTokens: m.Context})
}
