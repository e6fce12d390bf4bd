package operations_test

import (
	"context"
	"testing"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/agent/reports"
)

func TestAgentsOfAllProcessesAreShown(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		p.contains(p.sees("/operations/agents"), "No process reports.")
		for _, report := range []reports.Report{
			{Process: "host-1", At: day, Agents: []reports.Agent{{Name: "HybridSearch", State: agent.StateBusy, Running: 2, Completed: 31}}},
			{Process: "host-2", At: day, Agents: []reports.Agent{{Name: "HybridSearch", State: agent.StateStuck, Problem: "<b>1 of 5</b> slots are held"}}},
		} {
			if err := s.agents.Save(t.Context(), report); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.agents.Remove(context.WithoutCancel(t.Context()), report.Process); err != nil {
					t.Error(err)
				}
			})
		}
		p.contains(p.sees("/operations/agents"), "host-1", "HybridSearch", `<span class="status running">busy</span>`, ">31<",
			"host-2", `<span class="status failed">stuck</span>`, "&lt;b&gt;1 of 5&lt;/b&gt; slots are held", "2 hours ago")
	})
}
