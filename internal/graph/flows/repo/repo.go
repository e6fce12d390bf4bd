// Package repo is the flow that reads a repository and reports on it: four tools look at
// it, what they found is reasoned about, and a reflection decides whether that is enough, or
// what is to be done again. With a language model it writes about a repository too, and
// answers questions from the index; without one the report is made of what the tools read.
//
// Reading order: state.go, repo.go (the graph), request.go (what is wanted), analyze.go and
// think.go (the nodes), generate.go, evaluate.go (the rubric).
package repo

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

// Name is the flow's name in checkpoints, traces and commands.
const Name = "repo"

// schemaVersion is the version of State in checkpoints.
const schemaVersion = 2

// passes is how often the planner runs at most.
const passes = 10

// The nodes, by the names of the flow's contract.
const (
	nodePlanner   = "planner"
	nodeAnalyzer  = "repo_analyzer"
	nodeRetriever = "retriever"
	nodeReasoner  = "reasoner"
	nodeReflector = "reflector"
	nodeGenerator = "generator"
	nodeEvaluator = "evaluator"
)

// Tools look at one repository. A tool's failure is an error, and what it gives then is of
// no use.
type Tools interface {
	Structure(ctx context.Context, depth int) (analysis.Structure, error)
	Sources(ctx context.Context, wanted analysis.Selection) ([]analysis.CodeFile, error)
	Dependencies(ctx context.Context) (analysis.Dependencies, error)
	Architecture(ctx context.Context) (analysis.Architecture, error)
	FindDependency(ctx context.Context, wanted manifest.Wanted) (analysis.Usages, error)
}

// Opened is a repository that is open. Close ends that.
type Opened struct {
	Tools             Tools
	Name, Commit, Web string // see repository.Checkout
	Outdated          string // see repository.Checkout
	Close             func() error
}

// Open opens a repository by its folder or address. One that may not be opened is a
// *repository.RefusedError.
type Open func(ctx context.Context, name string) (Opened, error)

// Reading opens repositories with a method of an opener.
func Reading(open func(ctx context.Context, name string) (*repository.Checkout, error)) Open {
	return func(ctx context.Context, name string) (Opened, error) {
		checkout, err := open(ctx, name)
		if err != nil {
			return Opened{}, err
		}
		return Opened{
			Tools: analysis.New(checkout), Name: checkout.Name, Commit: checkout.Commit, Web: checkout.Web,
			Outdated: checkout.Outdated, Close: checkout.Close,
		}, nil
	}
}

// Searcher finds evidence in the index.
type Searcher interface {
	Search(ctx context.Context, query retrieve.Query) (retrieve.Result, error)
}

// Options is what the flow works with.
type Options struct {
	Open Open // required
	// OpenNewest opens one as its remote has it now, to compare all of them; nil: Open.
	OpenNewest Open
	// List names the repositories that may be opened, for questions about all of them and as
	// choices; nil: none is known.
	List func(ctx context.Context) ([]string, error)
	// Search finds what questions are answered from; nil: nothing is found.
	Search Searcher
	Model  llm.Model // nil: there is none
	// Verifier checks what Model wrote; nil: words alone are compared.
	Verifier llm.Model
	// Now gives the time; nil: time.Now.
	Now func() time.Time
}

// Flow reports on repositories. Make one with New.
type Flow struct {
	flows.Runner[State]

	options Options
}

var _ flows.Flow = (*Flow)(nil)

// New makes the flow.
func New(options Options) (*Flow, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.OpenNewest == nil {
		options.OpenNewest = options.Open
	}
	f := &Flow{options: options}
	compiled, err := f.buildGraph().Compile()
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	f.Runner = flows.Runner[State]{Graph: compiled, Conclude: f.outcome}
	return f, nil
}

// buildGraph lays out the graph of the flow's contract.
func (f *Flow) buildGraph() *graph.Graph[State] {
	g := graph.New(Name, schemaVersion, fields...)
	g.Node(nodePlanner, f.planner, graph.Policy{Description: "Planning", Asks: true})
	g.Node(nodeAnalyzer, f.analyzer, graph.Policy{Description: "Reading the repository", Timeout: 10 * time.Minute})
	g.Node(nodeRetriever, f.retriever, graph.Policy{Description: "Searching the documents", Timeout: time.Minute})
	g.Node(nodeReasoner, f.reasoner, graph.Policy{Description: "Reasoning about what was found", Timeout: 10 * time.Minute})
	g.Node(nodeReflector, f.reflector, graph.Policy{Description: "Checking whether that is enough"})
	g.Node(nodeGenerator, f.generator, graph.Policy{Description: "Writing the report", Timeout: 10 * time.Minute})
	g.Node(nodeEvaluator, f.evaluator, graph.Policy{Description: "Evaluating the run"})
	g.Start(nodePlanner)
	g.Route(nodePlanner, afterPlanner, nodeAnalyzer, nodeRetriever, nodeReasoner)
	g.Edge(nodeAnalyzer, nodeReasoner)
	g.Edge(nodeRetriever, nodeReasoner)
	g.Edge(nodeReasoner, nodeReflector)
	g.Route(nodeReflector, afterReflector, nodeGenerator, nodeAnalyzer, nodePlanner)
	g.Edge(nodeGenerator, nodeEvaluator)
	g.Edge(nodeEvaluator, graph.End)
	g.Label(nodeReflector, nodePlanner, "needs more")
	g.Label(nodeReflector, nodeAnalyzer, "one thing missing")
	g.Label(nodeReflector, nodeGenerator, "enough")
	return g
}

func afterPlanner(s State) string {
	switch s.NextAction {
	case Analyze:
		return nodeAnalyzer
	case Retrieve:
		return nodeRetriever
	}
	return nodeReasoner
}

func afterReflector(s State) string {
	switch s.NextAction {
	case Retry:
		return nodeAnalyzer
	case Continue:
		return nodePlanner
	}
	return nodeGenerator
}

// Name implements flows.Flow.
func (f *Flow) Name() string { return Name }

// Start implements flows.Flow. The repository is the request's Location, or stands in its
// text: a folder at the beginning, an address anywhere.
func (f *Flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	state := f.newState(request)
	if state.lacksRepository() {
		state.Recent = f.recentRepositories(ctx, request)
	}
	return f.Begin(ctx, request.Run, state, runtime)
}

// newState is the state that a run of a request begins with.
func (f *Flow) newState(request flows.Request) State {
	repository, task := parseRequest(request)
	s := State{
		RequestID: request.Run, Task: task, TaskType: typeOf(repository, task), Repository: repository, Scope: request.Filter,
		MaxIterations: passes, StartTime: f.options.Now(),
	}
	if wanted, ok := manifest.ParseWanted(task); ok && repository == "" && f.options.List != nil {
		s.TaskType, s.Wanted = AnswerQuestion, &wanted
	}
	return s
}

// lacksRepository tells whether a task needs a repository and names none.
func (s State) lacksRepository() bool {
	return s.Repository == "" && s.TaskType != AnswerQuestion
}

// planner begins a pass.
func (f *Flow) planner(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	pass := []graph.Change[State]{iterationCount.Set(s.IterationCount + 1), retried.Set(false)}
	switch {
	case s.TaskType != AnalyzeRepo && s.Wanted == nil && f.options.Model == nil:
		pass = append(pass, failure.Set(s.speaker().Text(phrases.ModelNeeded)))
	case s.lacksRepository():
		answer, answered := step.Answer(repositoryKey)
		if !answered {
			return graph.Ask[State](s.askRepository()), nil
		}
		s.Repository = s.chosenRepository(answer)
		pass = append(pass, repositoryName.Set(s.Repository))
	}
	return graph.Update(append(pass, nextAction.Set(s.chooseAction()))...), nil
}

// repositoryKey names the question for the repository.
const repositoryKey = "repository"

// askRepository asks which repository is meant, with those that may be as choices.
func (s State) askRepository() graph.Question {
	asked := graph.Question{
		Key: repositoryKey, FreeText: true,
		Text: s.speaker().Text(phrases.RepositoryWhich),
	}
	for i, name := range s.Recent {
		choice := graph.Choice{ID: strconv.Itoa(i + 1), Label: lastOf(name)}
		if !filepath.IsAbs(name) { // where a folder is on this machine is for nobody
			choice.Detail = name
		}
		asked.Choices = append(asked.Choices, choice)
	}
	return asked
}

// chosenRepository is the repository that an answer names: a choice, an address, a folder, or
// a word for a folder.
func (s State) chosenRepository(answer graph.Answer) string {
	if number, err := strconv.Atoi(answer.Choice); err == nil && number >= 1 && number <= len(s.Recent) {
		return s.Recent[number-1]
	}
	if name, _ := parseRequest(flows.Request{Text: answer.Text}); name != "" {
		return name
	}
	return "./" + strings.Trim(strings.TrimSpace(answer.Text), "`\"'")
}

// chooseAction decides what a pass does: a repository that is named is opened first, whatever is
// wanted of it. A question without one is answered from the index.
func (s State) chooseAction() Action {
	switch {
	case s.Wanted != nil:
		return Analyze
	case s.Repository == "" && s.TaskType == AnswerQuestion:
		return Retrieve
	case s.Repository == "":
		return Reason
	case s.TaskType == AnalyzeRepo, len(s.missingTools()) > 0, len(s.unreadFiles()) > 0:
		return Analyze
	}
	return Reason
}

// language is that of the task, as far as it is recognized.
func (s State) language() language.Tag { return language.Detect(s.Task) }

func (s State) speaker() phrases.Speaker { return phrases.In(s.language()) }

// outcome says how a run ended.
func (f *Flow) outcome(steps []flows.Step, run graph.Outcome[State]) flows.Outcome {
	s := run.State
	made := flows.Outcome{Kind: flows.Abstained, Text: s.Failure, Trace: flows.Trace{
		Steps: steps, Models: s.Models, Notes: append(s.runTrail(), s.Notes...), Took: f.options.Now().Sub(s.StartTime),
	}}
	if run.Status == graph.Waiting {
		made.Kind, made.Question, made.Text = flows.Asked, &run.Questions[0], run.Questions[0].Text
		return made
	}
	if s.FinalOutput == "" {
		return made
	}
	made.Kind, made.Text, made.Note = flows.Answered, s.threadSummary(), s.traceNote()
	made.Files = []flows.File{{Name: s.fileName("report.md"), MediaType: flows.Markdown, Content: []byte(s.FinalOutput + s.EvaluationScores.renderFolded())}}
	made.Scores = s.EvaluationScores.byName()
	if s.hasPicture() {
		made.Files = append(made.Files, flows.File{Name: s.fileName(pictureEnding), MediaType: "image/svg+xml", Content: []byte(s.Architecture.Picture)})
	}
	return made
}

// runTrail is how the run went, for people who ask why.
func (s State) runTrail() []string {
	made := []string{fmt.Sprintf("task %s, %d of %d passes, evaluation %.0f of 100", s.TaskType, s.IterationCount, s.MaxIterations, s.EvaluationScores.Overall)}
	for _, use := range s.ToolUsage {
		line := fmt.Sprintf("%s(%s): %s", use.Tool, use.Arguments, use.Result)
		if use.Error != "" {
			line = fmt.Sprintf("%s(%s) failed: %s", use.Tool, use.Arguments, use.Error)
		}
		made = append(made, line)
	}
	for _, note := range s.ReflectionNotes {
		made = append(made, "reflection: "+strings.TrimSpace(note))
	}
	return made
}
