package buildcontext_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/buildcontext"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

func TestACrashAtEverySavePoint(t *testing.T) {
	flow := newFlow(t, nil)
	outcome, steps := graphtest.Crashes(t, graphtest.Scenario[buildcontext.State]{
		Graph: flow.Graph, Initial: flow.Initial(flows.Request{Run: "run", Text: "./payments Payment service"}),
	})
	if outcome.Status != graph.Done || len(steps) != 2 || outcome.State.ContextOutputFileName != "payment-service_context.md" {
		t.Errorf("%s after %v, %s", outcome.Status, steps, outcome.State.ContextOutputFileName)
	}
}
