package repo

import (
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/report"
)

// TaskType is what a person wants.
type TaskType string

// The types of tasks. Without a language model only AnalyzeRepo can be done.
const (
	AnalyzeRepo     TaskType = "analyze_repo"
	GenerateContent TaskType = "generate_content"
	AnswerQuestion  TaskType = "answer_question"
	General         TaskType = "general"
)

// Action is what is done next: what the planner or the reflector decided.
type Action string

// The planner decides on one of the first three, the reflector on one of the others.
const (
	Analyze  Action = "analyze"
	Retrieve Action = "retrieve"
	Reason   Action = "reason"
	Generate Action = "generate"
	Retry    Action = "retry"    // one thing that is missing
	Continue Action = "continue" // with another pass
)

// Tool is the name of one of the tools.
type Tool string

// The tools of the repo_analyzer, in their order, and the search of the retriever.
const (
	StructureTool    Tool = "analyze_directory_structure"
	SourcesTool      Tool = "read_source_files"
	DependenciesTool Tool = "extract_dependencies"
	ArchitectureTool Tool = "generate_architecture_map"
	SearchTool       Tool = "search_knowledge"
	DependencyTool   Tool = "find_dependency" // in the manifests of all repositories
)

var tools = []Tool{StructureTool, SourcesTool, DependenciesTool, ArchitectureTool}

// ToolUse is one call of a tool.
type ToolUse struct {
	Tool      Tool          `json:"tool"`
	Arguments string        `json:"arguments"`        // as they are written in a call: "path, max_depth=3"
	Result    string        `json:"result,omitempty"` // in a few words, "" for none
	Duration  time.Duration `json:"duration"`
	Error     string        `json:"error,omitempty"`
}

// Passage is a passage of the team's documents that was found.
type Passage struct {
	Label string `json:"label"`
	URL   string `json:"url,omitempty"`
	Text  string `json:"text"`
}

// State is what the graph works on. The names of its fields are part of the flow's
// contract: they stand in checkpoints and traces.
type State struct {
	RequestID  string
	Task       string // what the person wrote, without the repository's name
	TaskType   TaskType
	Repository string   // a folder or an address; "" where none was named
	Recent     []string // repositories that may be meant where none was named
	Scope      flows.Scope

	IterationCount int // passes of the planner
	MaxIterations  int
	NextAction     Action
	Retried        bool // in this pass

	ReasoningSteps  []string // of all passes, in their order
	StepsLeftOut    int      // steps of a model with a number, a name or code that no source has
	ReflectionNotes []string
	ToolUsage       []ToolUse

	Name, Commit, Web string
	RepoStructure     *analysis.Structure
	Dependencies      *analysis.Dependencies
	Architecture      *analysis.Architecture
	CodeFiles         []analysis.CodeFile
	WantedFiles       []string // that a model asked for, the newest last
	Evidence          []Passage
	// Wanted is the dependency that all repositories are searched for, nil for none.
	Wanted   *manifest.Wanted
	Searched []report.Searched

	Sections         []report.Section
	LeftOut          int    // statements of Sections that their sources don't bear out
	ByModel          bool   // a model judged those of Sections
	FinalOutput      string // Markdown
	IsComplete       bool
	EvaluationScores Scores
	Failure          string // why the task can't be done, in words for people

	Models    []flows.ModelUse
	Notes     []string
	StartTime time.Time
}

var (
	requestID      = graph.Replace("request_id", func(s *State) *string { return &s.RequestID })
	task           = graph.Replace("task", func(s *State) *string { return &s.Task })
	taskType       = graph.Replace("task_type", func(s *State) *TaskType { return &s.TaskType })
	repositoryName = graph.Replace("repository", func(s *State) *string { return &s.Repository })
	scope          = graph.Replace("scope", func(s *State) *flows.Scope { return &s.Scope })

	iterationCount = graph.Replace("iteration_count", func(s *State) *int { return &s.IterationCount })
	maxIterations  = graph.Replace("max_iterations", func(s *State) *int { return &s.MaxIterations })
	nextAction     = graph.Replace("next_action", func(s *State) *Action { return &s.NextAction })
	retried        = graph.Replace("retried", func(s *State) *bool { return &s.Retried })

	reasoningSteps  = graph.Append("reasoning_steps", func(s *State) *[]string { return &s.ReasoningSteps })
	stepsLeftOut    = graph.Replace("steps_left_out", func(s *State) *int { return &s.StepsLeftOut })
	reflectionNotes = graph.Append("reflection_notes", func(s *State) *[]string { return &s.ReflectionNotes })
	toolUsage       = graph.Append("tool_usage", func(s *State) *[]ToolUse { return &s.ToolUsage })

	name          = graph.Replace("name", func(s *State) *string { return &s.Name })
	commit        = graph.Replace("commit", func(s *State) *string { return &s.Commit })
	web           = graph.Replace("web", func(s *State) *string { return &s.Web })
	repoStructure = graph.Replace("repo_structure", func(s *State) **analysis.Structure { return &s.RepoStructure })
	dependencies  = graph.Replace("dependencies", func(s *State) **analysis.Dependencies { return &s.Dependencies })
	architecture  = graph.Replace("architecture", func(s *State) **analysis.Architecture { return &s.Architecture })
	codeFiles     = graph.Replace("code_files", func(s *State) *[]analysis.CodeFile { return &s.CodeFiles })
	wantedFiles   = graph.Append("wanted", func(s *State) *[]string { return &s.WantedFiles })
	evidence      = graph.Replace("evidence", func(s *State) *[]Passage { return &s.Evidence })
	recentNames   = graph.Replace("recent", func(s *State) *[]string { return &s.Recent })
	dependency    = graph.Replace("wanted_dependency", func(s *State) **manifest.Wanted { return &s.Wanted })
	searched      = graph.Replace("searched", func(s *State) *[]report.Searched { return &s.Searched })

	sections         = graph.Replace("sections", func(s *State) *[]report.Section { return &s.Sections })
	leftOut          = graph.Replace("left_out", func(s *State) *int { return &s.LeftOut })
	byModel          = graph.Replace("by_model", func(s *State) *bool { return &s.ByModel })
	finalOutput      = graph.Replace("final_output", func(s *State) *string { return &s.FinalOutput })
	isComplete       = graph.Replace("is_complete", func(s *State) *bool { return &s.IsComplete })
	evaluationScores = graph.Replace("evaluation_scores", func(s *State) *Scores { return &s.EvaluationScores })
	failure          = graph.Replace("failure", func(s *State) *string { return &s.Failure })

	modelUses = graph.Append("models", func(s *State) *[]flows.ModelUse { return &s.Models })
	notes     = graph.Append("notes", func(s *State) *[]string { return &s.Notes })
	startTime = graph.Replace("start_time", func(s *State) *time.Time { return &s.StartTime })
)

var fields = []graph.FieldSpec[State]{
	requestID, task, taskType, repositoryName, scope,
	iterationCount, maxIterations, nextAction, retried,
	reasoningSteps, stepsLeftOut, reflectionNotes, toolUsage,
	name, commit, web, repoStructure, dependencies, architecture, codeFiles, wantedFiles, evidence, recentNames, dependency, searched,
	sections, leftOut, byModel, finalOutput, isComplete, evaluationScores, failure,
	modelUses, notes, startTime,
}
