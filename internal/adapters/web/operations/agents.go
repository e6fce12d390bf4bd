package operations

import (
	"context"
	"net/url"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// agentsView is what the agents' screen shows.
type agentsView struct{ Processes []processView }

// processView is a process with its agents.
type processView struct {
	Name   string
	At     momentView // of its report
	Agents []agentView
}

// agentView is how an agent was when its process reported.
type agentView struct {
	Name, State, Status string // Status is a class: done, failed, running or none
	Running, Waiting    int
	Completed, Failed   int
	Problem             string
}

// agentStatus gives the class of a state.
var agentStatus = map[agent.State]string{
	agent.StateIdle: "done", agent.StateBusy: "running", agent.StateStuck: "failed", agent.StateDown: "failed",
}

// viewAgents makes what lists the agents of all processes; moment says when a time was.
func viewAgents(agents Agents, moment func(time.Time) momentView) func(context.Context, url.Values) (any, error) {
	return func(ctx context.Context, _ url.Values) (any, error) {
		listed, err := agents.List(ctx)
		if err != nil {
			return nil, err
		}
		var v agentsView
		for _, report := range listed {
			shown := processView{Name: markup.CleanLine(report.Process), At: moment(report.At)}
			for _, a := range report.Agents {
				shown.Agents = append(shown.Agents, newAgentView(a))
			}
			v.Processes = append(v.Processes, shown)
		}
		return v, nil
	}
}

func newAgentView(a reports.Agent) agentView {
	return agentView{
		Name: markup.CleanLine(string(a.Name)), State: markup.CleanLine(string(a.State)), Status: agentStatus[a.State],
		Running: a.Running, Waiting: a.Waiting, Completed: a.Completed, Failed: a.Failed, Problem: markup.CleanLine(a.Problem),
	}
}
