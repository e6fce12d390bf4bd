package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/runs"
)

type statusCommand struct {
	JSON bool `help:"Print it as JSON."`
}

// Bounds of what is looked at: more is said to be "at least" so many.
const (
	statusThreads = 1000
	statusRuns    = 200
	statusTime    = 30 * time.Second
	// waitsTooLong is after which time of waiting there seems to be no worker.
	waitsTooLong = time.Minute
)

// standing is how Cairn stands, as `cairn status --json` prints it. What could not be looked
// at is null.
type standing struct {
	Version string         `json:"version"`
	Commit  string         `json:"commit"`
	Stores  []storeStands  `json:"stores"`
	Queue   *queueStands   `json:"queue"`
	Runs    map[string]int `json:"runs"` // by status: all that are not over, and the latest that are
	Agents  []agentStands  `json:"agents"`
	Sources []sourceStands `json:"sources"`
	Models  []modelStands  `json:"models"`
	Problem []string       `json:"problems"` // what needs somebody, in words; empty where nothing does
}

type storeStands struct {
	Store   string `json:"store"` // "threads and runs", "index"
	Where   string `json:"where"`
	Holds   string `json:"holds,omitempty"`
	Problem string `json:"problem,omitempty"`
}

type queueStands struct {
	Waiting       int  `json:"waiting"`
	Running       int  `json:"running"`
	Later         int  `json:"later"`
	OldestSeconds int  `json:"oldest_seconds"` // of those that wait
	Questions     int  `json:"questions"`      // that wait for a person
	Dead          int  `json:"dead"`
	Partly        bool `json:"partly"` // there is more than was looked at
}

// agentStands is how an agent of a process is that answers questions.
type agentStands struct {
	Process   string    `json:"process"`
	Reported  time.Time `json:"reported"`
	Agent     string    `json:"agent"`
	State     string    `json:"state"` // idle, busy, stuck or down
	Running   int       `json:"running"`
	Waiting   int       `json:"waiting"`
	Completed int       `json:"completed"`
	Failed    int       `json:"failed"`
	Problem   string    `json:"problem,omitempty"`
}

type sourceStands struct {
	Source   string     `json:"source"`
	Complete *time.Time `json:"complete"` // when it was last read to its end; null: never
	Seen     int        `json:"seen"`
	Failed   int        `json:"failed"`
	Problem  string     `json:"problem,omitempty"`
}

type modelStands struct {
	Model string   `json:"model"`
	At    string   `json:"at"`
	Roles []string `json:"roles"`
}

// Run tells how Cairn stands. Where something needs somebody, the exit code is 1.
func (c *statusCommand) Run(ctx context.Context, in *invocation) error {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	stands := standing{Agents: []agentStands{}, Sources: []sourceStands{}, Models: []modelStands{}, Problem: []string{}}
	stands.Version, stands.Commit = buildVersion()
	stands.lookAtRuns(ctx, configured, in.std)
	stands.lookAtIndex(ctx, configured, in.std)
	for _, model := range configured.Models {
		shown := modelStands{Model: model.Name, At: server(model)}
		for _, role := range model.Roles {
			shown.Roles = append(shown.Roles, string(role))
		}
		stands.Models = append(stands.Models, shown)
	}
	if err := stands.print(in.std.Out, c.JSON); err != nil {
		return err
	}
	if n := len(stands.Problem); n > 0 {
		return fmt.Errorf("%s: `cairn doctor` says what to do about what is wrong with the installation", count(n, "problem"))
	}
	return nil
}

func (s *standing) lookAtRuns(ctx context.Context, configured config.Config, std stdio) {
	store := storeStands{Store: "threads and runs", Where: configured.DataDir}
	if !configured.Redis.URL.IsZero() {
		store.Where = "Redis"
	}
	if err := s.countRuns(ctx, app.NewSetup(configured, std.Err)); err != nil {
		store.Problem = oneLine(err.Error())
		s.Problem = append(s.Problem, "threads and runs: "+store.Problem)
	}
	s.Stores = append(s.Stores, store)
}

func (s *standing) countRuns(ctx context.Context, setup app.Setup) (err error) {
	if !app.HasStorage(setup) {
		return errors.New("the data directory is not there: `cairn ingest FOLDER` makes it, or name it with --data")
	}
	opened, err := app.OpenStorage(ctx, setup)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, opened) }()
	if err := s.listAgents(ctx, opened.Agents); err != nil {
		return err
	}
	threads, err := opened.Runs.Threads(ctx, statusThreads)
	if err != nil {
		return err
	}
	letters, err := opened.Runs.DeadLetters(ctx, statusThreads)
	if err != nil {
		return err
	}
	if s.Runs, err = countRecords(ctx, opened.Records); err != nil {
		return err
	}
	stand := runs.Stand(threads, time.Now())
	s.Queue = &queueStands{
		Waiting: stand.Waiting, Running: stand.Running, Later: stand.Later, OldestSeconds: int(stand.Oldest.Seconds()),
		Questions: s.Runs[string(runs.Waiting)], Dead: len(letters),
		Partly: len(threads) == statusThreads || len(letters) == statusThreads,
	}
	if stand.Oldest > waitsTooLong {
		s.Problem = append(s.Problem, fmt.Sprintf("a message has waited for %s: is there a worker? (`cairn serve`)", stand.Oldest.Round(time.Second)))
	}
	if len(letters) > 0 {
		s.Problem = append(s.Problem, fmt.Sprintf("put aside: %s (`cairn runs` lists them, `cairn runs replay RUN` goes on with one, `cairn runs discard RUN` forgets it)", count(len(letters), "message")))
	}
	return nil
}

// listAgents lists the agents of all processes that report.
func (s *standing) listAgents(ctx context.Context, agents reports.Store) error {
	listed, err := agents.List(ctx)
	if err != nil {
		return err
	}
	for _, report := range listed {
		for _, a := range report.Agents {
			s.Agents = append(s.Agents, agentStands{
				Process: report.Process, Reported: report.At, Agent: string(a.Name), State: string(a.State),
				Running: a.Running, Waiting: a.Waiting, Completed: a.Completed, Failed: a.Failed, Problem: oneLine(a.Problem),
			})
			if a.IsUnwell() {
				s.Problem = append(s.Problem, fmt.Sprintf("agent %s of %s is %s: %s: questions do without it", a.Name, report.Process, a.State, oneLine(a.Problem)))
			}
		}
	}
	return nil
}

// countRecords counts the runs that are not over, and the latest of the others.
func countRecords(ctx context.Context, records runs.Registry) (map[string]int, error) {
	counted := map[string]int{}
	for _, status := range []runs.Status{runs.Queued, runs.Running, runs.Waiting} {
		listed, err := records.List(ctx, runs.Filter{Status: status}, statusThreads)
		if err != nil {
			return nil, err
		}
		counted[string(status)] = len(listed)
	}
	latest, err := records.List(ctx, runs.Filter{}, statusRuns)
	if err != nil {
		return nil, err
	}
	for _, record := range latest {
		switch status := record.Status(); status {
		case runs.Done, runs.Failed, runs.Cancelled, runs.Expired:
			counted[string(status)]++
		}
	}
	return counted, nil
}

func (s *standing) lookAtIndex(ctx context.Context, configured config.Config, std stdio) {
	store := storeStands{Store: "index", Where: configured.DataDir}
	if !configured.Postgres.URL.IsZero() {
		store.Where = "PostgreSQL"
	}
	library, err := app.OpenLibrary(ctx, app.NewSetup(configured, std.Err), app.ReadIndex)
	if err == nil {
		store.Holds, err = s.countDocuments(ctx, library.Index)
		err = closeAfter(err, library)
	}
	if err != nil {
		store.Problem = oneLine(err.Error())
		s.Problem = append(s.Problem, "index: "+store.Problem)
	}
	s.Stores = append(s.Stores, store)
}

// countDocuments tells what the index holds, and looks at how its sources were read.
func (s *standing) countDocuments(ctx context.Context, opened index.Index) (holds string, err error) {
	stats, err := opened.Stats(ctx)
	if err != nil {
		return "", err
	}
	holds = fmt.Sprintf("%s, %s", count(stats.Documents, "document"), count(stats.Passages, "passage"))
	if left := stats.Passages - stats.Embedded; left > 0 {
		holds += fmt.Sprintf(", %d without a vector", left)
	}
	keeps, ok := opened.(index.IngestStates)
	if !ok {
		return holds, nil
	}
	states, err := keeps.IngestStates(ctx)
	if err != nil {
		return holds, err
	}
	for _, state := range states {
		shown := sourceStands{Source: string(state.Source), Seen: state.Seen, Failed: state.Failed, Problem: state.Reason}
		if !state.Complete.IsZero() {
			shown.Complete = &state.Complete
		}
		if state.Reason != "" {
			s.Problem = append(s.Problem, fmt.Sprintf("source %s was not read to its end: %s", state.Source, oneLine(state.Reason)))
		}
		s.Sources = append(s.Sources, shown)
	}
	return holds, nil
}

func (s *standing) print(out io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(s)
	}
	var b strings.Builder
	b.WriteString("Cairn " + strings.TrimSpace(s.Version+" "+s.Commit) + "\n\n")
	for _, store := range s.Stores {
		told := "answers"
		switch {
		case store.Problem != "":
			told = "✗ " + store.Problem
		case store.Holds != "":
			told = store.Holds
		}
		fmt.Fprintf(&b, "%-17s %s: %s\n", store.Store, store.Where, told)
	}
	if s.Queue != nil {
		s.printQueue(&b)
	}
	s.printAgents(&b)
	for _, source := range s.Sources {
		read := "never read to its end"
		if source.Complete != nil {
			read = "read " + markup.Age(time.Now(), *source.Complete)
		}
		fmt.Fprintf(&b, "%-17s %s: %s, %s, %d not readable\n", "source", source.Source, read, count(source.Seen, "document"), source.Failed)
	}
	for _, model := range s.Models {
		fmt.Fprintf(&b, "%-17s %s at %s: %s (not asked; `cairn config check --models` does)\n", "model", printable(model.Model), model.At, strings.Join(model.Roles, ", "))
	}
	if len(s.Problem) > 0 {
		b.WriteString("\n")
	}
	for _, problem := range s.Problem {
		fmt.Fprintf(&b, "✗ %s\n", problem)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (s *standing) printQueue(b *strings.Builder) {
	queue := s.Queue
	least := ""
	if queue.Partly {
		least = "at least "
	}
	fmt.Fprintf(b, "%-17s %s%d waiting, %d at work, %d for later, %d put aside\n", "messages", least, queue.Waiting, queue.Running, queue.Later, queue.Dead)
	if queue.Waiting > 0 {
		fmt.Fprintf(b, "%-17s has waited for %s\n", "the oldest", time.Duration(queue.OldestSeconds)*time.Second)
	}
	fmt.Fprintf(b, "%-17s %d waiting for a person\n", "questions", queue.Questions)
	var states []string
	for _, status := range []runs.Status{runs.Queued, runs.Running, runs.Waiting, runs.Done, runs.Failed, runs.Cancelled, runs.Expired} {
		if n := s.Runs[string(status)]; n > 0 {
			states = append(states, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(states) == 0 {
		states = []string{"none yet"}
	}
	fmt.Fprintf(b, "%-17s %s (of those that are over, among the latest %d)\n", "runs", strings.Join(states, ", "), statusRuns)
}

// printAgents prints a line a process.
func (s *standing) printAgents(b *strings.Builder) {
	for start := 0; start < len(s.Agents); {
		process := s.Agents[start].Process
		var states []string
		for ; start < len(s.Agents) && s.Agents[start].Process == process; start++ {
			states = append(states, s.Agents[start].Agent+" "+s.Agents[start].State)
		}
		fmt.Fprintf(b, "%-17s %s: %s\n", "agents", printable(process), strings.Join(states, ", "))
	}
}
