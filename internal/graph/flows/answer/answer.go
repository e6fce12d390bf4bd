// Package answer is the flow that answers questions over the team's knowledge. It
// understands the question, searches, asks back where the evidence has several
// readings, writes an answer and checks each sentence of it against the passage that
// it cites; or it says that the documents do not tell. With no model, or where one
// fails, it understands by rules and quotes the sentences that answer.
//
// The nodes decide; the work is done by agents on a bus, each a type in a file of its own:
// QueryUnderstander, HybridSearch, AnswerGeneration and SourceLinking. The Orchestrator
// (agents.go) routes the nodes' requests to them and watches over them. What an agent does not
// do is worked around, and the answer says what it had to do without; the cause is in the log.
//
// Reading order: state.go, answer.go (the graph), messages.go, agents.go, understand.go,
// read.go, clarify.go, process.go, generate.go with quote.go and compose.go, write.go, verify.go and check.go,
// decline.go, group.go. What is quoted is chosen in the package quoting.
package answer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/quoting"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/rerank"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// Name is the flow's name in checkpoints, traces and commands.
const Name = "answer"

// schemaVersion is the version of State in checkpoints.
const schemaVersion = 1

// The nodes, by the names of the flow's contract.
const (
	nodeUnderstand = "query_understanding"
	nodeClarify    = "clarify"
	nodeStrategy   = "strategy_decision"
	nodeParallel   = "parallel_processing"
	nodeSequential = "sequential_processing"
	nodeHybrid     = "hybrid_processing"
	nodeGenerate   = "response_generation"
	nodeVerify     = "verify"
	nodeFinalize   = "finalization"
	nodeError      = "error_handling"
)

// Flow answers questions. Make one with New, and Close it.
type Flow struct {
	index       index.Reader
	models      Models
	quotes      *quoter
	ordering    func(run string, question rerank.Question, evidence []retrieve.Evidence)
	collections func(ctx context.Context) ([]knowledge.SourceID, error) // nil: they are not named
	linkHosts   map[string]bool
	live        LiveSearch // nil: none
	agents      *orchestrator
	log         *slog.Logger
	graph       *graph.Compiled[State]
	judgement   Judgement
	now         func() time.Time
}

var _ flows.Flow = (*Flow)(nil)

// DefaultDocuments is from how many documents an answer quotes at most.
const DefaultDocuments = 10

// DefaultSidePages is what pages count that tell how things were or may be.
const DefaultSidePages = 0.75

// Options is what the flow works with.
type Options struct {
	Retriever *retrieve.Retriever // over the index that is asked; required
	Models    Models
	Documents int // an answer quotes from at most; 0: DefaultDocuments
	// Collections are those that the context's viewers may read, which a reply names that
	// found nothing in them; nil: it names none.
	Collections func(ctx context.Context) ([]knowledge.SourceID, error)
	// SidePages is what release notes and the like count where nobody asked for them, 0 to 1;
	// nil: DefaultSidePages.
	SidePages *float64
	Judgement *Judgement   // decides when to ask and to decline; nil: the one that is built in
	LinkHosts []string     // that answers may link to beside the documents: "wiki.example.com"
	Log       *slog.Logger // of agents that fail, get stuck or go down; nil: none
	// Live searches places that are searched by themselves, beside the index; nil: there are none.
	Live LiveSearch
	// Quoting is told of what quotes are chosen from; nil: nobody is.
	Quoting func(Quotable)
	// Ordering is told of what the first search of a run found, before it is put in order;
	// nil: nobody is.
	Ordering func(run string, question rerank.Question, evidence []retrieve.Evidence)
	// OnRequest is told of each request that an agent works at, as agent.Options has it.
	OnRequest func(ctx context.Context, name agent.Name, request agent.Type) (context.Context, func(err error))
}

// Quotable is what the quotes of an answer are chosen from.
type Quotable struct {
	Question quoting.Question
	Passages []quoting.Passage
	Paths    []string // of the passages' documents
	Size     quoting.Size
}

// New makes the flow and starts its agents, which end with Close and not with a context.
//
//nolint:contextcheck,nolintlint // for its callers; here there is nothing to report
func New(options Options) (*Flow, error) {
	f := &Flow{
		index: options.Retriever.Index, models: options.Models, quotes: &quoter{documents: options.Documents, observe: options.Quoting},
		collections: options.Collections, ordering: options.Ordering, linkHosts: make(map[string]bool), now: time.Now, log: options.Log,
		live: options.Live,
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	f.judgement = embeddedJudgement
	if options.Judgement != nil {
		f.judgement = *options.Judgement
	}
	if f.quotes.documents == 0 {
		f.quotes.documents = DefaultDocuments
	}
	for _, host := range options.LinkHosts {
		f.linkHosts[strings.ToLower(host)] = true
	}
	compiled, err := f.plan().Compile()
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	f.graph = compiled
	if f.agents, err = f.startAgents(options); err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	return f, nil
}

// startAgents makes the agents, each with what it works with, and starts them.
func (f *Flow) startAgents(options Options) (*orchestrator, error) {
	limits := timeoutsFor(f.models)
	reader := &queryUnderstander{index: f.index, model: f.models.Understand}
	reader.speller, _ = f.index.(index.Speller)
	reader.words, _ = options.Retriever.Embedder.(embed.WordList)
	searcher := &hybridSearch{retriever: options.Retriever, sidePages: DefaultSidePages}
	if options.SidePages != nil {
		searcher.sidePages = *options.SidePages
	}
	generator := &answerGeneration{
		writer: f.models.Answer, verifier: f.models.Verify, quotes: f.quotes, linkHosts: f.linkHosts, now: f.now,
	}
	return newOrchestrator(agent.Options{Log: f.log, OnRequest: options.OnRequest}, limits.request,
		reader.agent(limits), searcher.agent(), generator.agent(limits), sourceLinking{}.agent())
}

// Close stops the agents and waits for them until ctx ends.
func (f *Flow) Close(ctx context.Context) error { return f.agents.bus.Close(ctx) }

// Agents gives the state of the flow's agents.
func (f *Flow) Agents() []agent.Status { return f.agents.states() }

// plan lays out the graph of the flow's contract.
func (f *Flow) plan() *graph.Graph[State] {
	g := graph.New(Name, schemaVersion, fields...)
	limit := timeoutsFor(f.models).request + moment
	g.Node(nodeUnderstand, f.attempt(f.understand), graph.Policy{Description: "Understanding the question", Timeout: limit})
	g.Node(nodeClarify, f.clarify, graph.Policy{Description: "Checking for several readings", Asks: true})
	g.Node(nodeStrategy, decideStrategy, graph.Policy{Description: "Choosing how to search"})
	g.Node(nodeParallel, f.attempt(f.parallelProcessing), graph.Policy{Description: "Searching for each part", Timeout: limit})
	g.Node(nodeSequential, f.attempt(f.sequentialProcessing), graph.Policy{Description: "Searching for what is missing", Timeout: limit})
	g.Node(nodeHybrid, f.attempt(f.hybridProcessing), graph.Policy{Description: "Weighing what was found", Timeout: limit})
	g.Node(nodeGenerate, f.generate, graph.Policy{Description: "Putting the answer together"})
	g.Node(nodeVerify, f.verify, graph.Policy{Description: "Checking each quote against its source"})
	g.Node(nodeFinalize, f.finalize, graph.Policy{Description: "Linking the sources"})
	g.Node(nodeError, handleError, graph.Policy{Description: "Dealing with a failed search"})

	g.Start(nodeUnderstand)
	g.Route(nodeUnderstand, afterUnderstanding, nodeClarify, nodeFinalize)
	g.Edge(nodeClarify, nodeStrategy)
	g.Route(nodeStrategy, processingNode, nodeParallel, nodeSequential, nodeHybrid, nodeError)
	for _, processing := range []string{nodeParallel, nodeSequential, nodeHybrid} {
		g.Route(processing, afterProcessing, nodeGenerate, nodeError)
	}
	g.Edge(nodeGenerate, nodeVerify)
	g.Edge(nodeVerify, nodeFinalize)
	g.Edge(nodeError, nodeFinalize)
	g.Edge(nodeFinalize, graph.End)
	return g
}

func afterUnderstanding(s State) string {
	if isSocial(s.Intent) && s.Asks == nil {
		return nodeFinalize
	}
	return nodeClarify
}

func processingNode(s State) string {
	switch s.ProcessingStrategy {
	case Parallel:
		return nodeParallel
	case Sequential:
		return nodeSequential
	case Hybrid:
		return nodeHybrid
	default:
		return nodeError
	}
}

func afterProcessing(s State) string {
	if len(s.Errors) > 0 {
		return nodeError
	}
	return nodeGenerate
}

// Name implements flows.Flow.
func (f *Flow) Name() string { return Name }

// Shape implements flows.Flow.
func (f *Flow) Shape() graph.Shape { return f.graph.Shape() }

// Start implements flows.Flow.
func (f *Flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	wanted := request.Depth
	if wanted == "" {
		wanted = flows.Detailed
	}
	initial := State{
		RequestID: request.Run, OriginalQuery: request.Text, History: request.History, Depth: wanted,
		Attachments: request.Attachments, Before: request.Before, Asks: request.Asks, ReadIn: request.ReadIn,
		Filter:     index.Filter{Sources: request.Filter.Sources},
		MaxRetries: maxSearchRetries, StartTime: f.now(),
	}
	watch := &watch{observe: runtime.Observe}
	outcome, err := f.graph.Start(ctx, request.Run, initial, runtime.Options(watch.event))
	return watch.outcome(outcome, err)
}

// Resume implements flows.Flow.
func (f *Flow) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	watch := &watch{observe: runtime.Observe}
	outcome, err := f.graph.Resume(ctx, run, answers, runtime.Options(watch.event))
	return watch.outcome(outcome, err)
}

// watch notes the steps of a run while passing its events on.
type watch struct {
	observe func(graph.Event)
	steps   []flows.Step
}

func (w *watch) event(event graph.Event) {
	if event.Kind == graph.StepFinished {
		w.steps = append(w.steps, flows.Step{Node: event.Node, Took: event.Duration})
	}
	if w.observe != nil {
		w.observe(event)
	}
}

func (w *watch) outcome(run graph.Outcome[State], err error) (flows.Outcome, error) {
	if err != nil {
		return flows.Outcome{}, err
	}
	s := run.State
	made := flows.Outcome{Kind: flows.Answered, Text: s.Answer, Note: s.Note, Groups: s.GroupedSources}
	made.Trace = flows.Trace{
		Steps: w.steps, Queries: s.Queries, Evidence: candidates(s), Agents: perAgent(s.Agents), Models: s.Models,
		Inputs: s.Inputs, Notes: s.Notes, Took: s.ProcessingTime,
	}
	if run.Status == graph.Waiting {
		made.Kind = flows.Asked
		made.Question = &run.Questions[0]
		made.Text = made.Question.Text
		return made, nil
	}
	if s.Abstained {
		made.Kind = flows.Abstained
	}
	return made, nil
}

// candidates lists the evidence for the trace.
func candidates(s State) []flows.Candidate {
	used := make(map[int]bool)
	for _, sentence := range s.ResponseResults.Sentences {
		used[sentence.Evidence] = true
	}
	for _, position := range s.ResponseResults.Shown {
		used[position] = true
	}
	listed := make([]flows.Candidate, len(s.SearchResults))
	for i, e := range s.SearchResults {
		listed[i] = flows.Candidate{
			Passage: e.Passage.ID, Title: e.Document.Title, Path: e.Document.Path,
			Section: e.Passage.Section(), Anchor: e.Passage.Anchor,
			Score: e.Score, Lexical: e.Lexical, Dense: e.Dense, Kept: used[i],
		}
		if !isAttached(e) {
			listed[i].Hash = e.Passage.Hash
		}
		if !isAttached(e) || isLive(e) {
			listed[i].Audience = e.Document.Audience.OrPublic()
		}
	}
	return listed
}

const maxSearchRetries = 1

// attempt makes a failed search part of the state, so that the run ends with a reply
// that says so. The end of the run's own context is passed on.
func (f *Flow) attempt(node graph.Node[State]) graph.Node[State] {
	return func(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
		result, err := node(ctx, step)
		if err == nil || errors.Is(err, context.Canceled) {
			return result, err
		}
		if step.State.RetryCount < step.State.MaxRetries {
			result, err = node(ctx, step)
			if err == nil {
				return result, nil
			}
		}
		return graph.Update(
			stateErrors.Set([]string{err.Error()}),
			retryCount.Set(step.State.RetryCount+1),
		), nil
	}
}

// handleError makes the reply of a run whose search failed for good. The first pass's
// evidence is still there and is named.
func handleError(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	return graph.Update(
		answerText.Set(speakerFor(step.State).Text(phrases.SearchFailed)),
		abstained.Set(true),
		citations.Set(nearest(step.State.SearchResults)),
	), nil
}

// finalize links and groups the sources and takes the time. Without SourceLinking the
// sources are listed as they come.
func (f *Flow) finalize(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	linking := f.agents.linking(step)
	linked, err := linking.Request(ctx, linkRequest{Evidence: s.SearchResults, Cited: s.Cited})
	if err != nil && !isFailure(err) {
		return graph.Result[State]{}, err
	}
	changes := linking.changes()
	if err != nil {
		linked.Sources = link(s.SearchResults, s.Cited)
		linked.Groups = []flows.SourceGroup{{Kind: knowledge.KindDocumentation, Sources: linked.Sources}}
		changes = append(changes, note.Set(strings.TrimSpace(s.Note+" "+speakerFor(s).Text(phrases.SourcesUngrouped))))
	}
	return graph.Update(append(changes,
		sources.Set(linked.Sources),
		categorizationResults.Set(linked.Groups),
		groupedSources.Set(linked.Groups),
		agentTimes.Set(seconds(append(s.Agents, linking.used()))),
		processingTime.Set(f.now().Sub(s.StartTime)),
	)...), nil
}

// seconds sums up the time of each agent.
func seconds(uses []flows.AgentUse) map[string]float64 {
	sums := make(map[string]float64)
	for _, use := range uses {
		sums[use.Name] += use.Took.Seconds()
	}
	return sums
}

// perAgent sums up the uses of agents, in the order in which agents were first needed.
func perAgent(uses []flows.AgentUse) []flows.AgentUse {
	var summed []flows.AgentUse
	for _, use := range uses {
		at := slices.IndexFunc(summed, func(other flows.AgentUse) bool { return other.Name == use.Name })
		if at < 0 {
			summed = append(summed, use)
			continue
		}
		summed[at].Requests += use.Requests
		summed[at].Failures += use.Failures
		summed[at].Took += use.Took
	}
	return summed
}
