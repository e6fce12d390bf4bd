package page

import (
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/tools"
)

// Proposal is a change that a person asked for and has not decided about. The changed page is
// made of it anew each time, so that a checkpoint stays small.
type Proposal struct {
	Verb   Verb         `json:"verb"`
	Page   pages.PageID `json:"page"`
	Base   int          `json:"base"`             // the version that the person saw
	Title  string       `json:"title"`            // the page's, before
	Block  string       `json:"block,omitempty"`  // of replace
	Text   string       `json:"text,omitempty"`   // Markdown, or the new title
	Number int          `json:"number,omitempty"` // of restore and undo: the version
	// Edits and Owner are of a correction: Text quotes the messages that it rests on.
	Edits []pages.TextEdit `json:"edits,omitempty"`
	Owner string           `json:"owner,omitempty"` // who made the page, "" where that is not known
	// Files and Body are of a merge request: Text is the question, Body what the request says.
	Files []FileEdit `json:"files,omitempty"`
	Body  string     `json:"body,omitempty"`
}

// Round is one reply of the language model, with the calls of tools in it.
type Round struct {
	Text  string `json:"text,omitempty"`
	Calls []Made `json:"calls"`
}

// Made is a call of a tool, and what came of it.
type Made struct {
	tools.Call
	Done   bool       `json:"done,omitempty"`
	Result string     `json:"result,omitempty"`
	Code   tools.Code `json:"code,omitempty"` // why it was refused; "" where it was applied
}

// State is what the graph works on. The names of its fields are part of the flow's contract.
type State struct {
	RequestID string
	UserInput string
	Room      flows.Room
	Said      []flows.Said // in the thread, before the bot was called in
	History   []flows.Turn
	Made      []flows.Made // the document that is to be kept; none where the request keeps none

	Proposal  *Proposal
	Decision  Decision
	Conflicts []merge.Conflict
	Resolve   merge.Choice

	Rounds  []Round        // of the language model's work
	Names   []tools.Naming // that versions get and lose
	Closing string         // what the model says of it, or why it ended early; Markdown
	Ended   bool           // the model's work is over
	Models  []flows.ModelUse

	Undoable  bool   // Output tells of a change that can be taken back
	Output    string // Markdown; the run ends once there is one
	Failed    bool   // Output says why nothing was done
	Files     []flows.File
	Notes     []string
	StartTime time.Time
}

var (
	requestID = graph.Replace("request_id", func(s *State) *string { return &s.RequestID })
	userInput = graph.Replace("user_input", func(s *State) *string { return &s.UserInput })
	room      = graph.Replace("room", func(s *State) *flows.Room { return &s.Room })
	said      = graph.Replace("said", func(s *State) *[]flows.Said { return &s.Said })
	history   = graph.Replace("history", func(s *State) *[]flows.Turn { return &s.History })

	made = graph.Replace("made", func(s *State) *[]flows.Made { return &s.Made })

	proposal  = graph.Replace("proposal", func(s *State) **Proposal { return &s.Proposal })
	decision  = graph.Replace("decision", func(s *State) *Decision { return &s.Decision })
	conflicts = graph.Replace("conflicts", func(s *State) *[]merge.Conflict { return &s.Conflicts })
	resolve   = graph.Replace("resolve", func(s *State) *merge.Choice { return &s.Resolve })

	rounds  = graph.Replace("rounds", func(s *State) *[]Round { return &s.Rounds })
	names   = graph.Replace("names", func(s *State) *[]tools.Naming { return &s.Names })
	closing = graph.Replace("closing", func(s *State) *string { return &s.Closing })
	ended   = graph.Replace("ended", func(s *State) *bool { return &s.Ended })
	models  = graph.Append("model_uses", func(s *State) *[]flows.ModelUse { return &s.Models })

	undoable  = graph.Replace("undoable", func(s *State) *bool { return &s.Undoable })
	output    = graph.Replace("output", func(s *State) *string { return &s.Output })
	failed    = graph.Replace("failed", func(s *State) *bool { return &s.Failed })
	files     = graph.Replace("files", func(s *State) *[]flows.File { return &s.Files })
	notes     = graph.Append("notes", func(s *State) *[]string { return &s.Notes })
	startTime = graph.Replace("start_time", func(s *State) *time.Time { return &s.StartTime })
)

var fields = []graph.FieldSpec[State]{
	requestID, userInput, room, said, history, made,
	proposal, decision, conflicts, resolve, rounds, names, closing, ended, models,
	undoable, output, failed, files, notes, startTime,
}
