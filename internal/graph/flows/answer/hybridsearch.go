package answer

import (
	"context"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// hybridSearch is the agent that searches by words and by meaning.
type hybridSearch struct {
	retriever *retrieve.Retriever
	sidePages float64 // what pages count that tell how things were or may be, 0 to 1
}

func (h *hybridSearch) agent() agent.Agent {
	return agent.Agent{
		Name: nameSearch, Concurrency: searchConcurrency, Timeout: searchTimeout, Handlers: []agent.Handler{agent.On(h.search)},
	}
}

func (h *hybridSearch) search(ctx context.Context, _ *agent.Task, request searchRequest) (searchResponse, error) {
	q := request.Query
	q.Limit = searched
	result, err := h.retriever.Search(ctx, q)
	if err != nil {
		return searchResponse{}, err
	}
	evidence := preferLanguage(q.Text, weighPages(result.Evidence, q.Text, h.sidePages))
	return searchResponse{Evidence: evidence, ByWords: result.Unembedded != nil, Made: flows.Query{
		Text: q.Text, Used: result.Used, Pruned: result.Pruned,
		Lexical: result.Lexical, Dense: result.Dense, Took: result.Took,
	}}, nil
}
