package graph

import "time"

// EventKind says what happened.
type EventKind string

// The kinds of events, and the fields of Event that each sets beside Seq, Kind, Run
// and At.
const (
	RunStarted   EventKind = "run_started"   // Start or Resume begins to run nodes
	StepStarted  EventKind = "step_started"  // Node, Description, Visit, Attempt
	Detail       EventKind = "detail"        // Node, Description, Visit, Attempt, Text
	Token        EventKind = "token"         // Node, Description, Visit, Attempt, Text
	StepRetried  EventKind = "step_retried"  // Node, Description, Visit, Attempt (the failed one), Duration (until the next), Err
	StepFinished EventKind = "step_finished" // Node, Description, Visit, Attempt, Duration, Fields, Err
	// QuestionAsked: Node, Description, Visit, Attempt, Duration, Question. The node
	// finishes after it was run again with the answer.
	QuestionAsked EventKind = "question_asked"
	RunFinished   EventKind = "run_finished" // Status or Err: Start or Resume returns
)

// Event is something that happened in a run. The events of a run come one at a time
// and in order; after a crash, those since the last checkpoint come again.
type Event struct {
	Seq         int64 // from 1, without gaps; goes on after a Resume where the last checkpoint was
	Kind        EventKind
	Run         string
	At          time.Time
	Node        string // path: "outer/inner" inside a nested graph
	Description string // the node's, for people
	Visit       int
	Attempt     int
	Text        string
	Duration    time.Duration
	Fields      []string // the state fields that the node changed, in order
	Question    *Question
	Status      Status
	Err         error
}
