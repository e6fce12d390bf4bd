package chat

import "time"

// Trace is how an answer came about.
type Trace struct {
	Flow     string // whose graph the steps belong to
	Steps    []TraceStep
	Queries  []TraceQuery
	Evidence []TraceEvidence
	Agents   []TraceAgent
	Models   []TraceModel
	Inputs   []TraceInput  // what the decisions to ask and to abstain were taken from
	Notes    []string      // decisions and their reasons, in order
	Took     time.Duration // what the run worked, without its waits for people
}

// TraceStep is a node that a run passed, in the order in which they ended. A node that
// a run came to again is listed again: its last entry says how it stands.
type TraceStep struct {
	Node string // as in the flow's graph; "outer/inner" inside a nested one
	// Status is Completed, Failed, Skipped where the node was stopped in its work, or
	// Pending where it waits for an answer.
	Status StepStatus
	Took   time.Duration
}

// TraceQuery is one search that was made.
type TraceQuery struct {
	Text    string
	Used    []string // terms that were looked up
	Pruned  []string // terms that only scored
	Lexical int      // candidates found by words
	Dense   int      // candidates found by meaning
	Took    time.Duration
}

// TraceEvidence is a candidate passage, best first.
type TraceEvidence struct {
	Passage string // passage id
	Title   string
	Section string
	Path    string  `json:",omitempty"` // of the document, as its source has it
	Anchor  string  `json:",omitempty"` // of the section
	Score   float64 // fused, 0 to 1
	Lexical float64 // BM25
	Dense   float64 // cosine
	Kept    bool    // the answer was made from it
	// Access is why it may be shown where the answer is: "public", "group:legal".
	Access string `json:",omitempty"`
}

// TraceAgent is what one agent did for a run.
type TraceAgent struct {
	Name     string
	Requests int
	Failures int
	Took     time.Duration // of all its requests together
}

// TraceModel is one request to a language model. It holds no text.
type TraceModel struct {
	Role       string // "understand", "answer" or "verify"
	Model      string
	Prompt     int     // tokens
	Completion int     // tokens
	Cost       float64 // in the currency of the configured prices; 0 without prices
	Took       time.Duration
	FirstToken time.Duration // 0 where nothing was streamed
	Failure    string        // why it gave nothing, "" where it did
}

// TraceInput is a number that a decision was taken from.
type TraceInput struct {
	Name  string
	Value float64
	// Limit is what Value was compared with; Decided says that it tipped the scale.
	Limit   float64
	Decided bool
}
