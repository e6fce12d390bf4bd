package answer

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/guard"
)

// answerGeneration is the agent that drafts answers from evidence, and judges whether passages
// support statements.
type answerGeneration struct {
	writer    llm.Model // nil: it quotes
	verifier  llm.Model // nil: it judges by words
	quotes    *quoter
	linkHosts map[string]bool // that answers may link to beside the documents
	now       func() time.Time
}

func (g *answerGeneration) agent(limits timeouts) agent.Agent {
	return agent.Agent{Name: nameGeneration, Timeout: limits.write, Handlers: []agent.Handler{agent.On(g.draft), agent.On(g.handleClaims)}}
}

// draft has the model write where there is one; where it can't, or there is none, sentences
// are quoted.
func (g *answerGeneration) draft(ctx context.Context, task *agent.Task, request draftRequest) (draftResponse, error) {
	s := request.State
	out := guard.NewStream(newGuard(s, g.linkHosts), func(text string) { task.Progress(piece{Text: text}) })
	if g.writer == nil || len(s.SearchResults) == 0 {
		made := g.quotes.extract(s)
		text, _ := composeQuotes(s, made.Draft)
		out.Write(text)
		out.Close()
		return made, nil
	}
	return g.write(ctx, request, out)
}
