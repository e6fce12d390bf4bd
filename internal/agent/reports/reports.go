// Package reports is the contract of the store in which processes report how their agents
// are, for those who run Cairn: a process that answers questions saves a report from time to
// time, and whoever shows the state of Cairn lists those of all processes.
package reports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

const (
	// Interval is the time between two reports of a process.
	Interval = 10 * time.Second
	// Keep is how long a report is kept: a process that has not reported for so long is gone.
	Keep = 3 * Interval
)

// Report is how the agents of a process were at a time.
type Report struct {
	Process string // "host-4711"
	At      time.Time
	Agents  []Agent
}

// Agent is what is told of an agent.
type Agent struct {
	Name      agent.Name
	State     agent.State
	Running   int    // requests that it works at
	Waiting   int    // requests in its mailbox
	Completed int    // requests since the process started
	Failed    int    // requests since then that ended otherwise; cancelled ones do not count
	Problem   string // why it is stuck or down; "" otherwise
}

// IsUnwell reports whether an agent is stuck or down.
func (a Agent) IsUnwell() bool { return a.State == agent.StateStuck || a.State == agent.StateDown }

// Store keeps the last report of each process. It may be used concurrently.
type Store interface {
	// Save takes the place of the last report of its process.
	Save(ctx context.Context, report Report) error
	// List returns the reports of the last Keep, in the order of their processes.
	List(ctx context.Context) ([]Report, error)
	// Remove forgets a process that ends. One that has no report is no error.
	Remove(ctx context.Context, process string) error
}

// New makes a report of states.
func New(process string, at time.Time, states []agent.Status) Report {
	report := Report{Process: process, At: at}
	for _, status := range states {
		counts := status.Counts
		shown := Agent{
			Name: status.Name, State: status.State, Running: status.Running, Waiting: status.Waiting, Completed: counts.Completed,
			Failed: counts.Failed + counts.Panicked + counts.TimedOut + counts.Displaced + counts.Unserved,
		}
		if status.Problem != nil {
			shown.Problem = status.Problem.Error()
		}
		report.Agents = append(report.Agents, shown)
	}
	return report
}

// removeLimit is how long the removal of a report may take when the process ends.
const removeLimit = 2 * time.Second

// Run saves reports of a process until ctx ends, and then removes the last. What can't be saved
// is logged: nothing depends on it.
func Run(ctx context.Context, store Store, process string, states func() []agent.Status, log *slog.Logger) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		if err := store.Save(ctx, New(process, time.Now(), states())); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "save the report on agents", "process", process, "error", err)
		}
		select {
		case <-ticker.C:
			continue
		case <-ctx.Done():
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		if err := store.Remove(ending, process); err != nil {
			log.WarnContext(ending, "remove the report on agents", "process", process, "error", err)
		}
		return
	}
}

// version is that of stored reports.
const version = 1

// ErrOtherVersion is the error for a report that another version of the program saved.
var ErrOtherVersion = errors.New("the report has another version")

type stored struct {
	Version int           `json:"version"`
	Process string        `json:"process"`
	At      time.Time     `json:"at"`
	Agents  []storedAgent `json:"agents"`
}

type storedAgent struct {
	Name      agent.Name  `json:"name"`
	State     agent.State `json:"state"`
	Running   int         `json:"running"`
	Waiting   int         `json:"waiting"`
	Completed int         `json:"completed"`
	Failed    int         `json:"failed"`
	Problem   string      `json:"problem,omitempty"`
}

// Encode returns a report as stores keep it.
func Encode(report Report) ([]byte, error) {
	kept := stored{Version: version, Process: report.Process, At: report.At}
	for _, a := range report.Agents {
		kept.Agents = append(kept.Agents, storedAgent(a))
	}
	return json.Marshal(kept)
}

// Decode reads what Encode returned: ErrOtherVersion, or what is wrong with it.
func Decode(body []byte) (Report, error) {
	var kept stored
	if err := json.Unmarshal(body, &kept); err != nil {
		return Report{}, fmt.Errorf("read a report on agents: %w", err)
	}
	if kept.Version != version {
		return Report{}, ErrOtherVersion
	}
	report := Report{Process: kept.Process, At: kept.At}
	for _, a := range kept.Agents {
		report.Agents = append(report.Agents, Agent(a))
	}
	return report, nil
}

// DecodeAll reads reports; those of another version, which run beside this one while it is
// upgraded, are left out.
func DecodeAll(bodies [][]byte) ([]Report, error) {
	var all []Report
	for _, body := range bodies {
		report, err := Decode(body)
		if errors.Is(err, ErrOtherVersion) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, report)
	}
	return all, nil
}
