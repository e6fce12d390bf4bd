package buildcontext

import (
	"strings"
	"time"
	"unicode"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// State is what the graph works on. The names of its fields are part of the flow's
// contract: they stand in checkpoints and traces.
type State struct {
	RequestID     string
	UserInput     string
	SystemName    string
	InputLocation flows.Location
	Scope         flows.Scope
	Attachments   []flows.Attachment // until they were read
	CurrentFlow   string

	Inputs    map[string]string   // texts by the names of their documents
	Documents []document.Document // what Inputs are made of
	Skipped   []string            // documents that were not read, and why
	Failure   string              // why there is no overview, in words for people

	ContextOutputContent  string // Markdown
	ContextOutputFileName string // "payment-service_context.md"
	Sources               []flows.SourceGroup
	Summary               string // of the content, for the thread
	Note                  string
	Evidence              []flows.Candidate // the passages of the index that it was made from

	Models    []flows.ModelUse
	Notes     []string
	StartTime time.Time
}

var (
	requestID     = graph.Replace("request_id", func(s *State) *string { return &s.RequestID })
	userInput     = graph.Replace("user_input", func(s *State) *string { return &s.UserInput })
	systemName    = graph.Replace("system_name", func(s *State) *string { return &s.SystemName })
	inputLocation = graph.Replace("input_location", func(s *State) *flows.Location { return &s.InputLocation })
	scope         = graph.Replace("scope", func(s *State) *flows.Scope { return &s.Scope })
	attachments   = graph.Replace("attachments", func(s *State) *[]flows.Attachment { return &s.Attachments })
	currentFlow   = graph.Replace("current_flow", func(s *State) *string { return &s.CurrentFlow })

	inputs    = graph.Merge("inputs", func(s *State) *map[string]string { return &s.Inputs })
	documents = graph.Replace("documents", func(s *State) *[]document.Document { return &s.Documents })
	skipped   = graph.Replace("skipped", func(s *State) *[]string { return &s.Skipped })
	failure   = graph.Replace("failure", func(s *State) *string { return &s.Failure })

	contextOutputContent  = graph.Replace("context_output_content", func(s *State) *string { return &s.ContextOutputContent })
	contextOutputFileName = graph.Replace("context_output_file_name", func(s *State) *string { return &s.ContextOutputFileName })
	sources               = graph.Replace("sources", func(s *State) *[]flows.SourceGroup { return &s.Sources })
	summary               = graph.Replace("summary", func(s *State) *string { return &s.Summary })
	note                  = graph.Replace("note", func(s *State) *string { return &s.Note })
	evidenceList          = graph.Replace("evidence", func(s *State) *[]flows.Candidate { return &s.Evidence })

	modelUses = graph.Append("models", func(s *State) *[]flows.ModelUse { return &s.Models })
	notes     = graph.Append("notes", func(s *State) *[]string { return &s.Notes })
	startTime = graph.Replace("start_time", func(s *State) *time.Time { return &s.StartTime })
)

var fields = []graph.FieldSpec[State]{
	requestID, userInput, systemName, inputLocation, scope, attachments, currentFlow,
	inputs, documents, skipped, failure,
	contextOutputContent, contextOutputFileName, sources, summary, note, evidenceList,
	modelUses, notes, startTime,
}

// maxSystemName is the length of a system's name, in characters.
const maxSystemName = 100

// systemNameOf makes a name of what a person wrote: "the Payment service." is Payment
// service.
func systemNameOf(text string) string {
	name := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	name = strings.Trim(name, " .,:;?!\"'`")
	if word, rest, found := strings.Cut(name, " "); found && strings.EqualFold(word, "the") {
		name = rest
	}
	return shorten.Head(name, maxSystemName)
}
