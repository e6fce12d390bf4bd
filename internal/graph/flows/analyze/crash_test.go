package analyze_test

import (
	"fmt"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/analyze"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

// TestACrashAtEverySavePoint kills the process at every checkpoint of a loop with two
// rounds of feedback, and of runs that are stopped and refused.
func TestACrashAtEverySavePoint(t *testing.T) {
	flow, err := analyze.New(analyze.Options{Reader: document.NewReader(document.Options{Roots: []string{documents}})})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text    string
		replies []graph.Answer
		steps   int
		check   func(analyze.State) bool
	}{
		"approved": {
			"./payments what are the risks?",
			[]graph.Answer{{Text: "only refunds"}, {Choice: "revise"}, {Choice: "revise", Text: "add people"}, {Text: "ship it"}}, 10,
			func(s analyze.State) bool {
				return s.AnalysisOutput != "" && len(s.Inputs) == 3 && len(s.AnalysisHistory) == 7
			},
		},
		"stopped": {"./payments", []graph.Answer{{Choice: "stop"}}, 4, func(s analyze.State) bool { return s.Stopped && s.AnalysisOutput == "" }},
		"refused": {"./nothere", nil, 1, func(s analyze.State) bool { return s.Failure != "" }},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(map[string]graph.Answer)
			outcome, steps := graphtest.Crashes(t, graphtest.Scenario[analyze.State]{
				Graph:   flow.Graph,
				Initial: flow.Initial(flows.Request{Run: "run", Text: test.text}),
				Answer: func(q graph.Question) graph.Answer {
					if answer, known := asked[q.ID]; known {
						return answer
					}
					answer := test.replies[len(asked)]
					asked[q.ID] = answer
					return answer
				},
			})
			sum := 0
			for _, n := range steps {
				sum += n
			}
			if outcome.Status != graph.Done || sum != test.steps || !test.check(outcome.State) {
				t.Errorf("%s after %v: %s", outcome.Status, steps, fmt.Sprint(outcome.State.AnalysisHistory))
			}
		})
	}
}
