package bot_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// job is a small real flow of three nodes, of which tests decide what the second does.
type job struct {
	graph *graph.Compiled[state]

	mu       sync.Mutex
	prepare  func() error // nil: nothing
	work     func(ctx context.Context, step graph.Step[state]) error
	ran      map[string]int // how often each node was
	requests []flows.Request
	files    func(text string) []flows.File // nil: it makes none
	scores   map[string]float64
}

var errBusy = errors.New("the store is busy")

func newJob(t *testing.T) *job {
	t.Helper()
	j := &job{ran: make(map[string]int)}
	g := graph.New("job", 1, text, color)
	g.Node("prepare", j.node(func(context.Context, graph.Step[state]) error {
		if j.prepare != nil {
			return j.prepare()
		}
		return nil
	}))
	g.Node("work", j.node(func(ctx context.Context, step graph.Step[state]) error { return j.work(ctx, step) }),
		graph.Policy{Retries: 1, Transient: func(err error) bool { return errors.Is(err, errBusy) }})
	g.Node("finish", j.node(func(context.Context, graph.Step[state]) error { return nil }))
	g.Start("prepare")
	g.Edge("prepare", "work")
	g.Edge("work", "finish")
	g.Edge("finish", graph.End)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	j.graph = compiled
	return j
}

func (j *job) node(do func(context.Context, graph.Step[state]) error) graph.Node[state] {
	return func(ctx context.Context, step graph.Step[state]) (graph.Result[state], error) {
		j.mu.Lock()
		j.ran[step.Node]++
		j.mu.Unlock()
		return graph.Update[state](), do(ctx, step)
	}
}

func (j *job) Name() string       { return "job" }
func (j *job) Shape() graph.Shape { return j.graph.Shape() }

func (j *job) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	j.mu.Lock()
	j.requests = append(j.requests, request)
	j.mu.Unlock()
	return j.outcome(j.graph.Start(ctx, request.Run, state{Text: request.Text}, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func (j *job) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	return j.outcome(j.graph.Resume(ctx, run, answers, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func (j *job) outcome(run graph.Outcome[state], err error) (flows.Outcome, error) {
	if err != nil {
		return flows.Outcome{}, err
	}
	made := flows.Outcome{Kind: flows.Answered, Text: "did " + run.State.Text, Trace: jobTrace, Scores: j.scores}
	if j.files != nil {
		made.Files = j.files(run.State.Text)
	}
	return made, nil
}

var jobTrace = flows.Trace{
	Queries:  []flows.Query{{Text: "q", Used: []string{"q"}, Pruned: []string{"the"}, Lexical: 1, Dense: 2, Took: 3}},
	Evidence: []flows.Candidate{{Passage: "p", Title: "T", Section: "S", Score: .5, Lexical: 2, Dense: .25, Kept: true}},
	Agents:   []flows.AgentUse{{Name: "HybridSearch", Requests: 2, Failures: 1, Took: 4}},
	Models:   []flows.ModelUse{{Role: "answer", Model: "m", Prompt: 5, Completion: 6, Cost: .5, Took: 7, FirstToken: 8, Failure: "cut"}},
	Inputs:   []flows.Input{{Name: "coverage", Value: .5, Limit: .25, Decided: true}},
	Notes:    []string{"parallel"},
}

// blocks is work that goes on until it is cancelled, once the job was told that it began.
func (j *job) blocks() (begun chan struct{}) {
	begun = make(chan struct{}, 1)
	j.work = func(ctx context.Context, _ graph.Step[state]) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	return begun
}

func (j *job) succeeds() { j.work = func(context.Context, graph.Step[state]) error { return nil } }
func (j *job) fails()    { j.work = func(context.Context, graph.Step[state]) error { return errBroken } }

// times is how often each node ran.
func (j *job) times() [3]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return [3]int{j.ran["prepare"], j.ran["work"], j.ran["finish"]}
}

// works is a bot whose plain messages go to a job.
func works(t *testing.T) (*office, *job) {
	t.Helper()
	j := newJob(t)
	return open(t, t.TempDir(), j), j
}

// handling is a message that is handled beside the test.
type handling struct {
	heard
	done chan struct{}
	err  error
}

func (o *office) begin(ctx context.Context, text string) *handling {
	message := o.next(text)
	h := &handling{done: make(chan struct{})}
	go func() {
		defer close(h.done)
		h.err = o.bot.Handle(ctx, message, h)
	}()
	return h
}

// reply waits until the message is handled, and gives the only reply to it.
func (h *handling) reply(t *testing.T) chat.Reply {
	t.Helper()
	<-h.done
	if h.err != nil || len(h.replies) != 1 {
		t.Fatalf("%v, replies %+v, want one", h.err, h.replies)
	}
	return h.replies[0]
}
