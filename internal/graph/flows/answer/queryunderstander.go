package answer

import (
	"context"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/llm"
)

// queryUnderstander is the agent that finds out what a question means, and what to search for
// after what was found.
type queryUnderstander struct {
	index   index.Reader
	speller index.Speller  // nil where the index can't spell
	words   embed.WordList // nil where no common words are known
	model   llm.Model      // nil: it reads by rules
}

func (q *queryUnderstander) agent(limits timeouts) agent.Agent {
	return agent.Agent{Name: nameUnderstander, Timeout: limits.understand, Handlers: []agent.Handler{agent.On(q.handle)}}
}

func (q *queryUnderstander) handle(ctx context.Context, _ *agent.Task, request analysisRequest) (understanding, error) {
	switch {
	case request.Found != nil && q.model == nil:
		return q.nextByRules(ctx, request)
	case request.Found != nil:
		return q.nextByModel(ctx, request)
	case request.ByModel:
		return q.readByModel(ctx, request)
	}
	return q.readByRules(ctx, request)
}
