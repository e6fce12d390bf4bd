package inspect

import (
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/inspect/webcode"
)

// Information is what a person wants to know.
type Information string

// What a question may want to know.
const (
	AboutLocation   Information = "location"
	AboutBehaviour  Information = "behaviour" // what happens on an action
	AboutEvents     Information = "events"
	AboutStyles     Information = "styles"
	AboutProperties Information = "properties"
	AboutRequests   Information = "requests"   // which fail, and why
	AboutTheme      Information = "theme"      // what all widgets of a kind look like
	AboutNavigation Information = "navigation" // how to get to a page
	AboutOwners     Information = "owners"     // who owns the code
	AboutPress      Information = "press"      // what happened when a control was pressed
)

// Selected stands for the widget that is selected in the app, as a widget's reference.
const Selected = "selected"

// QueryAnalysis is what a question is about.
type QueryAnalysis struct {
	WidgetReference   string        `json:"widget_reference"` // Selected, a name or a caption; "" where no widget is meant
	Action            string        `json:"action"`           // "tap", "change"; "" for none
	InformationNeeded []Information `json:"information_needed"`
	ExecutionPlan     []string      `json:"execution_plan"`
	// Page is the page that the question names, and Target the one that it wants to get to.
	Page   string `json:"page,omitempty"`
	Target string `json:"target,omitempty"`
	// WidgetKind is a kind of widget, such as "button", and Value a kind of style, such as
	// "color", that the question is about.
	WidgetKind string `json:"widget_kind,omitempty"`
	Value      string `json:"value,omitempty"`
	// Except is the widget that was spoken of before, where the question is about the other one of
	// its kind.
	Except string `json:"except,omitempty"`
}

// SelectedWidget is the widget that a question is about, as the app has it.
type SelectedWidget struct {
	WidgetID   string             `json:"widget_id"`
	WidgetName string             `json:"widget_name"`
	Properties []inspect.Property `json:"properties"`
	Styles     []inspect.Style    `json:"styles"`
}

// PageState is what the app shows.
type PageState struct {
	PageName             string           `json:"page_name"`
	PageNameFrom         string           `json:"page_name_from,omitempty"` // what told the page's name
	ActivePageFromTabbar string           `json:"active_page_from_tabbar"`
	SelectedWidget       *SelectedWidget  `json:"selected_widget,omitempty"`
	ElementTree          *inspect.Element `json:"element_tree,omitempty"`
	Events               inspect.Events   `json:"events"`
	Live                 bool             `json:"live,omitempty"`    // a layer told of the app
	Failure              string           `json:"failure,omitempty"` // why the app could not be read
}

// Clarification is what a person has to tell before the run can go on.
type Clarification struct {
	Needed   bool   `json:"needed"`
	Question string `json:"question"`
}

// PageAnalysis is what the code of a page tells.
type PageAnalysis struct {
	FileRelations    []project.Relation `json:"file_relations"`
	WidgetLocations  []project.Location `json:"widget_locations"`
	EventHandlers    []project.Handler  `json:"event_handlers"`
	StyleMappings    []project.Style    `json:"style_mappings"`
	PropertyMappings []project.Property `json:"property_mappings"`
	Understanding    []Fact             `json:"understanding"`
	// Widget is the one that the question is about, "" where none is or none was found.
	Widget string `json:"widget,omitempty"`
}

// Fact is one statement with the place that it rests on.
type Fact struct {
	About Information `json:"about"`
	Text  string      `json:"text"` // Markdown, without links
	File  string      `json:"file,omitempty"`
	Line  int         `json:"line,omitempty"`
	Depth int         `json:"depth,omitempty"` // of what happens, as far as it is followed
}

// Problem is something that went wrong, with what was done about it.
type Problem struct {
	Step           string `json:"step"`
	Error          string `json:"error"`
	RecoveryAction string `json:"recovery_action"`
}

// ToolUse is one call of a file tool.
type ToolUse struct {
	Tool      string        `json:"tool"` // "find_files" or "read_file"
	Arguments string        `json:"arguments"`
	Result    string        `json:"result,omitempty"`
	Duration  time.Duration `json:"duration"`
	Error     string        `json:"error,omitempty"`
}

// State is what the graph works on. The names of its fields are part of the flow's contract:
// they stand in checkpoints and traces.
type State struct {
	RequestID string
	Query     string // what the person wrote, without the project's name
	Project   string // a folder or an address; "" where none is known
	Session   string // what was recorded of the app, as session.Encode writes it; "" for nothing
	Channel   Channel
	Previous  Previous

	QueryAnalysis     QueryAnalysis
	CurrentPageState  PageState
	UserClarification Clarification
	Rounds            int // of asking for the page
	Unknown           []string
	PageFiles         map[string]string
	PageAgentAnalysis PageAnalysis
	Errors            []Problem
	FinalAnswer       string

	Name, Commit, Web string
	Pages             []project.Page
	Shared            project.SharedFiles
	Page              *project.Page // that the question is about
	Parts             []project.Page
	WebPage           WebPage
	WebView           *browser.View
	WebTraces         []webcode.Trace // of WebView.AllHandlers
	Press             Press
	Owners            map[string][]string // of files of the project
	ToolUsage         []ToolUse
	ResearchSteps     map[StepID]flows.ResearchStatus
	Failure           string // why there is no answer, in words for people

	Models    []flows.ModelUse
	StartTime time.Time
}

// Channel is the channel of a relay that the app joined. The zero one is none.
type Channel struct {
	ID   string `json:"id,omitempty"`
	Host string `json:"host,omitempty"` // of the relay; "" for the configured one
}

// Previous is what the thread was about before.
type Previous struct {
	Widget string `json:"widget,omitempty"`
	Page   string `json:"page,omitempty"`
}

var (
	requestID = graph.Replace("request_id", func(s *State) *string { return &s.RequestID })
	query     = graph.Replace("query", func(s *State) *string { return &s.Query })
	folder    = graph.Replace("project", func(s *State) *string { return &s.Project })
	recorded  = graph.Replace("session", func(s *State) *string { return &s.Session })
	channel   = graph.Replace("channel", func(s *State) *Channel { return &s.Channel })
	previous  = graph.Replace("previous", func(s *State) *Previous { return &s.Previous })

	queryAnalysis     = graph.Replace("query_analysis", func(s *State) *QueryAnalysis { return &s.QueryAnalysis })
	currentPageState  = graph.Replace("current_page_state", func(s *State) *PageState { return &s.CurrentPageState })
	userClarification = graph.Replace("user_clarification", func(s *State) *Clarification { return &s.UserClarification })
	rounds            = graph.Replace("rounds", func(s *State) *int { return &s.Rounds })
	unknownPages      = graph.Append("unknown_pages", func(s *State) *[]string { return &s.Unknown })
	pageFiles         = graph.Replace("page_files", func(s *State) *map[string]string { return &s.PageFiles })
	pageAgentAnalysis = graph.Replace("page_agent_analysis", func(s *State) *PageAnalysis { return &s.PageAgentAnalysis })
	problems          = graph.Append("errors", func(s *State) *[]Problem { return &s.Errors })
	finalAnswer       = graph.Replace("final_answer", func(s *State) *string { return &s.FinalAnswer })

	name          = graph.Replace("name", func(s *State) *string { return &s.Name })
	commit        = graph.Replace("commit", func(s *State) *string { return &s.Commit })
	web           = graph.Replace("web", func(s *State) *string { return &s.Web })
	pages         = graph.Replace("pages", func(s *State) *[]project.Page { return &s.Pages })
	shared        = graph.Replace("shared", func(s *State) *project.SharedFiles { return &s.Shared })
	chosenPage    = graph.Replace("page", func(s *State) **project.Page { return &s.Page })
	parts         = graph.Replace("parts", func(s *State) *[]project.Page { return &s.Parts })
	webPage       = graph.Replace("web_page", func(s *State) *WebPage { return &s.WebPage })
	webView       = graph.Replace("web_view", func(s *State) **browser.View { return &s.WebView })
	webTraces     = graph.Replace("web_traces", func(s *State) *[]webcode.Trace { return &s.WebTraces })
	press         = graph.Replace("press", func(s *State) *Press { return &s.Press })
	fileOwners    = graph.Replace("owners", func(s *State) *map[string][]string { return &s.Owners })
	toolUsage     = graph.Append("tool_usage", func(s *State) *[]ToolUse { return &s.ToolUsage })
	researchSteps = graph.Merge("research_steps", func(s *State) *map[StepID]flows.ResearchStatus { return &s.ResearchSteps })
	failure       = graph.Replace("failure", func(s *State) *string { return &s.Failure })

	modelUses = graph.Append("models", func(s *State) *[]flows.ModelUse { return &s.Models })
	startTime = graph.Replace("start_time", func(s *State) *time.Time { return &s.StartTime })
)

var fields = []graph.FieldSpec[State]{
	requestID, query, folder, recorded, channel, previous,
	queryAnalysis, currentPageState, userClarification, rounds, unknownPages, pageFiles, pageAgentAnalysis, problems, finalAnswer,
	name, commit, web, pages, shared, chosenPage, parts, webPage, webView, webTraces, press, fileOwners, toolUsage, researchSteps, failure,
	modelUses, startTime,
}
