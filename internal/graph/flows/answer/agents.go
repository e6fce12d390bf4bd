package answer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// The agents, by the names of the flow's contract.
const (
	nameUnderstander agent.Name = "QueryUnderstander"
	nameSearch       agent.Name = "HybridSearch"
	nameGeneration   agent.Name = "AnswerGeneration"
	nameLinking      agent.Name = "SourceLinking"
	nameOrchestrator agent.Name = "Orchestrator"
)

// The limits of the agents. Searches are many and short, answers few and long. What asks a
// model may take as long as the model's own limits allow, and a moment more, so that the
// model's failure is the one that is told of.
const (
	searchTimeout     = time.Minute
	searchConcurrency = 5
	writeTimeout      = 3 * time.Minute
	requestTimeout    = 5 * time.Minute
	requestRetries    = 1
	moment            = 10 * time.Second
)

// timeouts are how long agents and requests to them may take, all attempts together.
type timeouts struct{ understand, write, request time.Duration }

// timeoutsFor gives the timeouts of a flow with these models.
func timeoutsFor(models Models) timeouts {
	longest := func(least time.Duration, asked ...llm.Model) time.Duration {
		for _, model := range asked {
			if model != nil {
				least = max(least, model.Limits().Longest+moment)
			}
		}
		return least
	}
	limits := timeouts{understand: longest(searchTimeout, models.Understand), write: longest(writeTimeout, models.Answer, models.Verify)}
	limits.request = max(requestTimeout, (requestRetries+1)*limits.understand+moment, limits.write+moment)
	return limits
}

// orchestrator routes the requests of nodes to the agents and watches over them: it retries
// what may work a second time, bounds how long a request takes, counts what was used and logs
// why an agent failed.
type orchestrator struct {
	bus     *agent.Bus
	log     *slog.Logger
	timeout time.Duration // of a request, all attempts together
	running atomic.Int64  // requests that wait for their reply
}

// newOrchestrator starts the agents on a bus of their own.
func newOrchestrator(options agent.Options, timeout time.Duration, agents ...agent.Agent) (*orchestrator, error) {
	o := &orchestrator{bus: agent.New(options), log: options.Log, timeout: timeout}
	return o, o.bus.Register(agents...)
}

// states gives how the agents are, the orchestrator too.
func (o *orchestrator) states() []agent.Status {
	own := agent.Status{Name: nameOrchestrator, State: agent.StateIdle, Running: int(o.running.Load()), LastBeat: time.Now()}
	if own.Running > 0 {
		own.State = agent.StateBusy
	}
	return append(o.bus.States(), own)
}

// understanding gives the requests of a node for what a question means.
func (o *orchestrator) understanding(step graph.Step[State]) *requests[analysisRequest, understanding] {
	return &requests[analysisRequest, understanding]{
		orchestrator: o, step: step, request: agent.Request{To: nameUnderstander, Retries: requestRetries},
	}
}

// search gives the requests of a node for evidence.
func (o *orchestrator) search(step graph.Step[State]) *requests[searchRequest, searchResponse] {
	return &requests[searchRequest, searchResponse]{
		orchestrator: o, step: step, request: agent.Request{To: nameSearch, Retries: requestRetries},
	}
}

// generation gives the requests of a node for a draft, whose pieces it emits. There are no
// retries, for a part of the draft has been shown.
func (o *orchestrator) generation(step graph.Step[State]) *requests[draftRequest, draftResponse] {
	return &requests[draftRequest, draftResponse]{
		orchestrator: o, step: step, request: agent.Request{
			To: nameGeneration, Priority: agent.High, OnProgress: func(update agent.Payload) {
				if next, ok := update.(piece); ok {
					step.Emit(next.Text)
				}
			},
		},
	}
}

// judgement gives the requests of a node for verdicts on statements.
func (o *orchestrator) judgement(step graph.Step[State]) *requests[claimsRequest, claimsResponse] {
	return &requests[claimsRequest, claimsResponse]{
		orchestrator: o, step: step, request: agent.Request{To: nameGeneration, Priority: agent.High, Retries: requestRetries},
	}
}

// linking gives the requests of a node for the sources of an answer.
func (o *orchestrator) linking(step graph.Step[State]) *requests[linkRequest, linkResponse] {
	return &requests[linkRequest, linkResponse]{
		orchestrator: o, step: step, request: agent.Request{To: nameLinking, Priority: agent.High, Retries: requestRetries},
	}
}

// requests are the requests of one kind that a node makes in one go, at the same time or one
// after the other.
type requests[Req, Resp agent.Payload] struct {
	orchestrator *orchestrator
	step         graph.Step[State]
	request      agent.Request // all but who sends it and what

	mu          sync.Mutex
	use         flows.AgentUse
	began, done time.Time // the first request, and the last reply
	failures    []*agent.Error
}

// Request has the agent answer a request. An *agent.Error is for the node to work around
// (isFailure); any other error is the end of ctx. It may be called concurrently.
func (r *requests[Req, Resp]) Request(ctx context.Context, payload Req) (Resp, error) {
	request := r.request
	request.From, request.Payload = nameOrchestrator, payload
	r.orchestrator.running.Add(1)
	defer r.orchestrator.running.Add(-1)
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, r.orchestrator.timeout)
	defer cancel()
	response, err := agent.Call[Resp](limited, r.orchestrator.bus, request)
	if err != nil && ctx.Err() != nil {
		return response, fmt.Errorf("%s: %w", request.To, ctx.Err())
	}
	failure, _ := errors.AsType[*agent.Error](err)
	r.count(began, failure)
	if failure != nil {
		r.orchestrator.logFailure(ctx, r.step, failure)
	}
	return response, err
}

// count adds a request that has ended to the use of the agent.
func (r *requests[Req, Resp]) count(began time.Time, failure *agent.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() || began.Before(r.began) {
		r.began = began
	}
	if now := time.Now(); now.After(r.done) {
		r.done = now
	}
	r.use.Requests++
	if failure != nil {
		r.use.Failures++
		r.failures = append(r.failures, failure)
	}
}

// used gives the use of the agent by the requests made so far.
func (r *requests[Req, Resp]) used() flows.AgentUse {
	r.mu.Lock()
	defer r.mu.Unlock()
	use := r.use
	use.Name, use.Took = string(r.request.To), r.done.Sub(r.began)
	return use
}

// changes gives how the requests made so far show in the run's state: the use of the agent,
// and what the answer lacks where it failed.
func (r *requests[Req, Resp]) changes() []graph.Change[State] {
	changes := []graph.Change[State]{agentUses.Set([]flows.AgentUse{r.used()})}
	for _, failure := range r.failures {
		changes = append(changes, notes.Set([]string{fmt.Sprintf("%s did not do its work: %s", failure.Agent, failure.Kind)}))
		if lacking, ok := lackingWithout[failure.Agent]; ok {
			changes = append(changes, degraded.Set([]string{speakerFor(r.step.State).Text(lacking)}))
		}
	}
	return changes
}

// isFailure reports whether an error is that of an agent, which the run works around.
func isFailure(err error) bool {
	_, ok := errors.AsType[*agent.Error](err)
	return ok
}

// logFailure logs why an agent failed. The end of the run itself is no failure.
func (o *orchestrator) logFailure(ctx context.Context, step graph.Step[State], failure *agent.Error) {
	if ctx.Err() == nil {
		o.log.WarnContext(ctx, "agent failed", "run", step.Run, "node", step.Node,
			"agent", string(failure.Agent), "kind", string(failure.Kind), "error", failure.Cause)
	}
}

// lackingWithout is the line on what an answer lacks where an agent failed.
var lackingWithout = map[agent.Name]phrases.Key{
	nameUnderstander: phrases.ReadAsWritten, nameSearch: phrases.OneSearchFailed, nameGeneration: phrases.QuotesUnwritten,
	nameLinking: phrases.SourcesUngrouped,
}
