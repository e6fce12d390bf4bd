package answer

import (
	"context"

	"github.com/cairn-bot/cairn/internal/agent"
)

// sourceLinking is the agent that links and groups the sources of an answer.
type sourceLinking struct{}

func (l sourceLinking) agent() agent.Agent {
	return agent.Agent{Name: nameLinking, Handlers: []agent.Handler{agent.On(l.link)}}
}

func (sourceLinking) link(_ context.Context, _ *agent.Task, request linkRequest) (linkResponse, error) {
	linked := link(request.Evidence, request.Cited)
	return linkResponse{Sources: linked, Groups: group(request.Evidence, linked)}, nil
}
