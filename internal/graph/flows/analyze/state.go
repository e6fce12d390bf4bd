package analyze

import (
	"time"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// Turn is one entry of the analysis's history: a draft as it was shown, or what the person
// said to it.
type Turn struct {
	Role     string   `json:"role"` // flows.User or flows.Assistant
	Text     string   `json:"text"`
	Decision Decision `json:"decision,omitempty"` // of a User
}

// Draft is an analysis as it stands.
type Draft struct {
	Parts []evidence.Part `json:"parts"`
	Note  string          `json:"note"` // how it came about
	// Remark is what could not be done about the last feedback.
	Remark string `json:"remark,omitempty"`
}

// State is what the graph works on. The names of its fields are part of the flow's
// contract: they stand in checkpoints and traces.
type State struct {
	RequestID     string
	UserInput     string // what the person wrote, without the location: what the analysis is about
	InputLocation flows.Location
	Scope         flows.Scope
	Attachments   []flows.Attachment // until they were read

	Inputs    map[string]string   // texts by the names of their documents
	Documents []document.Document // what Inputs are made of
	Skipped   []string            // documents that were not read, and why
	Failure   string              // why there is nothing to analyse, in words for people

	AnalysisHistory      []Turn
	CurrentAnalysisQuery string // the question posed: the draft in short, and what can be done about it
	CurrentFlow          string
	Draft                Draft
	AnalysisOutput       string // Markdown, once the draft was approved
	OutputFileName       string
	Summary              string // of the output, for the thread
	Sources              []flows.SourceGroup
	Stopped              bool

	Models    []flows.ModelUse
	Notes     []string
	StartTime time.Time
}

var (
	requestID     = graph.Replace("request_id", func(s *State) *string { return &s.RequestID })
	userInput     = graph.Replace("user_input", func(s *State) *string { return &s.UserInput })
	inputLocation = graph.Replace("input_location", func(s *State) *flows.Location { return &s.InputLocation })
	scope         = graph.Replace("scope", func(s *State) *flows.Scope { return &s.Scope })
	attachments   = graph.Replace("attachments", func(s *State) *[]flows.Attachment { return &s.Attachments })

	inputs    = graph.Merge("inputs", func(s *State) *map[string]string { return &s.Inputs })
	documents = graph.Replace("documents", func(s *State) *[]document.Document { return &s.Documents })
	skipped   = graph.Replace("skipped", func(s *State) *[]string { return &s.Skipped })
	failure   = graph.Replace("failure", func(s *State) *string { return &s.Failure })

	analysisHistory      = graph.Append("analysis_history", func(s *State) *[]Turn { return &s.AnalysisHistory })
	currentAnalysisQuery = graph.Replace("current_analysis_query", func(s *State) *string { return &s.CurrentAnalysisQuery })
	currentFlow          = graph.Replace("current_flow", func(s *State) *string { return &s.CurrentFlow })
	draft                = graph.Replace("draft", func(s *State) *Draft { return &s.Draft })
	analysisOutput       = graph.Replace("analysis_output", func(s *State) *string { return &s.AnalysisOutput })
	outputFileName       = graph.Replace("output_file_name", func(s *State) *string { return &s.OutputFileName })
	summary              = graph.Replace("summary", func(s *State) *string { return &s.Summary })
	sources              = graph.Replace("sources", func(s *State) *[]flows.SourceGroup { return &s.Sources })
	stopped              = graph.Replace("stopped", func(s *State) *bool { return &s.Stopped })

	modelUses = graph.Append("models", func(s *State) *[]flows.ModelUse { return &s.Models })
	notes     = graph.Append("notes", func(s *State) *[]string { return &s.Notes })
	startTime = graph.Replace("start_time", func(s *State) *time.Time { return &s.StartTime })
)

var fields = []graph.FieldSpec[State]{
	requestID, userInput, inputLocation, scope, attachments,
	inputs, documents, skipped, failure,
	analysisHistory, currentAnalysisQuery, currentFlow, draft, analysisOutput, outputFileName, summary, sources, stopped,
	modelUses, notes, startTime,
}
