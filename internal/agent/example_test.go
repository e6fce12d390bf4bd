package agent_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

// An agent streams an answer in words; another is asked that does not exist.
func Example() {
	ctx := context.Background()
	bus := agent.New(agent.Options{})
	err := bus.Register(agent.Agent{
		Name: "search", Concurrency: 5, Timeout: 60 * time.Second,
		Handlers: []agent.Handler{agent.On(
			func(_ context.Context, task *agent.Task, q question) (found, error) {
				for _, w := range q.Words {
					task.Progress(word(w))
				}
				return found{Text: "about " + q.Text}, nil
			})},
	})
	if err != nil {
		fmt.Println(err)
	}
	reply, err := agent.Call[found](ctx, bus, agent.Request{
		From: "orchestrator", To: "search", Payload: question{Text: "ducks", Words: []string{"one", "two"}},
		Priority: agent.High, Timeout: 10 * time.Second, Retries: 1,
		OnProgress: func(update agent.Payload) { fmt.Println(update) },
	})
	fmt.Println(reply.Text, err)

	_, err = agent.Call[found](ctx, bus, agent.Request{From: "orchestrator", To: "oracle", Payload: question{}})
	if failure, ok := errors.AsType[*agent.Error](err); ok {
		fmt.Println("without", failure.Agent, "because it is", failure.Kind)
	}
	fmt.Println(bus.Close(ctx))
	// Output:
	// one
	// two
	// about ducks <nil>
	// without oracle because it is unknown
	// <nil>
}
