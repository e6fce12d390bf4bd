package answer

import (
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// Intent is what kind of answer a question wants.
type Intent string

// The intents that query_understanding tells apart.
const (
	Definition      Intent = "definition"
	HowTo           Intent = "how-to"
	Troubleshooting Intent = "troubleshooting"
	Lookup          Intent = "lookup"
	Comparison      Intent = "comparison"
	List            Intent = "list"
	Summary         Intent = "summary"
	Greeting        Intent = "greeting" // asks the documents nothing, as Thanks
	Thanks          Intent = "thanks"
)

// Strategy is how the searches of a question depend on each other.
type Strategy string

// Parallel searches are independent; a sequential one needs an earlier result; in a
// hybrid the first pass decides whether there is a second.
const (
	Parallel   Strategy = "parallel"
	Sequential Strategy = "sequential"
	Hybrid     Strategy = "hybrid"
)

// Relation is how the searches that a question needs depend on each other.
type Relation string

// One search, several that don't need each other, one whose words another has to find first, or
// one for each message of a pasted text.
const (
	One         Relation = "one"
	Independent Relation = "independent"
	Pasted      Relation = "pasted"
	Dependent   Relation = "dependent"
)

// State is what the graph works on. The names of its fields are part of the flow's
// contract: they stand in checkpoints and traces.
type State struct {
	RequestID     string
	OriginalQuery string // as the person typed it
	Query         string // whole: shorthand written out, what a follow-up leans on added
	History       []flows.Turn
	Attachments   []flows.Attachment // data that came with the question
	Live          []LiveFinding      // what was found by live searches
	Before        []flows.Said       // what others said, that the question may lean on
	Asks          *graph.Question    // put to the person first; nil: nothing is
	Depth         flows.Depth
	ReadIn        string // what shows the answer, as flows.Request names it
	Filter        index.Filter

	NormalizedQuery  string   // what the question is about: its telling words, in small letters
	ExpandedKeywords []string // words also looked for
	Parts            []string // questions that Query consists of, where there are several
	Terms            []index.Term
	Profile          support.Profile // the question's telling terms and how rare they are
	Around           []support.Term  // words of the thread that a follow-up leans on
	Intent           Intent
	Relation         Relation
	FollowUp         bool
	Abbreviation     string   // what the documents say an abbreviation in the question stands for
	Unresolved       string   // a referent that neither question nor thread gives: "it"
	Unclear          string   // the question back that a model puts
	UnclearChoices   []string // that it offers with it
	IsBroadSubject   bool     // several documents are about its few words, as far as the first search tells
	Reading          string   // what the person chose or wrote when asked back

	Verdict Verdict // what is done about the question, before the person was asked

	ProcessingStrategy Strategy
	StrategyReason     string

	SearchResults         []retrieve.Evidence
	AnalysisResults       Analysis
	CategorizationResults []flows.SourceGroup
	ResponseResults       Draft

	Answer         string
	Note           string
	Abstained      bool
	Cited          []citation // in the order of their numbers
	Sources        []flows.Source
	GroupedSources []flows.SourceGroup
	Queries        []flows.Query
	Models         []flows.ModelUse
	Agents         []flows.AgentUse // one entry for the requests that a node makes in one go
	Inputs         []flows.Input
	Degraded       []string // what the answer had to do without, for people
	Notes          []string

	Errors         []string // why the first search or the processing failed for good
	RetryCount     int
	MaxRetries     int
	StartTime      time.Time
	ProcessingTime time.Duration
	AgentTimes     map[string]float64 // seconds by agent
}

// Analysis is how well the evidence bears on the question.
type Analysis struct {
	Coverage float64  `json:"coverage"` // of the question's telling terms, by the best passage, 0 to 1
	Dense    float64  `json:"dense"`    // best cosine
	Spread   float64  `json:"spread"`   // how evenly the evidence lies over different documents, 0 to 1
	Missing  []string `json:"missing"`  // telling terms that no passage of the evidence holds
}

// Draft is an answer before it is verified: sentences quoted, or a text that a model
// wrote.
type Draft struct {
	Sentences []Sentence `json:"sentences,omitempty"`
	Written   string     `json:"written,omitempty"` // Markdown; [n] cites Shown[n-1]
	Shown     []int      `json:"shown,omitempty"`   // positions in SearchResults
	// Joined are, by such a position, those of the other passages that stood in its source.
	Joined map[int][]int `json:"joined,omitempty"`
	Model  string        `json:"model,omitempty"` // that wrote it
	Cut    bool          `json:"cut,omitempty"`   // the model's limit ended it
	// Fallback says why a configured model wrote nothing.
	Fallback string `json:"fallback,omitempty"`
}

// Sentence is one quoted statement and where it stands.
type Sentence struct {
	Text     string  `json:"text"`
	Evidence int     `json:"evidence"` // position in SearchResults
	Score    float64 `json:"score"`
	Position int     `json:"position"` // order within its passage
	Block    bool    `json:"block"`    // code, a table row or a list item: stands on lines of its own
}

var (
	requestID        = graph.Replace("request_id", func(s *State) *string { return &s.RequestID })
	originalQuery    = graph.Replace("original_query", func(s *State) *string { return &s.OriginalQuery })
	query            = graph.Replace("query", func(s *State) *string { return &s.Query })
	history          = graph.Replace("history", func(s *State) *[]flows.Turn { return &s.History })
	liveFindings     = graph.Replace("live_findings", func(s *State) *[]LiveFinding { return &s.Live })
	attachments      = graph.Replace("attachments", func(s *State) *[]flows.Attachment { return &s.Attachments })
	before           = graph.Replace("before", func(s *State) *[]flows.Said { return &s.Before })
	asks             = graph.Replace("asks", func(s *State) **graph.Question { return &s.Asks })
	depth            = graph.Replace("depth", func(s *State) *flows.Depth { return &s.Depth })
	readIn           = graph.Replace("read_in", func(s *State) *string { return &s.ReadIn })
	filter           = graph.Replace("filter", func(s *State) *index.Filter { return &s.Filter })
	normalizedQuery  = graph.Replace("normalized_query", func(s *State) *string { return &s.NormalizedQuery })
	expandedKeywords = graph.Replace("expanded_keywords", func(s *State) *[]string { return &s.ExpandedKeywords })
	parts            = graph.Replace("parts", func(s *State) *[]string { return &s.Parts })
	terms            = graph.Replace("terms", func(s *State) *[]index.Term { return &s.Terms })
	profile          = graph.Replace("profile", func(s *State) *support.Profile { return &s.Profile })
	around           = graph.Replace("around", func(s *State) *[]support.Term { return &s.Around })
	intent           = graph.Replace("intent", func(s *State) *Intent { return &s.Intent })
	relation         = graph.Replace("relation", func(s *State) *Relation { return &s.Relation })
	unclear          = graph.Replace("unclear", func(s *State) *string { return &s.Unclear })
	unclearChoices   = graph.Replace("unclear_choices", func(s *State) *[]string { return &s.UnclearChoices })
	followUp         = graph.Replace("follow_up", func(s *State) *bool { return &s.FollowUp })
	abbreviation     = graph.Replace("abbreviation", func(s *State) *string { return &s.Abbreviation })
	unresolved       = graph.Replace("unresolved", func(s *State) *string { return &s.Unresolved })
	isBroadSubject   = graph.Replace("is_broad_subject", func(s *State) *bool { return &s.IsBroadSubject })
	reading          = graph.Replace("reading", func(s *State) *string { return &s.Reading })

	verdict            = graph.Replace("verdict", func(s *State) *Verdict { return &s.Verdict })
	processingStrategy = graph.Replace("processing_strategy", func(s *State) *Strategy { return &s.ProcessingStrategy })
	strategyReason     = graph.Replace("strategy_reason", func(s *State) *string { return &s.StrategyReason })

	searchResults         = graph.Replace("search_results", func(s *State) *[]retrieve.Evidence { return &s.SearchResults })
	analysisResults       = graph.Replace("analysis_results", func(s *State) *Analysis { return &s.AnalysisResults })
	categorizationResults = graph.Replace("categorization_results", func(s *State) *[]flows.SourceGroup { return &s.CategorizationResults })
	responseResults       = graph.Replace("response_results", func(s *State) *Draft { return &s.ResponseResults })

	answerText     = graph.Replace("answer", func(s *State) *string { return &s.Answer })
	note           = graph.Replace("note", func(s *State) *string { return &s.Note })
	abstained      = graph.Replace("abstained", func(s *State) *bool { return &s.Abstained })
	citations      = graph.Replace("citations", func(s *State) *[]citation { return &s.Cited })
	sources        = graph.Replace("sources", func(s *State) *[]flows.Source { return &s.Sources })
	groupedSources = graph.Replace("grouped_sources", func(s *State) *[]flows.SourceGroup { return &s.GroupedSources })
	queries        = graph.Append("queries", func(s *State) *[]flows.Query { return &s.Queries })
	modelUses      = graph.Append("models", func(s *State) *[]flows.ModelUse { return &s.Models })
	agentUses      = graph.Append("agents", func(s *State) *[]flows.AgentUse { return &s.Agents })
	inputs         = graph.Replace("inputs", func(s *State) *[]flows.Input { return &s.Inputs })
	degraded       = graph.Append("degraded", func(s *State) *[]string { return &s.Degraded })
	notes          = graph.Append("notes", func(s *State) *[]string { return &s.Notes })

	stateErrors    = graph.Append("errors", func(s *State) *[]string { return &s.Errors })
	retryCount     = graph.Replace("retry_count", func(s *State) *int { return &s.RetryCount })
	maxRetries     = graph.Replace("max_retries", func(s *State) *int { return &s.MaxRetries })
	startTime      = graph.Replace("start_time", func(s *State) *time.Time { return &s.StartTime })
	processingTime = graph.Replace("processing_time", func(s *State) *time.Duration { return &s.ProcessingTime })
	agentTimes     = graph.Merge("agent_times", func(s *State) *map[string]float64 { return &s.AgentTimes })
)

// fields is everything a checkpoint holds.
var fields = []graph.FieldSpec[State]{
	requestID, originalQuery, query, history, attachments, liveFindings, before, asks, depth, readIn, filter,
	normalizedQuery, expandedKeywords, parts, terms, profile, around, intent, relation, unclear, unclearChoices, followUp, abbreviation, unresolved, isBroadSubject, reading,
	verdict, processingStrategy, strategyReason,
	searchResults, analysisResults, categorizationResults, responseResults,
	answerText, note, abstained, citations, sources, groupedSources, queries, modelUses, agentUses, inputs, degraded, notes,
	stateErrors, retryCount, maxRetries, startTime, processingTime, agentTimes,
}
