package answer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cairn/internal/agent"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/llm"
)

// The limits of the agents. Searches are many and short, answers few and long; the
// Orchestrator waits for all of them. What asks a model may take as long as the model's own
// limits allow, and a moment more, so that the model's failure is the one that is told of.
const (
	searchTimeout     = time.Minute
	searchConcurrency = 5
	writeTimeout      = 3 * time.Minute
	orchestrated      = 64
	errandTimeout     = 5 * time.Minute
	errandRetries     = 1
	moment            = 10 * time.Second
)

// timeouts are how long agents and errands may take.
type timeouts struct{ understand, write, errand time.Duration }

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
	limits.errand = max(errandTimeout, (errandRetries+1)*limits.understand+moment, limits.write+moment)
	return limits
}

// staff makes the bus and the agents on it.
func (f *Flow) staff(options Options) error {
	limits := timeoutsFor(options.Models)
	f.bus = agent.New(agent.Options{Log: options.Log, Accompany: options.Accompany})
	return f.bus.Register(
		agent.Agent{
			Name: orchestrator, Concurrency: orchestrated, Timeout: limits.errand,
			Handlers: []agent.Handler{
				orchestrate[analysis](f.bus), orchestrate[search](f.bus),
				orchestrate[response](f.bus), orchestrate[categorization](f.bus),
			},
		},
		agent.Agent{Name: queryUnderstander, Timeout: limits.understand, Handlers: []agent.Handler{agent.On(f.analyse)}},
		agent.Agent{
			Name: hybridSearch, Concurrency: searchConcurrency, Timeout: searchTimeout,
			Handlers: []agent.Handler{agent.On(f.find)},
		},
		agent.Agent{
			Name: answerGeneration, Timeout: limits.write,
			Handlers: []agent.Handler{agent.On(f.draft), agent.On(f.judge)},
		},
		agent.Agent{Name: sourceLinking, Handlers: []agent.Handler{agent.On(f.linkSources)}},
	)
}

// orchestrate is the Orchestrator's handler for errands of a kind: it hands each
// request to the agent that it is for, tries again what may work a second time, and
// passes on what is said meanwhile. One request's failure is not the others'.
func orchestrate[K kind](bus *agent.Bus) agent.Handler {
	return agent.On(func(ctx context.Context, task *agent.Task, e errand[K]) (errandDone[K], error) {
		began := time.Now()
		done := errandDone[K]{
			Replies:  make([]agent.Payload, len(e.Requests)),
			Failures: make([]*agent.Error, len(e.Requests)),
		}
		var asked sync.WaitGroup
		for i, request := range e.Requests {
			asked.Go(func() {
				done.Replies[i], done.Failures[i] = carryOut(ctx, bus, task, e.To, request)
			})
		}
		asked.Wait()
		done.Use = flows.AgentUse{Name: string(e.To), Requests: len(e.Requests), Took: time.Since(began)}
		for _, failure := range done.Failures {
			if failure != nil {
				done.Use.Failures++
			}
		}
		return done, nil
	})
}

func carryOut(ctx context.Context, bus *agent.Bus, task *agent.Task, to agent.Name, request agent.Payload) (agent.Payload, *agent.Error) {
	retries := errandRetries
	if request.MessageType() == agent.ResponseRequest {
		retries = 0 // a part of an answer has been shown
	}
	reply, err := agent.Call[agent.Payload](ctx, bus, agent.Request{
		From: orchestrator, To: to, Payload: request, Priority: task.Message.Priority,
		Retries: retries, OnProgress: task.Progress,
	})
	return reply, failureOf(to, err)
}

// failureOf gives a failed call's error as the agent's, whichever it was.
func failureOf(to agent.Name, err error) *agent.Error {
	if err == nil {
		return nil
	}
	if failure, ok := err.(*agent.Error); ok { //nolint:errorlint // Call returns nothing else, and wraps nothing
		return failure
	}
	return &agent.Error{Agent: to, Kind: agent.Failed, Cause: err}
}

// assigned is an errand of a node.
type assigned struct {
	to       agent.Name
	requests []agent.Payload
	urgent   bool // for a run that is nearly done
	progress func(agent.Payload)
}

// assign sends an errand to the Orchestrator and waits. The end of the run's context is
// the only error that is not in the result's Failures; everything else is for the node
// to work around.
func assign[K kind](ctx context.Context, f *Flow, step graph.Step[State], a assigned) (errandDone[K], error) {
	priority := agent.Normal
	if a.urgent {
		priority = agent.High
	}
	done, err := agent.Call[errandDone[K]](ctx, f.bus, agent.Request{
		From: agent.Name(step.Run + "/" + step.Node), To: orchestrator,
		Payload: errand[K]{To: a.to, Requests: a.requests}, Priority: priority, OnProgress: a.progress,
	})
	if err == nil {
		f.logFailures(ctx, step, done.Failures)
		return done, nil
	}
	if ctx.Err() != nil {
		return errandDone[K]{}, fmt.Errorf("%s: %w", a.to, ctx.Err())
	}
	failure := failureOf(orchestrator, err)
	f.logFailures(ctx, step, []*agent.Error{failure})
	done = errandDone[K]{
		Replies: make([]agent.Payload, len(a.requests)), Failures: make([]*agent.Error, len(a.requests)),
		Use: flows.AgentUse{Name: string(a.to), Requests: len(a.requests), Failures: len(a.requests)},
	}
	for i := range done.Failures {
		done.Failures[i] = failure
	}
	return done, nil
}

// logFailures logs why agents failed, which the run works around. The end of the run itself
// is no failure.
func (f *Flow) logFailures(ctx context.Context, step graph.Step[State], failures []*agent.Error) {
	for _, failure := range failures {
		if failure != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "agent failed", "run", step.Run, "node", step.Node,
				"agent", string(failure.Agent), "kind", string(failure.Kind), "error", failure.Cause)
		}
	}
}

// only gives the reply to an errand's one request; ok is false where it failed.
func only[R agent.Payload, K kind](done errandDone[K]) (reply R, failure *agent.Error) {
	if done.Failures[0] != nil {
		return reply, done.Failures[0]
	}
	reply, ok := done.Replies[0].(R)
	if !ok {
		return reply, &agent.Error{Agent: agent.Name(done.Use.Name), Kind: agent.Failed, Cause: fmt.Errorf("it replied with %T", done.Replies[0])}
	}
	return reply, nil
}

// used is how an errand shows in the run's state.
func used[K kind](done errandDone[K]) []graph.Change[State] {
	return []graph.Change[State]{agentUses.Set([]flows.AgentUse{done.Use})}
}

// without says, for people, what an answer lacks where an agent did not do its work.
var without = map[agent.Name]string{
	queryUnderstander: "The question was searched for as written, for nothing could read it more closely.",
	hybridSearch:      "A search failed.",
	answerGeneration:  "These are quotes, for nothing could write an answer.",
	sourceLinking:     "The sources are not grouped.",
}

// lost notes a failed agent, for the trace and for the answer's note; nothing for nil.
func lost(failure *agent.Error) []graph.Change[State] {
	if failure == nil {
		return nil
	}
	changes := []graph.Change[State]{notes.Set([]string{fmt.Sprintf("%s did not do its work: %s", failure.Agent, failure.Kind)})}
	if said := without[failure.Agent]; said != "" {
		changes = append(changes, degraded.Set([]string{said}))
	}
	return changes
}
