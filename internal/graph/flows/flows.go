// Package flows is the contract between the bot and what it can do: a Flow is one
// graph with typed state that turns a request into one outcome, asking a person on
// the way if it must. Each flow is a package below this one.
package flows

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Flow is one registered graph. Its methods may be called concurrently for
// different runs.
type Flow interface {
	Name() string
	Shape() graph.Shape
	// Start runs a new request. An error means that the run stopped where its last
	// checkpoint says and can be resumed.
	Start(ctx context.Context, request Request, runtime Runtime) (Outcome, error)
	// Resume goes on with a run that was asked or died; answers may be empty.
	Resume(ctx context.Context, run string, answers []graph.Answer, runtime Runtime) (Outcome, error)
}

// Runtime is what a run is given by whoever starts it.
type Runtime struct {
	Store    graph.Store       // nil: the run can't be resumed
	SkipLast bool              // as in graph.Options
	Observe  func(graph.Event) // may be nil
	// ShowStep is told of the research steps of a flow that names its own: these are shown
	// then, and its nodes are not. It is called by Observe's caller, before that. May be nil.
	ShowStep func(ResearchStep)
}

// Options are those of the engine, for a run that is observed by observe.
func (r Runtime) Options(observe func(graph.Event)) graph.Options {
	return graph.Options{Store: r.Store, SkipLast: r.SkipLast, Observe: observe}
}

// Request is what a person asked for, with what they may see.
type Request struct {
	Run     string
	Text    string
	History []Turn // of the thread, oldest first
	Depth   Depth  // empty: Detailed
	Filter  Scope
	// Attachments are the files that came with the message, as text; the bot bounds them.
	// They are data that a person gave: never instructions.
	Attachments []Attachment
	// Before is what people said in the thread until the bot was called in, and what the
	// message passes on or replies to, oldest first. It is data, like Attachments.
	Before []Said
	// Asks is put to the person before the flow decides anything; nil: nothing is. It offers
	// choices or takes free text.
	Asks *graph.Question
	// ReadIn is what shows the answer: "slack", "discord", "terminal", "web"; "" is not known.
	ReadIn string
	// Room is where the request was made, for flows that keep something there.
	Room Room
	// Made are the Markdown documents that runs of the thread made, the latest first; of requests to
	// flows that keep something alone.
	Made []Made
	// Location is where the documents are that the run reads. The zero one is read from
	// Text by those flows that read documents, see ParseLocation.
	Location Location
}

// Made is a document that a run made.
type Made struct {
	Run  string `json:"run"`
	File File   `json:"file"`
}

// Room is where a request was made, and by whom.
type Room struct {
	Thread  string `json:"thread"`
	Channel string `json:"channel,omitempty"` // what its threads share; "" for none
	Author  string `json:"author,omitempty"`  // as the adapter knows them
	// Audience is whom the room is for: what is kept there is for them. "" is everybody.
	Audience knowledge.Audience `json:"audience,omitempty"`
}

// Attachment is a file as part of a question.
type Attachment struct {
	Name string `json:"name"` // "invoice.pdf"
	Text string `json:"text"`
}

// Said is a message of others that a question leans on.
type Said struct {
	Author string `json:"author,omitempty"`
	Text   string `json:"text"`
	App    bool   `json:"app,omitempty"`    // a program wrote it
	Self   bool   `json:"self,omitempty"`   // the bot wrote it
	Shared bool   `json:"shared,omitempty"` // the message passes it on, or replies to it
}

// KindAttachment groups the files that came with the message, where an answer cites them.
const KindAttachment knowledge.Kind = "attachment"

// Scope limits what a run may read, beside its viewers, who come with the context of Start
// and Resume (knowledge.WithViewers): they are found out anew each time, and never stored.
type Scope struct {
	Sources []knowledge.SourceID // empty: all
}

// Turn is an earlier message of the thread.
type Turn struct {
	Role string `json:"role"` // User or Assistant
	Text string `json:"text"`
	// Cited are the passages that the bot's turn cites, in the order of their numbers.
	Cited []knowledge.PassageID `json:"cited,omitempty"`
}

// The roles of a turn.
const (
	User      = "user"
	Assistant = "assistant"
)

// Depth is how much an answer says.
type Depth string

// The depths, from a sentence or two to everything that was found.
const (
	Brief         Depth = "brief"
	Detailed      Depth = "detailed"
	Comprehensive Depth = "comprehensive"
)

// Kind is how a run ended, or that it waits.
type Kind string

// A run answers, abstains because nothing supports an answer, or asks and waits.
const (
	Answered  Kind = "answered"
	Abstained Kind = "abstained"
	Asked     Kind = "asked"
)

// Outcome is what a run has to say.
type Outcome struct {
	Kind     Kind
	Text     string // Markdown with [n] marks; the question's text for Asked
	Note     string // one short line about the answer as a whole
	Groups   []SourceGroup
	Question *graph.Question // for Asked
	Files    []File          // that go with the reply
	// Undoable tells that the run changed a page, which can be taken back.
	Undoable bool
	// Scores are how the run did by its flow's own rubric, each of 100; nil where it has none.
	Scores map[string]float64
	Trace  Trace
}

// File is a document that a run made, at most MaxFile bytes of it.
type File struct {
	Name      string // without a folder: "risks_analysis.md"
	MediaType string // "text/markdown; charset=utf-8"
	Content   []byte
}

// MaxFile is the size of a File, in bytes.
const MaxFile = 512 << 10

// SourceGroup is the sources of one category, the most used first.
type SourceGroup struct {
	Kind    knowledge.Kind `json:"kind"`
	Sources []Source       `json:"sources"`
}

// Source is one document and the places in it that the answer rests on.
type Source struct {
	Document knowledge.DocumentID `json:"document"`
	Title    string               `json:"title"`
	Path     string               `json:"path"`
	Owner    string               `json:"owner,omitempty"`
	Modified time.Time            `json:"modified"`
	State    knowledge.State      `json:"state"`
	Sections []Section            `json:"sections"`
}

// Section is one cited place; Number is its [n] in the answer, 0 where the answer
// does not cite it.
type Section struct {
	Number  int    `json:"number,omitempty"`
	Heading string `json:"heading"`
	Anchor  string `json:"anchor"`
	URL     string `json:"url"`
	Rank    int    `json:"rank"` // 1-based place in the retriever's order
	// Passage is the passage of the index that was cited (knowledge.Passage.Reference), "" for
	// a place that is none.
	Passage string `json:"passage,omitempty"`
}

// Trace is how an outcome came about, for people who ask why.
type Trace struct {
	Steps    []Step        `json:"steps"`
	Queries  []Query       `json:"queries"`
	Evidence []Candidate   `json:"evidence"`
	Agents   []AgentUse    `json:"agents,omitempty"`
	Models   []ModelUse    `json:"models,omitempty"`
	Inputs   []Input       `json:"inputs,omitempty"` // what asking and abstaining were decided from
	Notes    []string      `json:"notes"`            // decisions and their reasons
	Took     time.Duration `json:"took"`
}

// Step is a node that the run passed.
type Step struct {
	Node string        `json:"node"`
	Took time.Duration `json:"took"`
}

// AgentUse is what one agent did for a run.
type AgentUse struct {
	Name     string        `json:"name"`
	Requests int           `json:"requests"`
	Failures int           `json:"failures,omitempty"`
	Took     time.Duration `json:"took"` // of all its requests together
}

// ModelUse is one request to a language model. It holds no text.
type ModelUse struct {
	Role       string        `json:"role"` // what the flow asked it for: "understand", "answer", "verify", "read", "combine"
	Model      string        `json:"model"`
	Prompt     int           `json:"prompt"`     // tokens
	Completion int           `json:"completion"` // tokens
	Cost       float64       `json:"cost,omitempty"`
	Took       time.Duration `json:"took"`
	FirstToken time.Duration `json:"first_token,omitempty"`
	Failure    string        `json:"failure,omitempty"`
}

// Input is a number that a decision was taken from.
type Input struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Limit   float64 `json:"limit"`             // what Value was compared with
	Decided bool    `json:"decided,omitempty"` // it tipped the scale
}

// Query is one search.
type Query struct {
	Text    string        `json:"text"`
	Used    []string      `json:"used"`
	Pruned  []string      `json:"pruned,omitempty"`
	Lexical int           `json:"lexical"`
	Dense   int           `json:"dense"`
	Took    time.Duration `json:"took"`
}

// Candidate is one passage that was considered, best first.
type Candidate struct {
	Passage knowledge.PassageID `json:"passage"`
	Title   string              `json:"title"`
	Path    string              `json:"path"`
	Section string              `json:"section"`
	Anchor  string              `json:"anchor"`
	Score   float64             `json:"score"`
	Lexical float64             `json:"lexical"`
	Dense   float64             `json:"dense"`
	Kept    bool                `json:"kept"`
	// Hash is the passage's, as it was read; Audience whom its document is for.
	Hash     string             `json:"hash,omitempty"`
	Audience knowledge.Audience `json:"audience,omitempty"`
}
